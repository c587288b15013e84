"""Whatever is wrong with an argument, the error says which function did not like it."""

import inspect
import sys
import warnings

import horngate as K
import pytest
from cases import harness, inputs

# The first case of each function: arguments that are right.
FIRST = {}
for _, _case in harness.all_cases():
    _name = harness.name_of(_case.function)
    if _name in K.__all__ and inputs.leaves(_case.inputs):
        FIRST.setdefault(_name, _case)

WRONG = {
    "None": lambda: None,
    "text": lambda: "abc",
    "object": object,
    "list of text": lambda: ["a", "b"],
}
# They say it under the name of what they are today.
NAMES = {
    "asymmetric_temporal_padding": "temporal_padding",
    "deconv2d": ("conv2d_transpose", "permute_dimensions"),
    "lesser": "less",
    "lesser_equal": "less_equal",
    "normalize_batch": "batch_normalization",
}
# None may stand where a tensor may be left out, and this is where it is.
MAY_BE_NONE = {("normalize_batch_in_training", 1), ("normalize_batch_in_training", 2)}
MAY_BE_NONE |= {(n, i) for n in ("batch_normalization", "normalize_batch") for i in (3, 4)}
# Sparse matrices are welcome.
TAKES_SPARSE = {"dot", "concatenate", "identity", "shape", "size", "transpose"}


@pytest.fixture(autouse=True)
def without_keras(monkeypatch):
    """With Keras in the process, its own setters check the settings."""
    monkeypatch.delitem(sys.modules, "keras.backend.common", raising=False)


def tensors_of(case):
    specs = inputs.leaves(case.inputs)
    return [K.placeholder(x.shape, dtype=x.dtype_in(case.dtypes[0])) for x in specs]


def names_of(name):
    """How the text may begin."""
    today = NAMES.get(name, ())
    return tuple(f"{n}: " for n in (name, *([today] if isinstance(today, str) else today)))


def call(name, position, thing, **more):
    case = FIRST[name]
    tensors = tensors_of(case)
    tensors[position] = thing
    arguments = inputs.fill(case.inputs, iter(tensors))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return case.function(*arguments, **{**case.options, **more})


POSITIONS = [
    (name, position)
    for name, case in sorted(FIRST.items())
    for position in range(len(inputs.leaves(case.inputs)))
]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name, position", POSITIONS)
def test_what_is_no_tensor(name, position, wrong):
    if wrong == "None" and (name, position) in MAY_BE_NONE:
        call(name, position, None)
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        call(name, position, WRONG[wrong]())
    text = str(caught.value)
    assert text.startswith(names_of(name)), text
    assert text.endswith("."), text


@pytest.mark.parametrize("name, position", POSITIONS)
def test_a_sparse_tensor(name, position):
    if name in TAKES_SPARSE:
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        call(name, position, K.placeholder((3, 4), sparse=True))
    text = str(caught.value)
    assert text.startswith(names_of(name)), text


@pytest.mark.parametrize("name", sorted(FIRST))
def test_an_unknown_keyword(name):
    first = tensors_of(FIRST[name])[0]
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'nope'"):
        call(name, 0, first, nope=1)


# Every argument of these names refuses this value with this text.
FORMATS = '"channels_last" or "channels_first"; got "channels_middle".'
REFUSED = {
    "data_format": ("channels_middle", "data_format must be " + FORMATS),
    "padding": ("full", 'padding must be "valid"'),
    "pool_mode": ("median", 'pool_mode must be "max" or "avg"; got "median".'),
    "interpolation": ("cubic", 'interpolation must be "nearest" or "bilinear"; got "cubic".'),
    "axis": (77, "axis must be in ["),
    "dtype": ("float99", "dtype must be one of float16, bfloat16, float32, float64, int8"),
}


def refusals():
    for name, case in sorted(FIRST.items()):
        for argument, parameter in inspect.signature(case.function).parameters.items():
            is_pair = argument == "padding" and isinstance(parameter.default, tuple)
            if argument in REFUSED and not is_pair and name not in NAMES:
                yield name, argument


@pytest.mark.parametrize("name, argument", list(refusals()))
def test_a_value_that_is_refused(name, argument):
    value, text = REFUSED[argument]
    with pytest.raises((TypeError, ValueError)) as caught:
        call(name, 0, tensors_of(FIRST[name])[0], **{argument: value})
    assert str(caught.value).startswith(f"{name}: {text}")


