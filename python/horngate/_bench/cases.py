"""What is computed, and the data for it. Each contender has a module with a function per case."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    """A row of the table."""

    name: str
    title: str
    flops: float = 0.0  # of one call, where that is what counts


def _normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


CASES = {
    case.name: case
    for case in (
        Case("call", "x + 1 of one number: what a call costs"),
        Case("product", "product of two matrices, 1024 x 1024", 2.0 * 1024**3),
        Case("gelu", "GELU of a million numbers"),
        Case("softmax", "softmax, 1024 x 1000"),
        Case(
            "convolution", "3 x 3 convolution, 8 images 56 x 56 x 64", 2.0 * 8 * 56**2 * 9 * 64**2
        ),
        Case("training", "training step of a perceptron, 128 x 784, 512, 10"),
    )
}
GELU = 0.7978845608  # sqrt(2 / pi)
RATE = 0.01


def data(name):
    """The arrays of a case."""
    if name == "call":
        return [np.ones(1, "float32")]
    if name == "product":
        return [_normal(1024, 1024) / 32, _normal(1024, 1024)]
    if name == "gelu":
        return [_normal(1000, 1000)]
    if name == "softmax":
        return [_normal(1024, 1000)]
    if name == "convolution":
        return [_normal(8, 56, 56, 64), _normal(3, 3, 64, 64) / 24]
    labels = np.eye(10, dtype="float32")[np.arange(128) % 10]
    weights = [_normal(784, 512) / 28, np.zeros(512, "float32")]
    weights += [_normal(512, 10) / 23, np.zeros(10, "float32")]
    return [_normal(128, 784), labels, *weights]
