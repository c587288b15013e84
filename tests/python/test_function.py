"""K.function: feeds, outputs, updates, the learning phase, errors."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import horngate as K
import numpy as np
import pytest
import scipy.sparse

DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64", "bool"]


def test_list_in_list_out():
    x = K.placeholder((None, 2))
    f = K.function([x], [x + 1, K.sum(x)])
    out = f([np.ones((3, 2))])
    assert isinstance(out, list) and len(out) == 2
    np.testing.assert_array_equal(out[0], np.full((3, 2), 2))
    assert out[1].shape == () and out[1] == 6
    assert isinstance(f((np.ones((1, 2)),)), list)


def test_no_inputs_and_no_outputs():
    v = K.variable(1.0)
    assert K.function([], [v * 2])([])[0] == 2
    assert K.function([], [v * 2])()[0] == 2
    assert K.function([], [])([]) == []


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_in_and_out(dtype):
    x = K.placeholder((3,), dtype=dtype)
    a = np.array([0, 1, 2]).astype(dtype)
    [same] = K.function([x], [K.identity(x)])([a])
    assert same.dtype == dtype
    np.testing.assert_array_equal(same, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_feeds_are_cast(dtype):
    x = K.placeholder((3,), dtype="float32")
    [y] = K.function([x], [x + 0.5])([np.array([0, 1, 1], dtype=dtype)])
    assert y.dtype == "float32"
    np.testing.assert_array_equal(y, [0.5, 1.5, 1.5])


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]], ">f8"),
        np.array([[1, 3], [2, 4]], "float32").T,
        np.arange(1, 9, dtype="float32")[::2].reshape(2, 2) / 2 + 0.5,
        np.array([[4, 3], [2, 1]], "float32")[::-1, ::-1],
        np.array([[1, 2], [3, 4]], dtype=object),
        np.matrix([[1, 2], [3, 4]]),
        [np.array([1, 2]), [3, 4]],
    ],
    ids=lambda v: type(v).__name__,
)
def test_feeds_of_every_kind(value):
    x = K.placeholder((2, 2))
    np.testing.assert_array_equal(K.function([x], [x * 1])([value])[0], [[1, 2], [3, 4]])


def test_numbers_as_feeds():
    x = K.placeholder(())
    f = K.function([x], [x * 2])
    for value in (3, 3.0, np.float64(3), np.int32(3), np.array(3), np.array([9, 3, 9])[1]):
        assert f([value])[0] == 6


def test_bfloat16_comes_as_ml_dtypes_or_bits():
    x = K.placeholder((2,), dtype="bfloat16")
    f = K.function([x], [x * 2])
    [y] = f([[1.0, -2.5]])
    try:
        import ml_dtypes  # noqa: F401

        assert y.dtype.name == "bfloat16"
        np.testing.assert_array_equal(y.astype("float32"), [2, -5])
    except ImportError:
        assert y.dtype == "uint16"
        np.testing.assert_array_equal(y, [0x4000, 0xC0A0])
    np.testing.assert_array_equal(f([f([[1.0, -2.5]])[0]])[0], f([[2.0, -5.0]])[0])


def test_any_tensor_can_be_fed():
    x = K.placeholder((2,))
    h = x * 2
    y = h + 1
    np.testing.assert_array_equal(K.function([h], [y])([[10, 20]])[0], [11, 21])
    v = K.variable([1, 2])
    np.testing.assert_array_equal(K.function([v], [v * 3])([[5, 5]])[0], [15, 15])
    np.testing.assert_array_equal(K.get_value(v), [1, 2])


def test_none_among_inputs():
    x = K.placeholder((2,))
    f = K.function([None, x], [x + 1])
    np.testing.assert_array_equal(f([None, [1, 2]])[0], [2, 3])
    np.testing.assert_array_equal(f(["ignored", [1, 2]])[0], [2, 3])


def test_none_as_value():
    x, unused = K.placeholder((2,)), K.placeholder((3,))
    v = K.variable([5, 6])
    f = K.function([x, unused, v], [x + v])
    np.testing.assert_array_equal(f([[1, 2], [0, 0, 0], [0, 0]])[0], [1, 2])
    np.testing.assert_array_equal(f([[1, 2], None, None])[0], [6, 8])
    np.testing.assert_array_equal(f([[1, 2], None, [1, 1]])[0], [2, 3])
    with pytest.raises(ValueError, match="placeholder"):
        f([None, None, None])


@pytest.mark.parametrize(
    "one", [1, True, 1.0, [1], np.array(1), np.array([1]), np.bool_(True), np.float32(1)]
)
def test_learning_phase_is_fed(one):
    x = K.placeholder((2,))
    f = K.function([x, K.learning_phase()], [K.in_train_phase(x + 10, x)])
    np.testing.assert_array_equal(f([[1, 2], one])[0], [11, 12])
    zero = (
        type(one)([0])
        if isinstance(one, list)
        else np.zeros_like(one)
        if isinstance(one, np.ndarray)
        else type(one)(0)
    )
    np.testing.assert_array_equal(f([[1, 2], zero])[0], [1, 2])


def test_learning_phase_is_0_when_not_fed():
    x = K.placeholder((2,))
    y = K.in_train_phase(lambda: x + 10, lambda: x)
    np.testing.assert_array_equal(K.function([x], [y])([[1, 2]])[0], [1, 2])
    np.testing.assert_array_equal(
        K.function([x, K.learning_phase()], [y])([[1, 2], None])[0], [1, 2]
    )


def test_fixed_learning_phase():
    K.set_learning_phase(1)
    assert K.learning_phase() == 1 and isinstance(K.learning_phase(), int)
    x = K.placeholder((2,))
    f = K.function([x, K.learning_phase()], [K.in_train_phase(x + 10, x)])
    np.testing.assert_array_equal(f([[1, 2], 0])[0], [11, 12])
    with pytest.raises(ValueError):
        K.set_learning_phase(2)


def test_updates_of_every_form():
    x = K.placeholder(())
    a, b, c, d = (K.variable(1.0) for _ in range(4))
    f = K.function(
        [x], [a * 1], updates=[K.update(a, x), K.update_add(b, x), (c, x * 2), [d, d - 1]]
    )
    assert f([5])[0] == 1  # outputs are computed from the values before
    assert [float(v) for v in K.batch_get_value([a, b, c, d])] == [5, 6, 10, 0]


def test_an_update_is_a_tensor():
    v = K.variable(1.0)
    assert K.eval(K.update_add(v, 2)) == 3 and K.get_value(v) == 3
    assert K.function([], [K.update(v, np.array(7))])([])[0] == 7
    assert K.get_value(v) == 7


def test_two_updates_of_one_variable():
    v = K.variable(1.0)
    K.function([], [], updates=[K.update_add(v, 2), K.update_add(v, 3)])([])
    assert K.get_value(v) == 6


def test_control_dependencies():
    total = K.variable(0.0)
    with K.control_dependencies([K.update_add(total, 100)]):
        after = K.identity(total)
    assert K.eval(after) == 100 and K.get_value(total) == 100
    with K.control_dependencies(K.update_add(total, 1)):
        y = total * 2
    assert K.eval(y) == 202


def test_failed_calls_change_nothing():
    x = K.placeholder((None,))
    v = K.variable([1.0, 2.0])
    f = K.function([x], [], updates=[K.update(v, x)])
    with pytest.raises(ValueError):
        f([[1, 2, 3]])
    np.testing.assert_array_equal(K.get_value(v), [1, 2])


def test_open_axes_of_updates_are_checked_before_anything_changes():
    x = K.placeholder((None,))
    v, w, one = K.variable([1.0, 2.0]), K.variable([5.0, 6.0]), K.variable([7.0])
    text = r"^update: the variable has shape \(2,\) but the value has \(1,\)"
    for updates in ([K.update(v, x), K.update_add(w, 1)], [K.update_add(w, 1), (v, x)]):
        with pytest.raises(ValueError, match=text):
            K.function([x], [], updates=updates)([[5.0]])
    text = r"^update_add: the variable has shape \(1,\) but the value has \(2,\)"
    with pytest.raises(ValueError, match=text):
        K.function([x], [], updates=[K.update_add(one, x)])([[5.0, 6.0]])
    with pytest.raises(ValueError, match="^update: "):
        K.update(v, K.ones((1,)))
    for variable, value in ((v, [1, 2]), (w, [5, 6]), (one, [7])):
        np.testing.assert_array_equal(K.get_value(variable), value)
    # A value that is added is repeated, as in NumPy.
    K.function([x], [], updates=[K.update_add(v, x)])([[5.0]])
    np.testing.assert_array_equal(K.get_value(v), [6, 7])
    K.function([x], [], updates=[K.update(v, x)])([[8.0, 9.0]])
    np.testing.assert_array_equal(K.get_value(v), [8, 9])


def test_fetches_and_feed_dict():
    x, y = K.placeholder((2,)), K.placeholder((2,))
    v = K.variable(0.0)
    f = K.function([x], [x + y], feed_dict={y: [10, 20]}, fetches=[K.update_add(v, 1)], name="mine")
    out = f([[1, 2]])
    assert len(out) == 1
    np.testing.assert_array_equal(out[0], [11, 22])
    assert K.get_value(v) == 1
    assert "mine" in repr(f)


def test_wrong_arguments_of_function():
    x = K.placeholder((2,))
    with pytest.raises(TypeError, match="inputs must be a list"):
        K.function(x, [x])
    with pytest.raises(TypeError, match="outputs must be a list"):
        K.function([x], x)
    with pytest.raises(TypeError, match="updates"):
        K.function([x], [x], updates=[3])
    with pytest.raises(ValueError, match="unknown_option"):
        K.function([x], [x], unknown_option=1)
    with pytest.raises(ValueError):
        K.function([x], [x], options=object())
    K.function([x], [x], options=None, run_metadata=None)
    with pytest.raises(TypeError, match="inputs must be tensors"):
        K.function(["x"], [x])
    with pytest.raises(TypeError):
        K.function([x], [None])


def test_wrong_arguments_of_the_call():
    x = K.placeholder((None, 784), name="x")
    f = K.function([x], [K.sum(x)])
    with pytest.raises(TypeError, match="list or tuple"):
        f(np.ones((1, 784)))
    with pytest.raises(TypeError, match="one list"):
        f([np.ones((1, 784))], 1)
    with pytest.raises(TypeError):
        f(inputs=[np.ones((1, 784))])
    with pytest.raises(TypeError):
        f()
    with pytest.raises(ValueError, match="takes 1 inputs; got 2"):
        f([1, 2])
    text = (
        r'input 0 "x" takes shape \(None, 784\); got an array of shape \(784,\). '
        "Did you forget the batch dimension"
    )
    with pytest.raises(ValueError, match=text):
        f([np.ones(784)])
    with pytest.raises(TypeError, match="a number or an array"):
        f(["text"])
    with pytest.raises(TypeError):
        f([object()])
    with pytest.raises(TypeError):
        f([np.ones((1, 784), complex)])
    with pytest.raises(TypeError):
        f([[[1, 2], [3]]])


def test_unfed_placeholders_are_named():
    x = K.placeholder((2,), name="forgotten")
    with pytest.raises(ValueError, match="forgotten"):
        K.eval(x + 1)
    with pytest.raises(ValueError, match="forgotten"):
        K.function([], [x + 1])


def test_sparse_feeds():
    x = K.placeholder((None, 4), sparse=True)
    w = K.variable(np.arange(8).reshape(4, 2))
    f = K.function([x], [K.dot(x, w), K.to_dense(x)])
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csc_array):
        dense = np.array([[0, 1, 0, 2], [3, 0, 0, 0]], "float64")
        product, back = f([kind(dense)])
        np.testing.assert_array_equal(product, dense @ np.arange(8).reshape(4, 2))
        np.testing.assert_array_equal(back, dense)
    dense_only = K.placeholder((None, 4))
    with pytest.raises(TypeError, match="sparse"):
        K.function([dense_only], [dense_only])([scipy.sparse.eye(4)])
    with pytest.raises(TypeError):
        f([np.eye(4)])


def test_sparse_variables_and_outputs():
    m = scipy.sparse.csr_matrix(np.array([[0, 1], [2, 0]], "float32"))
    v = K.variable(m)
    assert K.is_sparse(v)
    np.testing.assert_array_equal(K.eval(v), m.toarray())
    np.testing.assert_array_equal(K.get_value(v), m.toarray())
    [got] = K.function([], [v])([])
    assert scipy.sparse.issparse(got) and got.format == "coo" and got.dtype == "float32"
    np.testing.assert_array_equal(got.toarray(), m.toarray())


def test_sparse_outputs_are_arrays_of_their_own():
    x = K.placeholder((None, 3), sparse=True)
    f = K.function([x], [K.concatenate([x, x], axis=0), K.transpose(x), x, K.to_dense(x)])
    rng = np.random.default_rng(0)
    matrices = [scipy.sparse.random(4, 3, d, "csr", "float32", rng=rng) for d in (0, 0.3, 1)]
    results = [f([m]) for m in matrices]
    for m, (twice, turned, same, dense) in zip(matrices, results, strict=True):
        np.testing.assert_array_equal(twice.toarray(), np.concatenate([m.toarray()] * 2))
        np.testing.assert_array_equal(turned.toarray(), m.toarray().T)
        np.testing.assert_array_equal(same.toarray(), m.toarray())
        np.testing.assert_array_equal(dense, m.toarray())
        assert turned.shape == (3, 4) and turned.nnz == m.nnz


def test_an_output_that_is_listed_twice():
    x = K.placeholder((2,))
    y = x + 1
    a, b = K.function([x], [y, y])([[1, 2]])
    a[0] = 99
    np.testing.assert_array_equal(b, [2, 3])


def test_outputs_stay_as_they_are():
    v = K.variable([1.0, 2.0])
    x = K.placeholder((2,))
    f = K.function([x], [v * 1, x, K.update(v, x)])
    first = f([[5, 6]])
    fed = np.array([7, 8], "float32")
    second = f([fed])
    np.testing.assert_array_equal(first[0], [1, 2])
    np.testing.assert_array_equal(second[0], [5, 6])
    second[1][0] = second[2][0] = 99
    np.testing.assert_array_equal(fed, [7, 8])
    np.testing.assert_array_equal(K.get_value(v), [7, 8])


def test_variable_values():
    v = K.variable([1.0, 2.0])
    got = K.get_value(v)
    got[0] = 99
    np.testing.assert_array_equal(K.get_value(v), [1, 2])
    source = np.array([3.0, 4.0], "float32")
    K.set_value(v, source)
    source[0] = 99
    np.testing.assert_array_equal(K.get_value(v), [3, 4])
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        K.set_value(v, [1, 2, 3])
    with pytest.raises(TypeError, match="a variable"):
        K.set_value(K.constant(1.0), 2)
    n = K.variable(0, dtype="int64")
    K.set_value(n, 3.0)
    assert K.get_value(n) == 3
    assert K.batch_get_value([]) == []
    K.batch_set_value([])
    K.batch_set_value([(v, np.array([1, 1])), [n, np.int64(9)]])
    assert K.get_value(n) == 9


def test_a_variable_starts_from_a_tensor():
    v = K.variable(K.random_uniform((3,), seed=1))
    np.testing.assert_array_equal(K.get_value(v), K.get_value(v))
    w = K.variable(K.random_uniform((3,), seed=1))
    np.testing.assert_array_equal(K.get_value(v), K.get_value(w))
    assert K.dtype(K.variable(K.constant([1, 2], dtype="int32"))) == "float32"


def test_wrong_values_of_variables():
    with pytest.raises(TypeError):
        K.variable("", dtype="unsupported")
    with pytest.raises(TypeError, match="dtype"):
        K.variable(1.0, dtype="unsupported")
    with pytest.raises(TypeError):
        K.variable("text")
    with pytest.raises(TypeError):
        K.variable(None)


def test_dtype_arguments():
    for given in (
        "float64",
        np.dtype("float64"),
        np.float64,
        K.placeholder((1,), dtype="float64").dtype,
    ):
        assert K.dtype(K.placeholder((1,), dtype=given)) == "float64"
    for wrong in ("float", 3, "complex64", np.complex64):
        with pytest.raises(TypeError):
            K.cast(K.zeros((1,)), wrong)


def test_np_random_seed_makes_programs_repeatable():
    def draw():
        np.random.seed(7)
        x = K.random_normal((4,))
        v = K.random_uniform_variable((4,), 0, 1)
        y = K.dropout(K.ones((50,)), 0.5)
        return [K.eval(x), K.get_value(v), K.eval(y)]

    for a, b in zip(draw(), draw()):
        np.testing.assert_array_equal(a, b)
    x = K.random_normal((4,))
    assert not np.array_equal(K.eval(x), K.eval(x + K.random_normal((4,))))


def test_warnings_go_to_python():
    x = K.placeholder((None,))
    f = K.function([x], [x + 1], name="many")
    with pytest.warns(UserWarning, match="many: 33 different input shapes so far; axis 0 of input"):
        for n in range(40):
            f([np.zeros(n)])
    g = K.function([x], [x + 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            for n in range(40):
                g([np.zeros(n)])
    np.testing.assert_array_equal(g([[1]])[0], [2])


def test_print_tensor(capsys):
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x, "x is:") + 1])
    f([[1, 2]])
    shown = capsys.readouterr()
    assert shown.out == "x is: [1., 2.]\n" and not shown.err


def test_tensors_stand_for_values():
    """Keras trains on tensors: their values are computed when the function is called."""
    x, y = K.placeholder((2,)), K.placeholder((2,))
    f = K.function([x, y], [x * 10 + y])
    v = K.variable([1.0, 2.0])
    np.testing.assert_array_equal(f([v, v + 1])[0], [12, 23])
    K.set_value(v, [3.0, 4.0])
    np.testing.assert_array_equal(f([v, [0, 0]])[0], [30, 40])
    np.testing.assert_array_equal(f([v, K.constant([1, 2], dtype="int32")])[0], [31, 42])
    with pytest.raises(ValueError, match="shape"):
        f([K.zeros((3,)), v])
    with pytest.raises(ValueError, match="placeholder"):
        f([x, v])


def test_a_call_inside_of_a_call():
    """print_tensor's stream may call a function: that is an error, not a deadlock."""
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x)])
    errors = []

    class Stream:
        def write(self, text):
            try:
                f([[1, 2]])
            except RuntimeError as e:
                errors.append(e)

        flush = None

    out, err = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = Stream()
    try:
        f([[1, 2]])
    finally:
        sys.stdout, sys.stderr = out, err
    assert errors


