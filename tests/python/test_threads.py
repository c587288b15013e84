"""Functions are called, and graphs built, from several threads at once."""

import os
import subprocess
import sys
import threading

import horngate as K
import numpy as np
import pytest


def run_all(*targets):
    errors = []

    def guard(target):
        try:
            target()
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=guard, args=(t,)) for t in targets]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert not any(t.is_alive() for t in threads), "deadlock"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("busy", ["f([a])", "K.get_value(v)", "K.set_value(v, a)", "p([a])"])
def test_python_ends_while_a_daemon_is_in_a_call(busy):
    program = f"""
import sys, threading, time
import horngate as K
import numpy as np
x = K.placeholder((300, 300)); v = K.variable(np.zeros((300, 300))); y = x
for _ in range(20): y = K.tanh(K.dot(y, v))
f = K.function([x], [K.sum(y)], updates=[K.update_add(v, x)])
p = K.function([x], [K.print_tensor(x[0, 0])])
a = np.zeros((300, 300), "float32")
class Quiet:
    def write(self, text): pass
    def flush(self): pass
sys.stdout = Quiet()
def serve():
    while True: {busy}
for _ in range(2): threading.Thread(target=serve, daemon=True).start()
time.sleep(0.3)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_no_update_is_lost():
    v = K.variable(0.0)
    f = K.function([], [], updates=[K.update_add(v, 1)])

    def add():
        for _ in range(500):
            f([])

    run_all(add, add, add, add)
    assert K.get_value(v) == 2000


def test_readers_see_whole_updates():
    a, b = K.variable(np.zeros(100)), K.variable(np.zeros(100))
    train = K.function(
        [], [], updates=[K.update_add(a, K.ones_like(a)), K.update_add(b, K.ones_like(b))]
    )
    predict = K.function([], [a * 1, b * 1])
    done = threading.Event()

    def write():
        for _ in range(500):
            train([])
        done.set()

    def read():
        while not done.is_set():
            x, y = predict([])
            np.testing.assert_array_equal(x, y)
            assert len(set(x)) == 1
            x, y = K.batch_get_value([a, b])
            np.testing.assert_array_equal(x, y)

    run_all(write, read, read)


def test_readers_keep_what_they_began_with():
    """A variable so large that an update ends while somebody reads it: that one has the old memory."""
    v = K.variable(np.zeros(2_000_000))
    train = K.function([], [], updates=[K.update_add(v, 1)])
    predict = K.function([], [K.max(v) - K.min(v), K.sum(v - K.max(v))])
    done = []

    def write():
        try:
            for _ in range(40):
                train([])
        finally:
            done.append(True)

    def read():
        while not done:
            assert predict([]) == [0, 0]

    run_all(write, read)
    assert K.get_value(v)[0] == 40


def test_new_shapes_from_many_threads():
    x = K.placeholder((None,))
    f = K.function([x], [K.sum(x)])

    def call():
        for n in range(1, 30):
            assert f([np.ones(n)])[0] == n

    run_all(call, call, call, call)


def test_graphs_are_built_on_many_threads():
    def build():
        for i in range(50):
            with K.name_scope(f"scope{threading.get_ident()}"):
                x = K.placeholder((3,), name="x")
                y = K.sum(K.square(x))
                [g] = K.gradients(y, [x])
            assert x.name.startswith(f"scope{threading.get_ident()}/x")
            np.testing.assert_array_equal(K.function([x], [g])([[1, 2, 3]])[0], [2, 4, 6])

    run_all(build, build, build)


def test_set_value_while_training():
    v = K.variable(np.zeros(10))
    f = K.function([], [v * 1], updates=[K.update_add(v, K.ones_like(v))])

    def train():
        for _ in range(300):
            assert len(set(f([])[0])) == 1

    def reset():
        for i in range(300):
            K.set_value(v, np.full(10, -1000.0 * i))

    run_all(train, train, reset)


def test_printing_from_two_threads(monkeypatch):
    """print_tensor takes the GIL in the middle of a call; no deadlock in many steps."""
    lines = []

    class Stream:
        def write(self, text):
            lines.append(text)

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stdout", Stream())
    monkeypatch.setattr(sys, "stderr", Stream())
    v = K.variable(0.0)
    shown = K.print_tensor(v * 1, "v")
    f = K.function([], [shown], updates=[K.update_add(v, 1)])

    def train():
        for _ in range(2000):
            f([])

    run_all(train, train)
    assert sum(text.startswith("v") for text in lines) == 4000


def test_a_function_dies_while_it_runs():
    x = K.placeholder((None,))
    for _ in range(50):
        f = K.function([x], [K.sum(K.exp(x))])
        data = np.zeros(100_000, "float32")
        thread = threading.Thread(target=f, args=([data],))
        thread.start()
        del f, data
        thread.join()


TRAINING = """
import subprocess
import sys
import horngate as K
import numpy as np

def normal(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, dtype="float32") * 0.1

x = K.placeholder((32, 12, 64))
w, r = K.variable(normal(64, 512, seed=1)), K.variable(normal(128, 512, seed=2))

def step(inputs, states):
    gates = K.dot(inputs, w) + K.dot(states[0], r)
    i, f, g, o = (gates[:, k * 128 : (k + 1) * 128] for k in range(4))
    c = K.sigmoid(f) * states[1] + K.sigmoid(i) * K.tanh(g)
    h = K.sigmoid(o) * K.tanh(c)
    return h, [h, c]

zeros = K.zeros((32, 128))
last, outputs, _ = K.rnn(step, x, [zeros, zeros])
weights = [w, r]
grads = K.gradients(K.sum(K.square(last)), weights)
f = K.function([x], [outputs], updates=[K.update_sub(p, 0.01 * g) for p, g in zip(weights, grads)])
for turn in range(3):
    out = f([normal(32, 12, 64, seed=turn)])
np.savez(sys.argv[1], *out, *(K.get_value(p) for p in weights))
"""


def test_training_a_loop_does_not_depend_on_threads(tmp_path, monkeypatch):
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("HORNGATE_NUM_THREADS", threads)
        path = tmp_path / f"{threads}.npz"
        subprocess.run([sys.executable, "-c", TRAINING, path], check=True)
        results.append(dict(np.load(path)))
    for other in results[1:]:
        for name, value in results[0].items():
            np.testing.assert_array_equal(other[name], value)


def test_many_threads_in_little_memory():
    """An exception at worst: the C library ends the process if a thread's own variables find no memory. Without the
    library's care one process in six ends so."""
    program = """
import resource
import horngate as K
import numpy as np
x = K.placeholder((None, 2000))
f = K.function([x], [K.tanh(x) * 2 + 1])
a = np.ones((1000, 2000), "float32")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))
try:
    for _ in range(5): f([a])
except (MemoryError, RuntimeError) as e:
    assert "memory" in str(e), e
print("alive")
"""
    environment = {**os.environ, "HORNGATE_NUM_THREADS": "1024"}
    for _ in range(20):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]
