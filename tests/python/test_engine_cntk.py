"""The cntk engine: faults of its libraries, what it cannot hold, and that it trains as native does. Each test is a
process of its own, for a process holds one engine."""

import functools
import pathlib
import shutil
import subprocess

import engine_process
import pytest
from engine_process import RUN

python = functools.partial(engine_process.python, "cntk")
refusal = functools.partial(engine_process.refusal, "cntk")

FILES = [
    "libCntk.Core-2.7.so",
    "libCntk.Math-2.7.so",
    "libCntk.PerformanceProfiler-2.7.so",
    "libiomp5.so",
    "libmklml_intel.so",
]


@pytest.fixture(scope="module")
def libraries():
    """The folder of CNTK's libraries, as the engine finds it; a skip where there is none."""
    program = (
        RUN + "print(next(l.split()[-1] for l in open('/proc/self/maps') if 'libCntk.Core' in l))"
    )
    done = python(program)
    engine_process.skip_unless_it_runs(done, "cntk")
    return pathlib.Path(done.stdout.split()[-1]).parent


def links(libraries, folder):
    for name in FILES:
        (folder / name).symlink_to(libraries / name)


def test_a_missing_library(tmp_path):
    text = refusal(tmp_path)
    assert (
        f"engine cntk: could not be opened: HORNGATE_CNTK is {tmp_path}, where there is no" in text
    )
    assert "horngate engines install cntk" in text


def test_nothing_installed_anywhere(tmp_path):
    program = (
        "import horngate as K\ntry: K.eval(K.constant(1.0) + 1)\nexcept RuntimeError as e: print(e)"
    )
    where = {"HORNGATE_CNTK": "", "HORNGATE_HOME": str(tmp_path), "HORNGATE_PYTHON_PATHS": ""}
    text = python(program, **where).stdout
    assert (
        f"CNTK is not installed (looked for libCntk.Core-2.7.so in {tmp_path}/engines/cntk" in text
    )


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_part(tmp_path, libraries, name):
    links(libraries, tmp_path)
    (tmp_path / name).unlink()
    assert f"{name} is missing." in refusal(tmp_path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.001, 0.999])
def test_a_truncated_library(tmp_path, libraries, name, part):
    links(libraries, tmp_path)
    (tmp_path / name).unlink()
    size = (libraries / name).stat().st_size
    with open(libraries / name, "rb") as whole, open(tmp_path / name, "wb") as cut:
        remaining = int(size * part)
        while remaining > 0:
            remaining -= cut.write(whole.read(min(remaining, 1 << 20)))
    assert f"{name} is truncated" in refusal(tmp_path)


def test_a_library_of_another_version(tmp_path, libraries):
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler to build a library with")
    links(libraries, tmp_path)
    target = tmp_path / FILES[0]
    target.unlink()
    source = tmp_path / "other.cpp"
    source.write_text("int unrelated;\n")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", target], check=True)
    assert "has another version of CNTK than 2.7" in refusal(tmp_path)


def test_it_is_found_in_the_home_folder_and_in_packages(tmp_path, libraries):
    place = tmp_path / "engines" / "cntk" / "cntk" / "libs"
    place.mkdir(parents=True)
    links(libraries, place)
    env = {"HORNGATE_CNTK": "", "HORNGATE_PYTHON_PATHS": ""}
    assert python(RUN, **env, HORNGATE_HOME=str(tmp_path)).stdout == "4.0\n"
    env["HORNGATE_PYTHON_PATHS"] = str(tmp_path / "engines" / "cntk")
    assert python(RUN, **env, HORNGATE_HOME=str(tmp_path / "none")).stdout == "4.0\n"


def test_nothing_is_printed(libraries):
    done = python(RUN)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4.0\n", "")


