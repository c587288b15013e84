"""The tensorflow engine: faults of its library, that nothing is copied, and that it trains as native does. Each
test is a process of its own, for a process holds one engine."""

import functools
import os
import pathlib
import signal
import subprocess
import sys
import time

import engine_process
import pytest

environment = functools.partial(engine_process.environment, "tensorflow")
python = functools.partial(engine_process.python, "tensorflow")
refusal = functools.partial(engine_process.refusal, "tensorflow", times=2)

DIGITS = pathlib.Path(__file__).parents[2] / "examples" / "data" / "digits.txt"


@pytest.fixture(scope="module")
def package():
    """TensorFlow's folder, as the engine finds it; a skip where there is none."""
    return engine_process.library("tensorflow", "tensorflow_cc").parent


def build(tmp_path, source):
    engine_process.build_library(source, tmp_path / "libtensorflow_cc.so.2")


def test_a_missing_library(tmp_path):
    text = refusal(tmp_path)
    assert (
        f"engine tensorflow: could not be opened: there is no libtensorflow_cc.so.2 in {tmp_path}."
        in text
    )
    assert "pip install tensorflow-cpu" in text


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "libtensorflow_cc.so.2").write_text("not a library")
    assert "libtensorflow_cc.so.2 is not a 64-bit shared library" in refusal(tmp_path)


@pytest.mark.parametrize("part", [0.01, 0.5, 0.999])
def test_a_truncated_library(tmp_path, package, part):
    whole = package / "libtensorflow_cc.so.2"
    with open(whole, "rb") as file:
        head = file.read(1 << 20)
    cut = tmp_path / whole.name
    cut.write_bytes(head)  # the rest is a hole, which needs no disk
    os.truncate(cut, int(whole.stat().st_size * part))
    assert "is cut off" in refusal(tmp_path)


def test_a_library_without_its_other_half(tmp_path, package):
    (tmp_path / "libtensorflow_cc.so.2").symlink_to(package / "libtensorflow_cc.so.2")
    text = refusal(tmp_path)
    assert "the library could not be loaded: libtensorflow_framework.so.2" in text


def test_libraries_of_other_versions(tmp_path):
    build(tmp_path, 'extern "C" const char* TF_Version() { return "1.15.0"; }\n')
    assert "is TensorFlow 1.15.0; this engine needs 2.16 or a later 2.x" in refusal(tmp_path)
    build(tmp_path, 'extern "C" const char* TF_Version() { return "2.99.0"; }\n')
    assert "has no function TF_" in refusal(tmp_path)
    build(tmp_path, "int unrelated;\n")
    assert "has no function TF_Version: it is not a TensorFlow" in refusal(tmp_path)


def test_it_is_found_in_the_home_folder_and_in_packages(tmp_path, package):
    place = tmp_path / "engines" / "tensorflow"
    place.mkdir(parents=True)
    (place / "tensorflow").symlink_to(package)
    engine_process.check_places("tensorflow", tmp_path)


MEMORY = """
import horngate as K, numpy as np, resource
x = K.placeholder((1000, 1000))
w = K.variable(np.zeros((1000, 1000)))
f = K.function([x], [K.sum(x), x], [K.update(w, w + x)])
ones = np.ones((1000, 1000), "float32")
for i in range(5): f([ones])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(100):
    total, same = f([ones])
    same[:] = 7                      # the caller's own
    kept = K.get_value(w)            # a value that is held while the variable changes
    assert total == 1e6 and (kept == i + 6).all(), i
K.set_value(w, ones)
f([ones])
assert (K.get_value(w) == 2).all() and (kept == 105).all()
assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
print("ok")
"""


def test_memory_is_handed_over_and_given_back(package):
    done = python(MEMORY)
    assert done.stdout == "ok\n", done.stderr


TRAIN = """
import horngate as K, numpy as np, sys
lines = open(sys.argv[1]).read().split("\\n")[:1600]
images = np.array([[int(c, 17) for c in l[2:]] for l in lines], "float32").reshape(-1, 8, 8, 1) / 16
labels = np.eye(10, dtype="float32")[[int(l[0]) for l in lines]]
rng = np.random.default_rng(0)
first = FORMAT == "channels_first"
if first: images = images.transpose(0, 3, 1, 2)
K.set_image_data_format(FORMAT)
def weight(*shape): return K.variable(rng.uniform(-1, 1, shape) / np.sqrt(np.prod(shape[:-1])))
x, y = K.placeholder((None, *images.shape[1:])), K.placeholder((None, 10))
ws = [weight(3, 3, 1, 16), weight(3, 3, 16, 32), weight(128, 64), weight(64, 10)]
h = K.pool2d(K.relu(K.conv2d(x, ws[0], padding="same")), (2, 2), strides=(2, 2))
h = K.normalize_batch_in_training(h, K.ones((16,)), K.zeros((16,)), [0, 2, 3] if first else [0, 1, 2])[0]
h = K.pool2d(K.relu(K.conv2d(h, ws[1], padding="same")), (2, 2), strides=(2, 2))
h = K.dot(K.relu(K.dot(K.batch_flatten(h), ws[2])), ws[3])
loss = K.mean(K.categorical_crossentropy(y, h, from_logits=True))
momenta = [K.zeros(K.int_shape(w)) for w in ws]
updates = []
for w, m, g in zip(ws, momenta, K.gradients(loss, ws)):
    v = 0.9 * m - 0.02 * g
    updates += [K.update(m, v), K.update(w, w + v)]
train = K.function([x, y], [loss], updates)
for i in range(50):
    print(float(train([images[i * 32 : i * 32 + 32], labels[i * 32 : i * 32 + 32]])[0]))
"""