def test_errors_of_callbacks_come_through():
    class Mine(Exception):
        pass

    def raises(*args):
        raise Mine

    x = K.zeros((2, 3, 4))
    with pytest.raises(Mine):
        K.rnn(raises, x, [K.zeros((2, 4))])
    with pytest.raises(Mine):
        K.map_fn(raises, x)
    with pytest.raises(Mine):
        K.foldl(raises, x)
    with pytest.raises(Mine):
        K.switch(K.placeholder((), dtype="bool"), raises, lambda: x)
    assert K.eval(K.map_fn(lambda e: K.sum(e), x)).shape == (2,)


def test_types_of_errors():
    x = K.placeholder((2, 3))
    with pytest.raises(ValueError, match=r"softmax: axis must be in \[-2, 2\).*got axis=2"):
        K.softmax(x, axis=2)
    with pytest.raises(ValueError, match='conv2d: padding must be "valid" or "same"; got "full"'):
        K.conv2d(K.zeros((1, 4, 4, 1)), K.zeros((2, 2, 1, 1)), padding="full")
    with pytest.raises(ValueError, match="data_format"):
        K.pool2d(K.zeros((1, 4, 4, 1)), (2, 2), data_format="channels_middle")
    with pytest.raises(TypeError, match="sum: axis must be an integer; got 'a'"):
        K.sum(x, axis=["a"])
    with pytest.raises(TypeError, match="a tensor is wanted; got NoneType"):
        K.square(None)
    with pytest.raises(TypeError, match="square: a tensor, a number or an array"):
        K.square("text")
    with pytest.raises(IndexError):
        x[5]