def test_integers_that_a_double_cannot_hold(libraries):
    program = """
import horngate as K, numpy as np
x = K.placeholder((2,), dtype="int64")
f = K.function([x], [x + 1])
print(f([np.array([2**53 - 2, -5])])[0].tolist())
for bad in (2**53 + 1, 2**60 - 1):
    try: f([np.array([1, bad])])
    except ValueError as e: print(e)
print(f([np.array([3, 4])])[0].tolist())
"""
    lines = python(program).stdout.splitlines()
    assert lines[0] == str([2**53 - 1, -4]) and lines[3] == "[4, 5]"
    for line in lines[1:3]:
        assert line.startswith(
            "engine cntk: integers ride in float64 on CNTK, which is exact to 2^53; got"
        )


TRAIN = """
import horngate as K, numpy as np
rng = np.random.default_rng(0)
def weight(*shape): return K.variable(rng.uniform(-0.3, 0.3, shape))
x, y = K.placeholder((None, 8, 8, 1)), K.placeholder((None, 5))
ids = K.placeholder((None, 3), dtype="int32")
ws = [weight(3, 3, 1, 4), weight(64, 12), weight(7, 12), weight(12, 48), weight(12, 48), weight(12, 5)]
h = K.relu(K.conv2d(x, ws[0], padding="same"))
h = K.pool2d(h, (2, 2), strides=(2, 2), pool_mode="max")
h = K.normalize_batch_in_training(h, K.ones((4,)), K.zeros((4,)), [0, 1, 2])[0]
h = K.tanh(K.dot(K.batch_flatten(h), ws[1]))
def step(i, s):
    z = K.dot(i, ws[3]) + K.dot(s[0], ws[4])
    f, o, g = K.sigmoid(z[:, :12]), K.sigmoid(z[:, 12:24]), K.tanh(z[:, 24:36])
    c = f * s[1] + (1 - f) * g
    out = o * K.tanh(c)
    return out, [out, c]
seq = K.gather(ws[2], ids) + K.expand_dims(h, 1)
last, _, _ = K.rnn(step, seq, [K.zeros_like(h), K.zeros_like(h)], unroll=UNROLL, input_length=3)
p = K.softmax(K.dot(last, ws[5]))
loss = K.mean(K.categorical_crossentropy(y, p))
grads = K.gradients(loss, ws)
train = K.function([x, ids, y], [loss], [K.update_sub(w, 0.1 * g) for w, g in zip(ws, grads)])
for i in range(50):
    a = rng.uniform(-1, 1, (16, 8, 8, 1)); b = np.eye(5)[rng.integers(0, 5, 16)]
    print(float(train([a, rng.integers(0, 7, (16, 3)), b])[0]))
"""


@pytest.mark.parametrize("unroll", [True, False])
def test_training_is_that_of_native(libraries, unroll):
    program = TRAIN.replace("UNROLL", str(unroll))
    ours, native = python(program), python(program, KERAS_BACKEND="native")
    assert ours.returncode == 0, ours.stderr
    assert native.returncode == 0, native.stderr
    # A loop is the host's; unrolled, all runs on CNTK.
    native_parts = [line for line in ours.stderr.splitlines() if "runs on native" in line]
    assert all("scan" in line for line in native_parts) and (unroll or native_parts)
    curves = [[float(v) for v in done.stdout.split()] for done in (ours, native)]
    assert len(curves[0]) == 50 and curves[0][-1] != curves[0][0]
    assert max(abs(a - b) for a, b in zip(*curves)) < 1e-3


def test_a_fork_computes(libraries):
    program = """
import os, horngate as K, numpy as np
x = K.placeholder((64, 64))
f = K.function([x], [K.dot(x, x)])
before = f([np.eye(64)])[0].sum()
pid = os.fork()
if pid == 0:
    os._exit(0 if f([np.eye(64)])[0].sum() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), f([np.eye(64)])[0].sum())
"""
    done = python(program)
    assert done.stdout == "0 64.0\n", done.stdout + done.stderr
