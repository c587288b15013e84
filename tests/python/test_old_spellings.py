"""Calls written for older Keras versions give what they gave, and say how to write them today."""

import ast
import inspect
import pathlib
import warnings

import horngate as K
import numpy as np
import pytest
import yaml
from functions_catalogue import FUNCTIONS

RANDOM = np.random.RandomState(0)


def rand(*shape):
    return RANDOM.rand(*shape).astype("float32")


LAST_2D, FIRST_2D = rand(2, 5, 6, 3), rand(2, 3, 5, 6)
LAST_3D, FIRST_3D = rand(2, 4, 5, 6, 3), rand(2, 3, 4, 5, 6)
STEPS = rand(2, 7, 3)
KERNEL_1D = rand(3, 3, 4)
KERNEL_2D = rand(2, 3, 3, 4)  # (rows, cols, in, out)
KERNEL_3D = rand(2, 3, 2, 3, 4)
OLD_2D = np.transpose(KERNEL_2D, (3, 2, 0, 1))  # (out, in, rows, cols)
OLD_3D = np.transpose(KERNEL_3D, (4, 3, 0, 1, 2))
BACK_2D = np.transpose(KERNEL_2D, (0, 1, 3, 2))  # (rows, cols, out, in)
Y_PRED = RANDOM.dirichlet(np.ones(4), (2, 6)).astype("float32")
KERNEL = ", and a kernel (out, in, ..) is now (.., in, out)"
PAGE = yaml.safe_load((pathlib.Path(__file__).parent / "old_calls.yaml").read_text())
CALLS = [(call["then"], call["today"], call["said"]) for call in PAGE["calls"]]
NAMES = [(call["then"], call["today"], call["name"]) for call in PAGE["names"]]


def values_of(result):
    """Results as arrays; names and shapes of placeholders."""
    if isinstance(result, (list, tuple)):
        return [values_of(part) for part in result]
    if not K.is_tensor(result):
        return result
    if K.is_placeholder(result):
        return [K.int_shape(result), K.dtype(result), result.name.rpartition("_")[0] or result.name]
    return K.eval(result)


