"""K.function: outputs, updates, values of variables, errors."""

import horngate as K
import numpy as np
import pytest


def test_list_in_list_out():
    x = K.placeholder((None, 2))
    f = K.function([x], [x + 1, K.sum(x)])
    out = f([np.ones((3, 2))])
    assert isinstance(out, list) and len(out) == 2
    np.testing.assert_array_equal(out[0], np.full((3, 2), 2))
    assert out[1].shape == () and out[1] == 6
    assert isinstance(f((np.ones((1, 2)),)), list)


def test_an_input_stands_once():
    x, v = K.placeholder((2,), name="x"), K.variable(1.0)
    for twice in ([x, x], [v, x, v]):
        with pytest.raises(ValueError, match="function: input . .* is among the inputs twice"):
            K.function(twice, [x * 2])
    phase = K.learning_phase()
    K.function([x, phase, phase], [K.in_train_phase(x, x + 1)])([[1, 2], 0, 0])


def test_no_inputs_and_no_outputs():
    v = K.variable(1.0)
    assert K.function([], [v * 2])([])[0] == 2
    assert K.function([], [v * 2])()[0] == 2
    assert K.function([], [])([]) == []


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


def test_of_two_updates_that_set_the_last_counts():
    v = K.variable(1.0, name="twice")
    with pytest.warns(UserWarning, match='variable "twice" has several updates; the last'):
        f = K.function([], [v * 1], updates=[(v, v + 10), (v, v * 5)])
    assert f([])[0] == 1 and K.get_value(v) == 5
    with pytest.warns(UserWarning, match="several updates"):
        K.function([], [], updates=[K.update_add(v, 1), K.update(v, v * 2)])([])
    assert K.get_value(v) == 10


@pytest.mark.filterwarnings("error")
def test_updates_that_lose_nothing_need_no_warning():
    v = K.variable(1.0)
    K.function([], [], updates=[K.update_add(v, 1), K.update_add(v, 2)])([])
    assert K.get_value(v) == 4
    K.function([], [], updates=[(v, v * 2), K.update_sub(v, 1)])([])
    assert K.get_value(v) == 7
    new = v + 1
    K.function([], [], updates=[(v, new), (v, new)])([])
    assert K.get_value(v) == 8
    first = K.update(v, v + 1)
    with K.control_dependencies([first]):
        second = K.update(v, v * 2)
    K.function([], [], updates=[first, second])([])
    assert K.get_value(v) == 18


def test_a_fed_variable_and_its_updates():
    v, w = K.variable([1.0, 2.0]), K.variable([0.0, 0.0])
    f = K.function([v], [v * 1], updates=[K.update_add(v, 1), (w, v * 2)])
    np.testing.assert_array_equal(f([[10, 20]])[0], [10, 20])
    np.testing.assert_array_equal(K.get_value(v), [11, 21])
    np.testing.assert_array_equal(K.get_value(w), [20, 40])
    g = K.function([v], [v * 2])
    np.testing.assert_array_equal(g([[5, 5]])[0], [10, 10])
    np.testing.assert_array_equal(K.get_value(v), [11, 21])
    fixed = K.function([], [v + 0], updates=[K.update_sub(v, 1)], feed_dict={v: [3, 4]})
    np.testing.assert_array_equal(fixed([])[0], [3, 4])
    np.testing.assert_array_equal(K.get_value(v), [2, 3])
    # A gradient step from where the caller wants it.
    grad = K.gradients(K.sum(K.square(v)), [v])[0]
    step = K.function([v], [K.sum(K.square(v))], updates=[(v, v - 0.25 * grad)])
    assert step([[2, 4]])[0] == 20
    np.testing.assert_array_equal(K.get_value(v), [1, 2])


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
        K.function("x", [x])
    with pytest.raises(TypeError, match="outputs must be a list"):
        K.function([x], 3)
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
    with pytest.raises(ValueError, match='takes 1 input; got 0: input 0 "x" is missing'):
        f([])
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
    text = "expected a tensor, a number or an array of numbers; got NoneType"
    with pytest.raises(TypeError, match=text):
        K.square(None)
    with pytest.raises(
        TypeError, match="square: expected a tensor, a number or an array of numbers; got str"
    ):
        K.square("text")
    with pytest.raises(IndexError):
        x[5]