WINDOWS = [
    n for n in sorted(FIRST) if "conv" in n or "pool" in n or "resize" in n or "padding" in n
]


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("change", [-1, 1])
def test_an_input_of_another_rank(name, change):
    shape = inputs.leaves(FIRST[name].inputs)[0].shape
    shape = shape[:change] if change < 0 else (*shape, 2)
    with pytest.raises(ValueError) as caught:
        call(name, 0, K.placeholder(shape))
    assert str(caught.value).startswith(names_of(name))
    assert "must have" in str(caught.value) and "dimensions" in str(caught.value)


X, V = K.placeholder((2, 3)), K.zeros((2,))


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("constant: shape (3,) has 3 elements but value has 2.", lambda: K.constant([1, 2], shape=(3,))),
        ("get_value: x must be a variable or a tensor; got NoneType.", lambda: K.get_value(None)),
        ("batch_get_value: ops must be a list of variables; got Variable.", lambda: K.batch_get_value(V)),
        ("batch_set_value: tuples must be pairs (variable, value); got int.", lambda: K.batch_set_value(3)),
        ("batch_set_value: tuples must be pairs (variable, value); got int.", lambda: K.batch_set_value([3])),
        ("gradients: variables must be a tensor or a list of tensors; got int.", lambda: K.gradients(K.sum(X), 3)),
        ("name_scope: name must be a string; got int.", lambda: K.name_scope(3)),
        ("control_dependencies: control_inputs must be a list of tensors; got int.", lambda: K.control_dependencies(3)),
        ("get_uid: prefix must be a string; got int.", lambda: K.get_uid(3)),
        ("map_fn: fn must be callable; got NoneType.", lambda: K.map_fn(None, X)),
        ("foldl: fn must be callable; got NoneType.", lambda: K.foldl(None, X)),
        ("foldr: fn must be callable; got NoneType.", lambda: K.foldr(None, X)),
        ("rnn: step_function must be callable; got NoneType.", lambda: K.rnn(None, K.placeholder((2, 3, 4)), [])),
        ("eye: size must be at least 0; got (-1, -1).", lambda: K.eye(-1)),
        ("eye: size must be an integer; got 'a'.", lambda: K.eye("a")),
        ("placeholder: ndim must be at least 0; got -1.", lambda: K.placeholder(ndim=-1)),
        ("placeholder: a sparse placeholder has two dimensions; got shape (2, 3, 4).", lambda: K.placeholder((2, 3, 4), sparse=True)),
        ("set_value: variable \"", lambda: K.set_value(V, [1, 2, 3])),
        ("set_value: x must be a variable; got <K.Tensor", lambda: K.set_value(X, 1)),
        ("update: x must be a variable; got <K.Tensor", lambda: K.update(X, X)),
        ("update_add: x must be a variable; got <K.Tensor", lambda: K.update_add(X, X)),
        ("update_sub: x must be a variable; got <K.Tensor", lambda: K.update_sub(X, X)),
        ("update: the variable has shape (2,) but the value has (3,).", lambda: K.update(V, K.zeros((3,)))),
        ("moving_average_update: x must be a variable; got <K.Tensor", lambda: K.moving_average_update(X, X, 0.9)),
        ("moving_average_update: the variable has shape (2,) but the value has (3,).", lambda: K.moving_average_update(V, K.zeros((3,)), 0.9)),
        ("set_epsilon: e must be a number; got 'a'.", lambda: K.set_epsilon("a")),
        ("set_learning_phase: value must be 0 or 1; got 2.", lambda: K.set_learning_phase(2)),
        ('set_image_data_format: data_format must be "channels_last" or "channels_first"; got "th".', lambda: K.set_image_data_format("th")),
        ("arange: start, stop and step must be finite, and step not 0; got 0, 10 and 0.", lambda: K.arange(0, 10, 0)),
        ("sum: axis must be an integer; got 'a'.", lambda: K.sum(X, axis="a")),
        ("function: it takes no argument 'nope'; see its documentation.", lambda: K.function([X], [X], nope=3)),
    ],
)  # fmt: skip
def test_text(text, wrong):
    with pytest.raises((TypeError, ValueError)) as caught:
        wrong()
    assert str(caught.value).startswith(text)
