"""Tensors and variables as Python objects: attributes, operators, indexing, copies."""

import copy
import gc
import pickle
import weakref

import horngate as K
import numpy as np
import pytest
from horngate import _horngate


def value_of(x, *feeds):
    """The value of x, fed with pairs (placeholder, value)."""
    inputs = [p for p, _ in feeds]
    return K.function(inputs, [x])([v for _, v in feeds])[0]


@pytest.fixture
def x():
    return K.constant([[1.0, 2.0], [3.0, 4.0]])


X = np.array([[1, 2], [3, 4]], "float32")


def test_attributes():
    p = K.placeholder((None, 10), name="data")
    assert p.name == "data"
    assert p.dtype == "float32" and isinstance(p.dtype, str)
    assert p.shape == (None, 10) and isinstance(p.shape, tuple)
    assert p.ndim == 2
    assert p.get_shape().as_list() == [None, 10]
    assert repr(p) == '<K.Tensor "data" shape=(None, 10) dtype=float32>'
    with pytest.raises(AttributeError):
        p.shape = (1, 2)


def test_variable_text():
    v = K.variable([1, 2], dtype="float64", name="example_var")
    assert str(v) == "example_var"
    assert repr(v) == '<K.Variable "example_var" shape=(2,) dtype=float64>'
    assert v.trainable is True and v.constraint is None
    v.trainable = False
    assert v.trainable is False and K.variable(0).trainable is True


def test_any_attribute_can_be_set(x):
    x._keras_history = ("layer", 0, 0)
    x.anything = 3
    assert x._keras_history[0] == "layer" and x.anything == 3
    assert "anything" in x.__dict__
    del x.anything
    assert not hasattr(x, "anything")
    assert weakref.ref(x)() is x


def test_keras_shape_is_what_was_declared():
    """As with TensorFlow: int_shape says what a layer declared, also where the graph knows better."""
    p = K.placeholder((None, 10))
    assert p._keras_shape == (None, 10)
    p._keras_shape = (7, 99)
    assert p._keras_shape == (7, 99)
    assert p.shape == (None, 10) and K.int_shape(p) == (7, 99)
    p._keras_shape = [np.int64(5), None]
    assert p._keras_shape == (5, 10) and type(p._keras_shape[0]) is int
    p._keras_shape = (1, 2, 3)  # of another rank
    assert p._keras_shape == (1, 2, 3) and K.ndim(p) == 2
    p._keras_shape = None
    assert p._keras_shape == (None, 10)


def test_uses_learning_phase():
    p = K.placeholder((2,))
    assert p._uses_learning_phase is False
    y = K.in_train_phase(p * 2, p)
    assert y._uses_learning_phase is True
    assert (y + 1)._uses_learning_phase is True
    y._uses_learning_phase = False
    assert y._uses_learning_phase is False
    p._uses_learning_phase = 1
    assert p._uses_learning_phase is True


