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
