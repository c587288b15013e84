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
