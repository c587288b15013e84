"""States of size 1 that grow to an open size in the first step: what a step makes of them must not remember the 1."""

import horngate as K
import numpy as np
import pytest

STEPS = 3


def inner_loop(s):
    """An inner loop that begins with the state, runs over it, and needs all of it in each step."""

    def step(x, states):
        y = K.tanh(x + states[0] + K.mean(s))
        return y, [y]

    return K.rnn(step, K.stack([s, s], axis=1), [s])[0]


def inner_loop_of(s):
    t = s
    for _ in range(2):
        t = np.tanh(s + t + s.mean())
    return t


def normalised(s):
    return (s - s.mean(0)) / np.sqrt(s.var(0) + 1e-3)


# What a step does with its state, and the same in NumPy.
USES = {
    "mean": (lambda s: K.mean(s, axis=1, keepdims=True), lambda s: s.mean(1, keepdims=True)),
    "mean of all": (K.mean, np.mean),
    "variance": (lambda s: K.var(s, axis=1, keepdims=True), lambda s: s.var(1, keepdims=True)),
    "sum": (lambda s: K.sum(s, axis=1, keepdims=True), lambda s: s.sum(1, keepdims=True)),
    "first": (lambda s: s[:, 0:1], lambda s: s[:, 0:1]),
    "last": (lambda s: s[:, -1:], lambda s: s[:, -1:]),
    "size": (lambda s: K.cast(K.shape(s)[1], "float64") * s, lambda s: s.shape[1] * s),
    "tile": (lambda s: K.tile(s, [1, 2])[:, 1:2], lambda s: np.tile(s, [1, 2])[:, 1:2]),
    "repeat": (lambda s: K.sum(K.repeat(s, 2), axis=1), lambda s: 2 * s),
    "elements": (
        lambda s: K.sum(K.repeat_elements(s, 2, axis=1), axis=1, keepdims=True),
        lambda s: 2 * s.sum(1, keepdims=True),
    ),
    "flatten": (lambda s: K.sum(K.flatten(s)), np.sum),
    "reshape": (lambda s: K.reshape(s, (2, -1)), lambda s: s),
    "product": (lambda s: K.dot(s, K.transpose(s))[:, 0:1], lambda s: (s @ s.T)[:, 0:1]),
    "batch norm": (lambda s: K.normalize_batch_in_training(s, None, None, [0])[0], normalised),
    "map": (lambda s: K.map_fn(lambda r: r * K.mean(s), s), lambda s: s * s.mean()),
    "fold": (lambda s: K.foldl(lambda a, r: a + r, s), lambda s: s.sum(0)),
    "branch": (
        lambda s: K.switch(K.sum(s) > 0.0, lambda: K.sin(s) * K.mean(s), lambda: s),
        lambda s: np.sin(s) * s.mean() if s.sum() > 0 else s,
    ),
    "loop": (inner_loop, inner_loop_of),
}


def wanted(use, x, w, h):
    state = np.repeat(h, len(w), 1)
    for t in range(STEPS):
        state = np.tanh(x[:, t] * w + use(state))
    return state


def differences(f, arrays):
    for i, a in enumerate(arrays):
        out = np.zeros_like(a)
        for at in np.ndindex(a.shape):
            low, high = a.copy(), a.copy()
            low[at] -= 1e-6
            high[at] += 1e-6
            ends = [f(*arrays[:i], end, *arrays[i + 1 :]) for end in (low, high)]
            out[at] = (ends[1] - ends[0]) / 2e-6
        yield out


@pytest.fixture
def doubles():
    before = K.floatx()
    K.set_floatx("float64")
    yield
    K.set_floatx(before)


@pytest.mark.parametrize("name", USES)
def test_values_and_gradients(doubles, name):
    use, oracle = USES[name]
    random = np.random.RandomState(3)
    x, w, h = K.placeholder((2, STEPS, 1)), K.placeholder((None,)), K.placeholder((2, 1))

    def step(now, states):
        y = K.tanh(now * w + use(states[0]))
        return y, [y]

    last = K.rnn(step, x, [h])[0]
    f = K.function([x, w, h], [last, *K.gradients(K.sum(K.square(last)), [x, w, h])])
    for width in (3, 1, 5):
        arrays = [random.uniform(0.2, 1, s) for s in ((2, STEPS, 1), (width,), (2, 1))]
        value, *gradients = f(arrays)
        np.testing.assert_allclose(value, wanted(oracle, *arrays), rtol=1e-12)
        numeric = differences(lambda *a: (wanted(oracle, *a) ** 2).sum(), arrays)
        for got, want in zip(gradients, numeric):
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
