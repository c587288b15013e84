"""Engines that leave sizes open compile a function once for all batch sizes, with the answers of native. Each program
is a process of its own, for a process holds one engine."""

import ast

import engine_process
import pytest

START = """
import horngate as K, numpy as np
rng = np.random.default_rng(0)

def weight(*shape):
    return K.variable(rng.normal(0, 0.3, shape))

def data(*shape):
    return rng.normal(0, 1, shape).astype("float32")

def show(arrays):
    print([np.asarray(a, "float64").ravel().tolist() for a in arrays])

def sgd(loss, ws):
    return [K.update_sub(w, 0.1 * g) for w, g in zip(ws, K.gradients(loss, ws))]
"""

# Name: program, functions that it makes.
PROGRAMS = {
    "convolutions": (
        """
x, t = K.placeholder((None, 8, 8, 2)), K.placeholder((None, 3))
ws = [weight(3, 3, 2, 4), weight(4), weight(4), weight(4), weight(3, 3, 4, 4), weight(16, 3), weight(3)]
h = K.relu(K.bias_add(K.conv2d(x, ws[0], padding="same"), ws[1]))
h, mean, var = K.normalize_batch_in_training(h, ws[2], ws[3], [0, 1, 2])
h = K.pool2d(h, (2, 2), strides=(2, 2))
h = K.pool2d(K.conv2d(h, ws[4], strides=(1, 1), padding="same"), (2, 2), strides=(2, 2), pool_mode="avg")
p = K.softmax(K.bias_add(K.dot(K.batch_flatten(h), ws[5]), ws[6]))
loss = K.mean(K.categorical_crossentropy(t, p))
train = K.function([x, t], [loss, mean, var], updates=sgd(loss, ws))
predict = K.function([x], [p, K.argmax(p)])
for n in (6, 4, 3, 6):
    show(train([data(n, 8, 8, 2), np.eye(3)[np.arange(n) % 3]]))
    show(predict([data(n, 8, 8, 2)]))
""",
        2,
    ),
    "loops": (
        """
x, t = K.placeholder((None, 12, 3)), K.placeholder((None, 2))
ws = [weight(3, 5), weight(5, 5), weight(5, 2)]

def step(x, states):
    h = K.tanh(K.dot(x, ws[0]) + K.dot(states[0], ws[1]))
    return h, [h]

start = K.tile(K.expand_dims(K.sum(K.zeros_like(x), axis=(1, 2))), [1, 5])
last, _, _ = K.rnn(step, x, [start])
loss = K.mean(K.square(K.dot(last, ws[2]) - t))
train = K.function([x, t], [loss, last], updates=sgd(loss, ws))
for n in (6, 4, 3, 6):
    show(train([data(n, 12, 3), data(n, 2)]))
""",
        1,
    ),
    "two open sizes": (
        """
x = K.placeholder((None, None, 4))
w = weight(4, 3)
y = K.mean(K.softmax(x, axis=-1) * 2 + K.square(x), axis=1)
f = K.function([x], [y, K.sum(K.abs(x), axis=(0, 1))])
for n, time in ((6, 5), (4, 9), (4, 4), (7, 3)):
    show(f([data(n, time, 4)]))
""",
        1,
    ),
    "lookups": (
        """
i = K.placeholder((None, 6), dtype="int32")
table = weight(10, 4)
e = K.gather(table, i)
loss = K.mean(K.square(K.sum(e[:, 1:, :], axis=1) - K.max(e, axis=1)))
f = K.function([i], [loss, e], updates=sgd(loss, [table]))
for n in (5, 3, 8):
    show(f([rng.integers(0, 10, (n, 6))]))
show([K.get_value(table)])
""",
        1,
    ),
    # One sample is another graph: nothing is repeated along the batch.
    "one sample": (
        """
x = K.placeholder((None, 4))
w = weight(4, 3)
loss = K.mean(K.square(K.dot(x, w)))
f = K.function([x], [loss, K.gradients(loss, [x])[0]])
for n in (5, 1, 3, 1):
    show(f([data(n, 4)]))
""",
        None,
    ),
}


def run(engine, program, **environment):
    done = engine_process.python(engine, START + program, HORNGATE_LOG="compile", **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = [ast.literal_eval(line.replace("nan", "None")) for line in done.stdout.splitlines()]
    return answers, done.stderr


def close(a, b):
    """Within what one rounding per operation can do."""
    return all(
        len(x) == len(y) and all(abs(p - q) <= 2e-4 * max(1, abs(q)) for p, q in zip(x, y))
        for x, y in zip(a, b, strict=True)
    )


@pytest.fixture(scope="module", params=["tensorflow", "theano"])
def engine(request):
    done = engine_process.python(request.param, "import horngate as K; K.eval(K.constant(1.0) + 1)")
    engine_process.skip_unless_it_runs(done, request.param)
    return request.param


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_compilation_and_the_answers_of_native(engine, name):
    program, functions = PROGRAMS[name]
    answers, log = run(engine, program, HORNGATE_THEANO_MODE="FAST_COMPILE")
    expected, _ = run("native", program)
    for ours, theirs in zip(answers, expected, strict=True):
        assert close(ours, theirs)
    compiled = log.count(f"engine {engine}: ")
    assert functions is None or compiled == functions, log
    assert "compiled for these sizes only" not in log or functions is None


def test_initial_values_compile_nothing(engine):
    _, log = run(
        engine,
        """
for block in range(16):
    for shape in ((1, 1, 64, 64), (3, 3, 64, 64), (1, 1, 64, 256)):
        fans = shape[-2] + shape[-1]
        K.variable(K.truncated_normal(shape, 0.0, (2 / fans) ** 0.5))
        K.variable(K.random_uniform(shape, -0.1, 0.1))
        K.zeros(shape[-1:]), K.ones(shape[-1:]), K.random_normal_variable(shape, 0, 1)
""",
    )
    assert f"engine {engine}:" not in log, log