def heard(call):
    """The values of a call, the texts of its warnings; they point to this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        K.clear_session()
        result = values_of(eval(compile(call, __file__, "eval")))
    for one in caught:
        assert one.category is DeprecationWarning
        assert one.filename == __file__, "the warning points to the call"
    return result, [str(one.message) for one in caught]


def check_same(got, wanted):
    if isinstance(wanted, list):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted):
            check_same(a, b)
    elif isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(got, wanted)
    else:
        assert got == wanted


@pytest.mark.parametrize("then, today, said", CALLS)
def test_call(then, today, said):
    got, texts = heard(then)
    wanted, none = heard(today)
    check_same(got, wanted)
    function = then[2 : then.index("(")]
    assert sorted(texts) == sorted(f"{function}: {text}." for text in said) and none == []


@pytest.mark.parametrize("then, today, new", NAMES)
def test_old_name(then, today, new):
    got, texts = heard(then)
    K.set_image_data_format("channels_last")
    old = then[2 : then.index("(")]
    assert texts == [f"{old} is a name of older Keras versions; write {new}."]
    check_same(got, heard(today)[0])


def test_kernel_of_the_setting():
    """Without dim_ordering a call of Keras 1 had the ordering of the setting, kernel and all."""
    K.set_image_data_format("channels_first")
    got, texts = heard("K.conv2d(FIRST_2D, OLD_2D, border_mode='same')")
    assert texts == [f"conv2d: border_mode is now called padding{KERNEL}."]
    check_same(got, heard("K.conv2d(FIRST_2D, KERNEL_2D, padding='same')")[0])


@pytest.mark.parametrize(
    "name", ["categorical_crossentropy", "binary_crossentropy", "sparse_categorical_crossentropy"]
)
def test_crossentropies_by_keyword(name):
    """(target, output), and keywords in any order."""
    output = K.softmax(K.constant([[0.1, 0.6, 0.3]]))
    target = K.constant([2] if name.startswith("sparse") else [[0, 0.25, 0.75]])
    function = getattr(K, name)
    first = K.eval(function(target, output))
    np.testing.assert_array_equal(K.eval(function(output=output, target=target)), first)
    np.testing.assert_array_equal(
        K.eval(function(output=output, target=target, from_logits=False)), first
    )


def test_updates_as_pairs():
    """Keras writes them to this day."""
    v = K.variable(2.0)
    K.function([], [], updates=[(v, v * 3)])([])
    assert K.get_value(v) == 6


def test_dictionary():
    """The entry of the highest probability, by adding up all paths."""
    words, lengths = [[0, 1], [2], [1, 1, 0]], [2, 1, 3]
    y_pred = RANDOM.dirichlet(np.ones(4), (3, 6)).astype("float32")
    steps = np.array([6, 5, 6], "int32")
    ([found], score), texts = heard(
        "K.ctc_decode(Y, S, False, None, L, W)".replace("Y", repr_of(y_pred))
        .replace("S", repr_of(steps))
        .replace("L", repr(lengths))
        .replace("W", repr(words))
    )
    assert len(texts) == 3
    for sample in range(3):
        costs = [cost_by_paths(y_pred[sample, : steps[sample]], word) for word in words]
        best = int(np.argmin(costs))
        assert [n for n in found[sample] if n >= 0] == words[best]
        np.testing.assert_allclose(score[sample, 0], -costs[best], rtol=1e-5)
    with pytest.raises(ValueError, match="ctc_decode: dict_seq_lens must have a length for each"):
        with pytest.deprecated_call():
            K.ctc_decode(y_pred, steps, False, None, [1], words)


def repr_of(array):
    return f"np.array({array.tolist()!r}, {array.dtype.name!r})"


def cost_by_paths(probabilities, word):
    """-log of the probability of all paths that read as word; the blank is the last category."""
    steps, categories = probabilities.shape
    total = 0.0
    for path in np.ndindex(*[categories] * steps):
        merged = [c for i, c in enumerate(path) if i == 0 or path[i - 1] != c]
        if [c for c in merged if c != categories - 1] == word:
            total += np.prod([probabilities[t, c] + 1e-7 for t, c in enumerate(path)])
    return -np.log(total / np.prod((probabilities + 1e-7).sum(-1)))


@pytest.mark.parametrize(
    "call, kind, text",
    [
        ("K.conv2d(LAST_2D, KERNEL_2D, padding='same', border_mode='same')", TypeError,
         "conv2d: border_mode is now called padding, and was given twice."),
        ("K.conv2d(LAST_2D, KERNEL_2D, dim_ordering='channels_last')", ValueError,
         'conv2d: dim_ordering must be "tf" or "th"; got \'channels_last\'.'),
        ("K.pool2d(LAST_2D, (2, 2), dim_ordering=None)", ValueError,
         'pool2d: dim_ordering must be "tf" or "th"; got None.'),
        ("K.dropout(STEPS, 0.5, 3, 4)", TypeError, "dropout: seed was given twice."),
        ("K.set_image_dim_ordering('channels_last')", ValueError,
         'set_image_dim_ordering: dim_ordering must be "tf" or "th"; got \'channels_last\'.'),
        ("K.expand_dims(STEPS, demi=1)", TypeError,
         "expand_dims() got an unexpected keyword argument 'demi'"),
        ("K.one_hot(np.array([1]))", TypeError,
         "one_hot() missing 1 required positional argument: 'num_classes'"),
        ("K.conv2d(LAST_2D)", TypeError,
         "conv2d() missing 1 required positional argument: 'kernel'"),
        ("K.conv2d(FIRST_2D, K.constant([1.0]), dim_ordering='th')", ValueError,
         "conv2d: kernel must have 4 dimensions (rows, cols, in, out); got shape (1,)."),
        ("K.zeros_like(STEPS, 'float31')", (TypeError, ValueError), "zeros_like: dtype"),
    ],
)  # fmt: skip
def test_error(call, kind, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kind) as caught:
            eval(call)
    assert str(caught.value).startswith(text)


SLIPS = ("argument left out on that page", "by mistake")


def old_keywords():
    """(function, keyword) of the catalogue that the standing signature lacks."""
    for entry in FUNCTIONS.values():
        if entry.get("status") or entry.get("alias_of"):
            continue  # an old name as a whole: test_old_name
        for legacy in entry["legacy"]:
            if any(slip in legacy.get("note", "") for slip in SLIPS):
                continue
            tree = ast.parse(f"def {legacy['spelling']}: pass").body[0]
            if tree.name != entry["name"]:
                continue
            standing = inspect.signature(getattr(K, entry["name"])).parameters
            for argument in tree.args.args:
                if argument.arg not in standing:
                    yield entry["name"], argument.arg


@pytest.mark.parametrize("name, keyword", sorted(set(old_keywords())))
def test_every_old_keyword_is_called_above(name, keyword):
    assert any(c[0].startswith(f"K.{name}(") and f"{keyword}=" in c[0] for c in CALLS)


def test_every_old_name_is_called_above():
    old = {n for n, entry in FUNCTIONS.items() if entry.get("status") or entry.get("alias_of")}
    assert old == {call[2 : call.index("(")] for call, _, _ in NAMES}
    for entry in FUNCTIONS.values():
        for legacy in entry["legacy"]:
            name = legacy["spelling"].partition("(")[0]
            assert name in K.__all__, name


def test_every_old_order_is_called_above():
    """An argument has another place; crossentropies apart, where it cannot be seen."""
    moved = set()
    for entry in FUNCTIONS.values():
        for legacy in entry["legacy"]:
            tree = ast.parse(f"def {legacy['spelling']}: pass").body[0]
            if tree.name != entry["name"] or "crossentropy" in tree.name or entry.get("status"):
                continue
            standing = list(inspect.signature(getattr(K, tree.name)).parameters)
            for place, argument in enumerate(tree.args.args):
                if argument.arg in standing and standing.index(argument.arg) != place:
                    moved.add(tree.name)
    assert moved == {"batch_normalization", "dropout", "ones_like", "placeholder", "zeros_like"}
    assert moved <= {call[2 : call.index("(")] for call, *_ in CALLS}


def test_signatures_are_those_of_today():
    assert list(inspect.signature(K.conv2d).parameters)[-1] == "dilation_rate"
    assert K.conv2d.__name__ == "conv2d" and K.conv2d.__doc__.startswith("Convolves")
