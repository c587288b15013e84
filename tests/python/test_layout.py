"""Nets give the same whichever way their images are laid out."""

import os
import subprocess
import sys
from pathlib import Path

import horngate as K
import numpy as np
import pytest

RNG = np.random.default_rng(3)
IMAGES = RNG.standard_normal((4, 12, 10, 3)).astype("float32")
WEIGHTS = {
    "first": RNG.standard_normal((3, 3, 3, 16)),
    "second": RNG.standard_normal((3, 3, 16, 16)) / 8,
    "third": RNG.standard_normal((3, 3, 16, 16)) / 8,
    "deep": RNG.standard_normal((3, 3, 16, 1)),
    "up": RNG.standard_normal((3, 3, 16, 32)) / 8,
    "dense": RNG.standard_normal((16, 5)),
    "bias": RNG.standard_normal(16),
    "gamma": RNG.uniform(0.5, 1.5, 16),
    "beta": RNG.standard_normal(16),
}


def net(x, w, data_format):
    """Everything that convolutional nets do to images between a convolution and a dense layer."""
    last = data_format == "channels_last"
    axes, channels = ([0, 1, 2], 3) if last else ([0, 2, 3], 1)

    def conv(x, name):
        return K.conv2d(x, w[name], padding="same", data_format=data_format)

    x = K.relu(K.bias_add(conv(x, "first"), w["bias"], data_format=data_format))
    y, mean, variance = K.normalize_batch_in_training(
        conv(x, "second"), w["gamma"], w["beta"], axes
    )
    y = K.relu(conv(K.relu(y), "third") + x)
    y = K.spatial_2d_padding(y, ((1, 1), (0, 2)), data_format)
    y = K.depthwise_conv2d(y, w["deep"], data_format=data_format)
    y = K.concatenate(
        [
            K.pool2d(y, (2, 2), (2, 2), "same", data_format, "max"),
            K.pool2d(y, (2, 2), (2, 2), "same", data_format, "avg"),
        ],
        axis=channels,
    )
    shape = (4, 12, 10, 16) if last else (4, 16, 12, 10)
    y = K.conv2d_transpose(y, w["up"], shape, (2, 2), "same", data_format)
    y = y - K.mean(y, axis=channels, keepdims=True)
    features = K.mean(K.tanh(y), axis=axes[1:])
    return K.dot(features, w["dense"]), mean, variance, y


def results(data_format):
    images = IMAGES if data_format == "channels_last" else IMAGES.transpose(0, 3, 1, 2).copy()
    x = K.placeholder(shape=images.shape)
    w = {name: K.variable(value.astype("float32")) for name, value in WEIGHTS.items()}
    scores, mean, variance, y = net(x, w, data_format)
    loss = K.sum(K.square(scores))
    gradients = K.gradients(loss, [x, *w.values()])
    values = K.function([x], [scores, mean, variance, y, *gradients])([images])
    names = ["scores", "mean", "variance", "y", "x", *w]
    values = dict(zip(names, values, strict=True))
    if data_format == "channels_first":
        for name in ("y", "x"):
            values[name] = values[name].transpose(0, 2, 3, 1)
    return values


@pytest.mark.parametrize("name", ["scores", "mean", "variance", "y", "x", *WEIGHTS])
def test_both_layouts_agree(name):
    last, first = results("channels_last")[name], results("channels_first")[name]
    assert last.shape == first.shape
    np.testing.assert_allclose(first, last, rtol=0, atol=2e-5 * np.abs(last).max())


def test_channels_first_images_are_turned_once():
    program = "import test_layout; test_layout.results('channels_first')"
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        env={**os.environ, "HORNGATE_LOG": "steps"},
        capture_output=True,
        text=True,
        check=True,
    )
    steps = [line for line in run.stderr.splitlines() if line.startswith("step ")]
    assert any(": conv" in step for step in steps)
    # The images, their gradient and y, which is asked for in the user's order.
    assert sum("transpose" in step for step in steps) <= 5, steps


