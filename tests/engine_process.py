"""Programs in processes of their own: most of them because a process holds one engine."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

RUN = """
import horngate as K, numpy as np
x = K.placeholder((2, 2))
print(K.function([x], [x + 1])([np.zeros((2, 2))])[0].sum())
"""

# Convolution, pooling, normalisation, an embedding and a recurrent layer; prints the loss of each step.
TRAIN = """
import horngate as K, numpy as np
rng = np.random.default_rng(0)
def weight(*shape): return K.variable(rng.uniform(-0.3, 0.3, shape))
x, y = K.placeholder((None, 8, 8, 1)), K.placeholder((None, 5))
ids = K.placeholder((None, 3), dtype="int32")
ws = [weight(3, 3, 1, 4), weight(64, 12), weight(7, 12), weight(12, 48), weight(12, 48), weight(12, 5)]
h = K.relu(K.conv2d(x, ws[0], padding="same"))
h = K.pool2d(h, (2, 2), strides=(2, 2), pool_mode="{pool}")
h = K.normalize_batch_in_training(h, K.ones((4,)), K.zeros((4,)), [0, 1, 2])[0]
h = K.tanh(K.dot(K.batch_flatten(h), ws[1]))
def step(i, s):
    z = K.dot(i, ws[3]) + K.dot(s[0], ws[4])
    f, o, g = K.sigmoid(z[:, :12]), K.sigmoid(z[:, 12:24]), K.tanh(z[:, 24:36])
    c = f * s[1] + (1 - f) * g
    out = o * K.tanh(c)
    return out, [out, c]
seq = K.gather(ws[2], ids) + K.expand_dims(h, 1)
last, _, _ = K.rnn(step, seq, [K.zeros_like(h), K.zeros_like(h)], unroll={unroll}, input_length=3)
p = K.softmax(K.dot(last, ws[5]))
loss = K.mean(K.categorical_crossentropy(y, p))
grads = K.gradients(loss, ws)
train = K.function([x, ids, y], [loss], [K.update_sub(w, 0.1 * g) for w, g in zip(ws, grads)])
for i in range(50):
    a = rng.uniform(-1, 1, (16, 8, 8, 1)); b = np.eye(5)[rng.integers(0, 5, 16)]
    print(float(train([a, rng.integers(0, 7, (16, 3)), b])[0]))
"""


def environment(engine=None, **more):
    """This process' own, with its modules; None takes a variable away."""
    made = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    if engine:
        made["KERAS_BACKEND"] = engine
    made.update(more)
    return {name: value for name, value in made.items() if value is not None}


def run(*command, engine=None, **more):
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=environment(engine, **more),
    )


def python(engine, program, *arguments, **more):
    return run(sys.executable, "-c", program, *arguments, engine=engine, **more)


def required():
    """The engines that must be there: HORNGATE_TEST_REQUIRE, separated by commas."""
    return [n for n in os.environ.get("HORNGATE_TEST_REQUIRE", "").split(",") if n]


def skip_unless_it_runs(done, engine):
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()[-1]
        assert engine not in required(), f"{engine} must run here: {why}"
        pytest.skip(why)


def library(engine, part):
    """The library with that in its name that the engine loads; a skip where it is not installed."""
    maps = f"(l.split()[-1] for l in open('/proc/self/maps') if {part!r} in l)"
    done = python(engine, RUN + f"print(next({maps}))")
    skip_unless_it_runs(done, engine)
    answer, path = done.stdout.split()
    assert (answer, done.stderr) == ("4.0", ""), "nothing else is printed"
    return pathlib.Path(path)


def build_library(source, target):
    """Another library in the place of an engine's; a skip where there is no compiler."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler to build a library with")
    file = target.parent / "other.cpp"
    file.write_text(source)
    subprocess.run([compiler, "-shared", "-fPIC", file, "-o", target], check=True)


def refusal(engine, folder, times=1, **more):
    """What the process says, which must survive, when the engine is looked for in a folder."""
    program = (
        "import horngate as K\n"
        "x = K.placeholder((2,))\n"
        f"for i in range({times}):\n"
        "    try: K.function([x], [x + 1])([[1, 2]])\n"
        "    except RuntimeError as e: print(e)\n"
        "print('alive')"
    )
    done = python(engine, program, **{f"HORNGATE_{engine.upper()}": str(folder)}, **more)
    assert done.stdout.endswith("alive\n"), done.stdout + done.stderr
    return done.stdout


def check_places(engine, home):
    """The engine that lies in the home folder is found there, and as a package."""
    place = {f"HORNGATE_{engine.upper()}": "", "HORNGATE_PYTHON_PATHS": ""}
    assert python(engine, RUN, **{**place, "HORNGATE_HOME": str(home)}).stdout == "4.0\n"
    place["HORNGATE_PYTHON_PATHS"] = str(home / "engines" / engine)
    assert python(engine, RUN, **{**place, "HORNGATE_HOME": str(home / "none")}).stdout == "4.0\n"


def check_training(engine, program, *arguments, **more):
    """The losses of 50 steps are those of native. Gives them, and the nodes that the engine left to native."""
    curves, left = [], []
    for name in (engine, "native"):
        done = python(name, program, *arguments, **more)
        assert done.returncode == 0, done.stderr
        left += [line for line in done.stderr.splitlines() if "runs on native" in line]
        curves.append([float(v) for v in done.stdout.split()])
    ours, native = curves
    assert len(ours) == 50 and ours[-1] != ours[0]
    assert max(abs(a - b) for a, b in zip(ours, native)) < 1e-3
    return ours, left
