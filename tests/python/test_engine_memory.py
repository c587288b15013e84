"""HORNGATE_PLAN_BYTES holds on plug-in engines too: what their libraries keep for each plan is counted, goes with the
plan, and is given back."""

import engine_process
import pytest

PROGRAM = """
import gc, sys, numpy as np, horngate as K
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20
rng = np.random.default_rng(0)
x, y = K.placeholder((None, 16, 16, 3)), K.placeholder((None, 10))
ws = [K.variable(rng.normal(size=s) * 0.1) for s in ((3, 3, 3, 8), (512, 10))]
h = K.pool2d(K.relu(K.conv2d(x, ws[0], padding="same")), (2, 2), (2, 2))
p = K.softmax(K.dot(K.batch_flatten(h), ws[1]))
loss = K.mean(K.categorical_crossentropy(y, p))
updates = [K.update_sub(w, 0.01 * g) for w, g in zip(ws, K.gradients(loss, ws))]
train = K.function([x, y], [loss], updates=updates)
def step(n): train([np.zeros((n, 16, 16, 3)), np.ones((n, 10))])
for n in (1, 150, 2): step(n)
before = resident()
for i in range(60): step(3 + 37 * i % 148)
print(resident() - before)
"""


# Megabytes more after 60 batch sizes of up to 150.
@pytest.mark.parametrize("engine, most", [("onnx", 60), ("cntk", 120), ("tensorflow", 150)])
def test_many_batch_sizes(engine, most):
    engine_process.skip_unless_it_runs(engine_process.python(engine, engine_process.RUN), engine)
    done = engine_process.python(engine, PROGRAM, HORNGATE_PLAN_BYTES="8000000")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < most, f"{done.stdout.strip()} MB more"