def deep(x, w):
    """Convolutions enough that it pays to turn the images once; channels_first."""
    for _ in range(12):
        x = K.tanh(K.conv2d(x, w, padding="same", data_format="channels_first"))
    return x


BEHIND = {
    "mean of rows": (lambda y: K.mean(y, axis=3), lambda y: y.mean(3)),
    "maximum of columns": (lambda y: K.max(y, axis=2), lambda y: y.max(2)),
    "sum of channels": (lambda y: K.sum(y, axis=1), lambda y: y.sum(1)),
    "sum of channels and rows": (lambda y: K.sum(y, axis=[1, 2]), lambda y: y.sum((1, 2))),
    "sum of images": (lambda y: K.sum(y, axis=[0, 3]), lambda y: y.sum((0, 3))),
    "every second channel": (lambda y: y[:, 1::2] * 2, lambda y: y[:, 1::2] * 2),
    "every third row": (lambda y: y[:, :, 1::3] * 2, lambda y: y[:, :, 1::3] * 2),
    "columns backwards": (lambda y: y[:, :, 2:, ::-2] * 2, lambda y: y[:, :, 2:, ::-2] * 2),
    "rows of some": (lambda y: K.exp(y[1:, 3:, :5]), lambda y: np.exp(y[1:, 3:, :5])),
    "channels joined": (
        lambda y: K.concatenate([y, y[:, 2:5]], axis=1),
        lambda y: np.concatenate([y, y[:, 2:5]], 1),
    ),
    "rows joined": (
        lambda y: K.concatenate([y * 2, y[:, :, 2:5]], axis=2),
        lambda y: np.concatenate([y * 2, y[:, :, 2:5]], 2),
    ),
    "columns joined": (
        lambda y: K.concatenate([y[:, :, :, 2:5], y], axis=3),
        lambda y: np.concatenate([y[:, :, :, 2:5], y], 3),
    ),
    "margins": (
        lambda y: K.spatial_2d_padding(y, ((1, 2), (3, 0)), "channels_first"),
        lambda y: np.pad(y, ((0, 0), (0, 0), (1, 2), (3, 0))),
    ),
    "softmax of channels": (
        lambda y: K.softmax(y, axis=1),
        lambda y: np.exp(y) / np.exp(y).sum(1, keepdims=True),
    ),
    "one value per channel": (
        lambda y: y * K.constant(np.arange(16.0).reshape(16, 1, 1)),
        lambda y: y * np.arange(16.0).reshape(16, 1, 1),
    ),
    "one value per column": (
        lambda y: y - K.mean(y, axis=[1, 2], keepdims=True),
        lambda y: y - y.mean((1, 2), keepdims=True),
    ),
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_stands_behind_convolutions(name):
    ours, wanted = BEHIND[name]
    rng = np.random.default_rng(7)
    w = K.variable(rng.standard_normal((3, 3, 16, 16)) / 8)
    x = K.placeholder((None, 16, 8, 7))
    y = deep(x, w)
    feed = rng.standard_normal((3, 16, 8, 7)).astype("float32")
    images = K.function([x], [y])([feed])[0]
    got = K.function([x], [ours(y)])([feed])[0]
    np.testing.assert_allclose(got, wanted(images.astype("float64")), rtol=1e-4, atol=1e-5)


def test_channels_first_updates_read_the_old_values():
    """Two variables that take each other's value, by way of convolutions."""
    rng = np.random.default_rng(8)
    starts = [rng.standard_normal((3, 3, 16, 16)) / 8 for _ in range(2)]
    a, b = K.variable(starts[0]), K.variable(starts[1])
    x = K.placeholder((2, 16, 6, 6))
    loss = K.mean(deep(x, a) * deep(x, b))
    f = K.function([x], [loss], updates=[(a, b * 0.5 + a), (b, a * 2 - b)])
    feed = rng.standard_normal((2, 16, 6, 6))
    for _ in range(2):
        f([feed])
        starts = [starts[1] * 0.5 + starts[0], starts[0] * 2 - starts[1]]
        for v, wanted in zip((a, b), starts):
            np.testing.assert_allclose(K.get_value(v), wanted, rtol=1e-5, atol=1e-5)