@pytest.mark.slow
def test_interrupt():
    """Ctrl-C during a long call ends it and leaves the variables as they were."""
    program = """
import numpy as np, sys
import horngate as K
x = K.placeholder((None, 600))
v = K.variable(0.0)
y = x
for _ in range(400):
    y = K.tanh(K.dot(y, K.constant(np.eye(600))))
f = K.function([x], [K.sum(y)], updates=[K.update_add(v, 1)])
data = np.ones((3000, 600), 'float32')
f([data[:1]])
print('ready', flush=True)
try:
    while True:
        f([data])
except KeyboardInterrupt:
    before = K.get_value(v)
    f([data[:1]])
    print('stopped', int(K.get_value(v) - before), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGINT)
        start = time.time()
        assert process.stdout.readline() == "stopped 1\n"
        assert time.time() - start < 5


def test_gil_is_free_during_a_call():
    x = K.placeholder((None, 500))
    y = x
    for _ in range(30):
        y = K.dot(y, K.constant(np.eye(500)))
    f = K.function([x], [y])
    data = np.ones((2000, 500), "float32")
    f([data])
    ticks = 0
    done = threading.Event()

    def count():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.time()
    while time.time() - start < 0.3:
        f([data])
    done.set()
    thread.join()
    assert ticks > 20
