"""The cases on NumPy. It has no convolution of this kind."""

import numpy as np

from horngate._bench.cases import GELU, RATE


def threads(count):
    """Nothing: the variables of its libraries are set."""


def call(x):
    return lambda: x + 1


def product(a, b):
    return lambda: a @ b


def gelu(x):
    return lambda: 0.5 * x * (1 + np.tanh(GELU * (x + 0.044715 * x * x * x)))


def softmax(x):
    def run():
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    return run


def training(x, labels, *weights):
    w1, b1, w2, b2 = (w.copy() for w in weights)

    def step():
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        scores -= scores.max(-1, keepdims=True)
        powers = np.exp(scores)
        sums = powers.sum(-1, keepdims=True)
        loss = np.mean(np.log(sums)[:, 0] - (scores * labels).sum(-1))
        d_scores = (powers / sums - labels) / np.float32(len(x))
        d_hidden = (d_scores @ w2.T) * (hidden > 0)
        for weight, gradient in (
            (w2, hidden.T @ d_scores),
            (b2, d_scores.sum(0)),
            (w1, x.T @ d_hidden),
            (b1, d_hidden.sum(0)),
        ):
            weight -= np.float32(RATE) * gradient
        return loss

    return step