OPERATORS = [
    ("add", lambda a, b: a + b),
    ("sub", lambda a, b: a - b),
    ("mul", lambda a, b: a * b),
    ("div", lambda a, b: a / b),
    ("floordiv", lambda a, b: a // b),
    ("mod", lambda a, b: a % b),
    ("pow", lambda a, b: a**b),
    ("lt", lambda a, b: a < b),
    ("le", lambda a, b: a <= b),
    ("gt", lambda a, b: a > b),
    ("ge", lambda a, b: a >= b),
]
OTHERS = [
    2,
    2.5,
    np.float32(2),
    np.float64(1.5),
    np.int64(3),
    np.array(2.0),
    X[0],
    X,
    np.array([[2], [3]]),
]


@pytest.mark.parametrize("name,op", OPERATORS, ids=[n for n, _ in OPERATORS])
@pytest.mark.parametrize(
    "other", OTHERS, ids=[f"{type(o).__name__}{i}" for i, o in enumerate(OTHERS)]
)
def test_operators_with_numbers_and_arrays(x, name, op, other):
    for ours, theirs in ((op(x, other), op(X, other)), (op(other, x), op(other, X))):
        assert K.is_tensor(ours)
        got = K.eval(ours)
        np.testing.assert_allclose(got, theirs, rtol=1e-6)
        # Whatever stands beside a float32 tensor takes its dtype.
        assert got.dtype == ("bool" if name in ("lt", "le", "gt", "ge") else "float32")


def test_operators_of_two_tensors(x):
    for _, op in OPERATORS:
        np.testing.assert_allclose(K.eval(op(x, x + 1)), op(X, X + 1), rtol=1e-6)


def test_matmul(x):
    np.testing.assert_allclose(K.eval(x @ x), X @ X)
    np.testing.assert_allclose(K.eval(x @ X), X @ X)
    a, b = np.random.rand(5, 2, 3), np.random.rand(5, 3, 4)
    ours = K.variable(a, dtype="float64") @ K.variable(b, dtype="float64")
    np.testing.assert_allclose(K.eval(ours), a @ b)
    with pytest.raises(ValueError, match="K.batch_dot"):
        K.zeros((2, 2, 2, 2)) @ K.zeros((2, 2, 2, 2))


def test_unary_operators(x):
    np.testing.assert_allclose(K.eval(-x), -X)
    np.testing.assert_allclose(K.eval(abs(-x)), X)


def test_sum_begins_with_zero(x):
    np.testing.assert_allclose(K.eval(sum([x, x, x])), 3 * X)


def test_in_place_operators_make_new_tensors():
    v = K.variable([1.0])
    before = v
    v += 1
    assert v is not before and not K.is_variable(v)
    assert K.get_value(before) == [1.0]


def test_numbers_are_weakly_typed():
    i = K.constant([1, 2], dtype="int32")
    assert (i + 1).dtype == "int32"
    assert (i + 1.5).dtype == "float32"
    h = K.constant([1, 2], dtype="float16")
    assert (h * 1.5).dtype == "float16"
    assert (h * np.float64(1.5)).dtype == "float16"
    assert (h * np.array([1.5, 2.5])).dtype == "float16"
    assert (i + np.array([1, 2])).dtype == "int32"
    assert (i / 2).dtype == "float32"
    assert (K.constant([True, False], dtype="bool") * 2.0).dtype == "float32"
    np.testing.assert_array_equal(K.eval(i + (1 << 40)), np.array([1, 2]) + (1 << 40))
    big = (1 << 60) + 1
    np.testing.assert_array_equal(K.eval(K.constant([0], dtype="int64") + big), [big])


def test_lists_stand_for_tensors(x):
    np.testing.assert_allclose(K.eval(x + [10, 20]), X + [10, 20])
    np.testing.assert_allclose(K.eval([10, 20] - x), [10, 20] - X)
    np.testing.assert_array_equal(K.eval(K.prod([K.shape(x)[0], K.shape(x)[1], 5])), 20)
    np.testing.assert_allclose(K.eval(K.sum([x, [[1, 1], [1, 1]]], axis=0)), X + 1)


def test_strange_operands_are_left_to_the_other_side(x):
    class Other:
        def __radd__(self, left):
            return "mine"

    assert x + Other() == "mine"
    for strange in ("text", None, object(), {}):
        with pytest.raises(TypeError):
            x + strange


def test_comparison_is_identity(x):
    y = K.constant([[1.0, 2.0], [3.0, 4.0]])
    assert x == x and not (x == y) and x != y and not (x != x)
    assert x in [y, x] and x not in [y]
    assert {x: 1, y: 2}[x] == 1
    assert not (x == X) and not (X[0] == x) and x != 3


def test_no_truth_no_length_no_iteration(x):
    with pytest.raises(TypeError, match="K.switch"):
        bool(x)
    assert not hasattr(x, "__len__")  # keras-rl tells lists of tensors by it
    with pytest.raises(TypeError):
        len(x)
    with pytest.raises(TypeError, match="K.map_fn"):
        list(x)
    with pytest.raises(TypeError):
        a, b = x
    with pytest.raises(TypeError, match="K.eval"):
        np.asarray(x)


INDICES = [
    0,
    -1,
    np.int64(1),
    slice(None),
    slice(1, None),
    slice(None, -1),
    slice(None, None, -1),
    slice(0, 3, 2),
    Ellipsis,
    None,
    (slice(None), 1),
    (0, slice(1, None)),
    (Ellipsis, 0),
    (Ellipsis, slice(None, None, -1)),
    (None, Ellipsis, None),
    (slice(None), slice(1, -1), Ellipsis),
    (2, 1, 3),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing(index):
    a = np.arange(3 * 4 * 5, dtype="float32").reshape(3, 4, 5)
    got = K.constant(a)[index]
    np.testing.assert_array_equal(K.eval(got), a[index])
    assert got.shape == a[index].shape
    p = K.placeholder((None, None, 5))
    np.testing.assert_array_equal(value_of(p[index], (p, a)), a[index])


def test_indexing_by_tensors_and_lists():
    a = np.arange(12, dtype="float32").reshape(3, 4)
    x = K.constant(a)
    i = K.argmin(K.constant([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(K.eval(x[i]), a[1])
    np.testing.assert_array_equal(K.eval(x[1 : K.constant(3, dtype="int32")]), a[1:3])
    np.testing.assert_array_equal(K.eval(x[[2, 0]]), a[[2, 0]])
    np.testing.assert_array_equal(K.eval(x[np.array([2, 0])]), a[[2, 0]])
    np.testing.assert_array_equal(K.eval(x[[slice(None), slice(1, 3)]]), a[:, 1:3])
    np.testing.assert_array_equal(K.eval(K.shape(x)[0]), 3)


def test_wrong_indices(x):
    with pytest.raises(IndexError):
        x[2]
    with pytest.raises(IndexError):
        x[0, 0, 0]
    with pytest.raises(TypeError):
        x["name"]
    with pytest.raises(TypeError):
        x[1.5]


def test_copies(x):
    assert copy.copy(x) is x and copy.deepcopy(x) is x
    v = K.variable([1, 2], dtype="float64", name="weights", constraint=abs)
    assert copy.copy(v) is v
    w = copy.deepcopy(v)
    assert w is not v and K.is_variable(w) and w.dtype == "float64" and w.constraint is abs
    K.set_value(v, [3, 4])
    np.testing.assert_array_equal(K.get_value(w), [1, 2])
    pair = copy.deepcopy([v, v])
    assert pair[0] is pair[1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "bool"])
def test_pickle(x, dtype):
    v = K.variable([0, 1, 2], dtype=dtype, name="v")
    w = pickle.loads(pickle.dumps(v))
    assert w.dtype == dtype
    np.testing.assert_array_equal(K.get_value(w), K.get_value(v))
    with pytest.raises(TypeError, match="part of a graph"):
        pickle.dumps(x)


def test_types_cannot_be_made_or_inherited():
    for kind in (type(K.constant(1.0)), type(K.variable(1.0))):
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})


def test_is_variable_takes_anything():
    class Raises:
        def __getattribute__(self, name):
            raise RuntimeError(name)

    for thing in (None, 1, "s", {1}, Raises(), np.zeros(3), object, K.constant(1.0)):
        assert K.is_variable(thing) is False
    for thing in (None, 1, "s", {1}, Raises(), np.zeros(3), object):
        assert K.is_tensor(thing) is False
        assert K.is_placeholder(thing) is False
    with pytest.raises(ValueError):
        K.is_keras_tensor(np.zeros(3))


def test_eval_method():
    p = K.placeholder((2,))
    np.testing.assert_array_equal((p + 1).eval({p: [1, 2]}), [2, 3])
    np.testing.assert_array_equal(K.shape(p).eval(session=None), [2])


def test_names_are_unique_in_their_scope():
    a, b = K.variable(0, name="kernel"), K.variable(0, name="kernel")
    assert a.name == "kernel" and b.name == "kernel_1"
    with K.name_scope("dense") as scope:
        assert scope == "dense/"
        c = K.variable(0, name="kernel")
        n = K.size(c, name=scope)
    assert c.name == "dense/kernel" and n.name.startswith("dense/")
    K.clear_session()
    assert K.variable(0, name="kernel").name == "kernel"


def test_name_scope_closes_after_an_error():
    with pytest.raises(KeyError):
        with K.name_scope("a"):
            raise KeyError
    assert K.variable(0, name="v").name == "v"


def test_cycles_are_collected():
    def make():
        v = K.variable(np.zeros(3))
        y = v * 2
        y._keras_history = ([y, v],)
        return weakref.ref(y)

    gc.collect()
    before = _horngate.live_node_count()
    ref = make()
    gc.collect()
    assert ref() is None
    assert _horngate.live_node_count() == before


def test_keras_attributes_in_a_step_of_rnn():
    """There they exist only where they were assigned or say something, as Keras expects."""
    seen = []

    def step(x, states):
        y = x + 1
        seen.append((hasattr(y, "_keras_shape"), hasattr(y, "_uses_learning_phase")))
        noisy = K.in_train_phase(y, x)
        seen.append((hasattr(noisy, "_keras_shape"), noisy._uses_learning_phase))
        y._uses_learning_phase = False
        seen.append((y._keras_shape is not None, y._uses_learning_phase))
        return noisy, [noisy]

    last, outputs, _ = K.rnn(step, K.placeholder((2, 3, 4)), [K.zeros((2, 4))])
    assert seen == [(False, False), (True, True), (True, False)] * 2
    assert last._uses_learning_phase and outputs._uses_learning_phase
    assert last._keras_shape == (2, 4)
