"""HORNGATE_PLAIN=1: other code, the same results."""

import json
import os
import subprocess
import sys

import numpy as np

PROGRAM = """
import json
import numpy as np
import horngate as K

rng = np.random.default_rng(0)
def weight(*shape):
    return K.variable(rng.normal(0, 0.2, shape))

def images():
    '''Convolutions, normalization and pooling.'''
    x = K.placeholder((None, 9, 8, 16))
    p = [weight(3, 3, 16, 16), weight(3, 3, 16, 2), weight(16), weight(16), weight(3, 3, 4, 32)]
    y, _, _ = K.normalize_batch_in_training(K.conv2d(x, p[0], padding="same",
                                            data_format="channels_last"), p[2], p[3], [0, 1, 2])
    y = K.depthwise_conv2d(K.relu(y), p[1], strides=(2, 2), padding="same",
                           data_format="channels_last")
    y = K.conv2d_transpose(y, p[4], (K.shape(y)[0], 10, 8, 4), strides=(2, 2), padding="same",
                           data_format="channels_last")
    y = K.pool2d(y, (2, 2), strides=(2, 2), pool_mode="max", data_format="channels_last")
    return x, rng.normal(size=(2, 9, 8, 16)), p, K.mean(K.square(K.softmax(y)))

def sequences():
    '''A loop.'''
    x = K.placeholder((None, 5, 4))
    p = [weight(4, 6), weight(6, 6)]
    def step(x, states):
        h = K.tanh(K.dot(x, p[0]) + K.dot(states[0], p[1]))
        return h, [h]
    start = K.tile(K.sum(x, axis=(1, 2))[:, None], (1, 6))
    return x, rng.normal(size=(3, 5, 4)), p, K.mean(K.sigmoid(K.rnn(step, x, [start])[0]))

found = []
for make in (images, sequences):
    x, data, p, loss = make()
    grads = K.gradients(loss, p)
    train = K.function([x], [loss, *grads], updates=[K.update_sub(w, g) for w, g in zip(p, grads)])
    for _ in range(3):
        result = train([data.astype("f")])
    found += [np.asarray(r).ravel().tolist() for r in result]
print(json.dumps(found))
"""


def run(plain):
    environment = {**os.environ, "HORNGATE_PLAIN": plain, "HORNGATE_LOG": "steps"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stderr.splitlines() if line.startswith("step ")]
    return json.loads(done.stdout), steps


def test_plain_agrees_and_is_plain():
    fast, fast_steps = run("0")
    slow, slow_steps = run("1")
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    assert len(slow_steps) > 2 * len(fast_steps)
    assert any("pack" in s for s in fast_steps) or any("batch_norm" in s for s in fast_steps)
    for name in ("pack", "batch_norm", "softmax", "pool"):
        assert not any(name in s for s in slow_steps), name


FUNCTIONS = """
import json
import numpy as np
import horngate as K

rng = np.random.default_rng(1)
x = K.placeholder((4, 6, 6, 3), dtype="float64")
flat = K.reshape(x, (24, 18))
wide = flat * 20
made = [
    K.softplus(flat), K.softplus(wide), K.elu(wide), K.sigmoid(wide), K.l2_normalize(flat, 1), flat % 0.7,
    flat // 0.3, K.logsumexp(wide, 1), K.softmax(wide), K.cumprod(flat, 1), K.cumsum(flat, 0),
    K.categorical_crossentropy(K.softmax(flat), flat, from_logits=True), K.prod(flat, 1),
    K.normalize_batch_in_training(flat * 1e-2, None, None, [0])[0],
]
for mode in ("max", "avg"):
    for padding in ("same", "valid"):
        made.append(K.pool2d(x, (3, 2), (2, 2), padding, data_format="channels_last", pool_mode=mode))
slopes = [K.gradients(K.sum(K.sin(m)), [x])[0] for m in made]
curves = [K.gradients(K.sum(K.cos(s)), [x])[0] for s in slopes if s is not None]
results = K.function([x], made + [s for s in slopes + curves if s is not None])(
    [rng.normal(size=(4, 6, 6, 3))]
)
print(json.dumps([np.asarray(r).ravel().tolist() for r in results]))
"""


def test_functions_in_parts():
    """What has a decomposition gives the same with it, and the same derivatives."""
    found = []
    for plain in "01":
        environment = {**os.environ, "HORNGATE_PLAIN": plain}
        done = subprocess.run(
            [sys.executable, "-c", FUNCTIONS], capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout.splitlines()[-1]))
    assert len(found[0]) == len(found[1]) > 40
    for a, b in zip(*found):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_views_of_views():
    """Without the rules that make one view of them."""
    program = """
import numpy as np, horngate as K
x = K.placeholder((3, 4))
y = K.exp(x)
z = K.squeeze(K.expand_dims(K.expand_dims(y, 0), 0), 0)
w = K.dot(K.squeeze(z, 0), K.constant(np.ones((4, 4))))
feed = np.arange(12.0).reshape(3, 4) / 12
for _ in range(3):
    got = K.function([x], [z * 2, w + 1, K.sum(K.tanh(w), 0)])([feed])
    wanted = np.exp(feed)
    sums = wanted @ np.ones((4, 4))
    for a, b in zip(got, [wanted[None] * 2, sums + 1, np.tanh(sums).sum(0)]):
        np.testing.assert_allclose(a, b, rtol=1e-5)
"""
    environment = {**os.environ, "HORNGATE_WITHOUT": "simplify", "HORNGATE_VERIFY": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