LOOP = """
import horngate as K, numpy as np
rng = np.random.default_rng(0)
def weight(*shape): return K.variable(rng.uniform(-0.3, 0.3, shape))
x, y = K.placeholder((16, None, 6)), K.placeholder((16, 5))
w, r, o = weight(6, 36), weight(12, 36), weight(12, 5)
def step(i, s):
    z = K.dot(i, w) + K.dot(s[0], r)
    f, g = K.sigmoid(z[:, :12]), K.tanh(z[:, 12:24])
    out = f * s[0] + (1 - f) * g * K.sigmoid(z[:, 24:])
    return out, [out]
last, _, _ = K.rnn(step, x, [K.zeros((16, 12)) + 0.0])
loss = K.mean(K.categorical_crossentropy(y, K.softmax(K.dot(last, o))))
ws = [w, r, o]
train = K.function([x, y], [loss], [K.update_sub(v, 0.5 * g) for v, g in zip(ws, K.gradients(loss, ws))])
for i in range(50):
    a = rng.uniform(-1, 1, (16, 3 + i % 4, 6))
    print(float(train([a, np.eye(5)[a[:, -1, :5].argmax(1)]])[0]))
"""


PROGRAMS = {
    "digits": TRAIN.replace("FORMAT", '"channels_last"'),
    "digits_first": TRAIN.replace("FORMAT", '"channels_first"'),
    "loop": LOOP,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("xla", ["0", "1"])
def test_training_is_that_of_native(package, name, xla):
    ours, left = engine_process.check_training(
        "tensorflow",
        PROGRAMS[name],
        DIGITS,
        HORNGATE_ENGINE_OPTIONS=f"tensorflow.xla={xla}",
        HORNGATE_QUIET="0",
    )
    assert not left, "a part was not run by the engine"
    assert min(ours[-10:]) < 0.97 * ours[0]


LONG = """
import horngate as K, numpy as np
x = K.placeholder((700, 700))
y = x
for i in range(400): y = K.tanh(K.dot(y, x))
v = K.variable(3.0)
f = K.function([x], [K.sum(y)], [K.update(v, K.sum(y))])
print("go", flush=True)
try:
    while True: f([np.ones((700, 700))])
except KeyboardInterrupt:
    print("stopped", float(K.get_value(v)) != 0, flush=True)
f2 = K.function([], [v + 1])
print(np.isfinite(f2([])[0]))
"""


def test_a_long_call_can_be_interrupted(package):
    process = subprocess.Popen(
        [sys.executable, "-c", LONG],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert process.stdout.readline() == "stopped True\n", process.communicate()
    assert time.monotonic() - began < 2
    # communicate() would miss what came with the last line.
    assert process.stdout.read() == "True\n", process.stderr.read()
    process.communicate()
    assert process.returncode == 0


HALF = """
import horngate as K, numpy as np
x = K.placeholder((2, 4, 4, 2), dtype="float16")
y = K.softmax(K.pool2d(x, (2, 2), pool_mode="avg"))
print(K.function([x], K.gradients(K.sum(y * y), [x]) + [y])([np.ones((2, 4, 4, 2))])[1].sum())
"""


def test_halves_are_quiet_too(package):
    done = python(HALF)
    assert (done.stdout, done.stderr) == ("18.0\n", "")


THREADS = """
import horngate as K, numpy as np, threading
x = K.placeholder((None, 8))
f = K.function([x], [K.softmax(K.dot(x, K.transpose(x)))])
a = [np.full((n, 8), n / 10, "float32") for n in range(1, 5)]
wanted = [f([v])[0] for v in a]
wrong = []
def work(i):
    for k in range(300):
        if not np.array_equal(f([a[i]])[0], wanted[i]): wrong.append(i)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(wrong)
"""


def test_threads_may_call_at_once(package):
    done = python(THREADS)
    assert done.stdout == "[]\n", done.stderr
