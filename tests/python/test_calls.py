"""A call and the Python around it: warnings, prints, callbacks, Ctrl-C, the interpreter's lock."""

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


def test_a_warning_that_is_an_error_leaves_variables_as_they_were():
    v, x = K.variable(0.0), K.placeholder((None,))
    f = K.function([x], [K.sum(x)], updates=[K.update_add(v, 1)])
    done = refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(1, 40):
            try:
                f([np.ones(n)])
                done += 1
            except UserWarning:
                refused += 1
    assert refused == 1 and K.get_value(v) == done == 38


def test_outputs_that_numpy_cannot_hold_are_refused_when_a_function_is_made():
    x = K.reshape(K.variable(np.ones(1)), (1,) * 65)
    with pytest.raises(ValueError, match="function: output 1 has 65 dimensions; NumPy takes up to"):
        K.function([], [K.sum(x), x])


class PrintedTo:
    """What print_tensor writes to, for a while: a call with each text."""

    def __init__(self, write):
        self.write, self.flush = write, None

    def __enter__(self):
        self.out, sys.stdout = sys.stdout, self

    def __exit__(self, *exception):
        sys.stdout = self.out


def counted():
    n = K.variable(0.0)
    return n, K.function([], [K.print_tensor(n, "n is:")], updates=[K.update_add(n, 1)])


def test_a_variable_is_not_set_inside_of_the_call_that_updates_it():
    n, f = counted()
    with PrintedTo(lambda text: K.set_value(n, 50.0)):
        with pytest.raises(RuntimeError, match="is being updated by a call on this thread"):
            f([])
    assert K.get_value(n) == 0
    other = K.variable(0.0)
    with PrintedTo(lambda text: K.set_value(other, K.get_value(n) + 7)):
        f([])
    assert K.get_value(n) == 1 and K.get_value(other) == 7


def test_a_signal_handler_sets_a_variable_that_a_call_updates():
    """An error in the handler, and so of the call; never a deadlock."""
    x = K.placeholder((400, 400))
    y, n = x, K.variable(0.0)
    for _ in range(300):
        y = K.tanh(K.dot(y, x))
    f = K.function([x], [K.sum(y)], updates=[K.update_add(n, 1)])
    before = signal.signal(signal.SIGALRM, lambda *a: K.set_value(n, 100.0))
    try:
        for _ in range(50):  # until a signal comes in the midst of a call
            K.set_value(n, 0.0)
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            try:
                f([np.zeros((400, 400))])
            except RuntimeError as e:
                assert "set_value: variable" in str(e)
                break
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            raise AssertionError("no signal came in the midst of a call")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert K.get_value(n) == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, BrokenPipeError, SystemExit])
def test_what_a_stream_raises_ends_the_call(error):
    n, f = counted()

    def write(text):
        raise error

    with PrintedTo(write), pytest.raises(error):
        f([])
    assert K.get_value(n) == 0
    with PrintedTo(lambda text: None):
        f([])
    assert K.get_value(n) == 1


def test_print_tensor(capsys):
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x, "x is:") + 1])
    f([[1, 2]])
    shown = capsys.readouterr()
    assert shown.out == "x is: [1., 2.]\n" and not shown.err


def test_print_tensor_twice(capsys):
    """Two equal nodes are two lines: what has an effect is not merged."""
    x = K.placeholder((2,))
    f = K.function([x], [K.print_tensor(x, "x is:") * K.print_tensor(x, "x is:")])
    np.testing.assert_array_equal(f([[1, 2]])[0], [1, 4])
    assert capsys.readouterr().out.count("x is:") == 2


def printed_square(x):
    """x^6. The gradient needs what is printed."""
    return K.square(K.print_tensor(x**3, "x^3"))


PRINTING = {
    "a branch": lambda x: K.switch(K.sum(x) > 0, lambda: printed_square(x), lambda: x),
    "a branch in a branch": lambda x: K.switch(
        K.sum(x) > 0,
        lambda: K.switch(K.sum(x) < 9, lambda: printed_square(x), lambda: x) * 1.0,
        lambda: x,
    ),
    "a loop in a branch": lambda x: K.switch(
        K.sum(x) > 0,
        lambda: K.map_fn(printed_square, K.expand_dims(x, 0)),
        lambda: K.expand_dims(x, 0),
    ),
    "a branch in a loop": lambda x: K.map_fn(
        lambda row: K.switch(K.sum(row) > 0, lambda: printed_square(row), lambda: row),
        K.expand_dims(x, 0),
    ),
}


@pytest.mark.parametrize("where", PRINTING)
@pytest.mark.parametrize("wanted", ["y", "g", "h", "yg", "gy", "yh", "gh", "ygh", "hgy"])
def test_a_gradient_does_not_print_again(capsys, where, wanted):
    """It repeats the branch; the line is one, with the value, the gradient, or both."""
    x = K.placeholder((2,))
    y = K.sum(PRINTING[where](x))
    [g] = K.gradients(y, [x])
    [h] = K.gradients(K.sum(g), [x])
    known = {"y": (y, 65), "g": (g, [6, 192]), "h": (h, [30, 480])}
    got = K.function([x], [known[name][0] for name in wanted])([[1, 2]])
    for name, value in zip(wanted, got):
        np.testing.assert_allclose(value, known[name][1])
    assert capsys.readouterr().out == "x^3 [1., 8.]\n"


def test_two_branches_print_for_themselves(capsys):
    x = K.placeholder(())
    both = [K.switch(x > 0, lambda: printed_square(x), lambda: x) for _ in range(2)]
    K.function([x], both + K.gradients(both[0] * both[1], [x]))([2])
    assert capsys.readouterr().out == "x^3 8.\n" * 2


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
