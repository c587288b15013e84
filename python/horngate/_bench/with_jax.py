"""The cases on JAX."""

import os

import jax
import jax.numpy as jnp
import numpy as np

from horngate._bench.cases import RATE


def threads(count):
    """It takes the CPUs that the process may run on."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def _on(function):
    compiled = jax.jit(function)

    def make(*arrays):
        arrays = [jnp.asarray(a) for a in arrays]
        return lambda: np.asarray(compiled(*arrays))

    return make


call = _on(lambda x: x + 1)
product = _on(lambda a, b: a @ b)
gelu = _on(lambda x: jax.nn.gelu(x, approximate=True))
softmax = _on(lambda x: jax.nn.softmax(x, -1))
convolution = _on(
    lambda x, w: jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
)


def training(x, labels, *weights):
    def loss_of(weights, x, labels):
        w1, b1, w2, b2 = weights
        scores = jax.nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean((jax.nn.log_softmax(scores) * labels).sum(-1))

    @jax.jit
    def update(weights, x, labels):
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, labels)
        return loss, [w - RATE * g for w, g in zip(weights, gradients)]

    state = [jnp.asarray(w) for w in weights]
    x, labels = jnp.asarray(x), jnp.asarray(labels)

    def step():
        nonlocal state
        loss, state = update(state, x, labels)
        return float(loss)

    return step
