"""Locally connected layers of the C++ library against Keras: random configurations."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_spatial import Draw, case, check_spelled, only, spelled, spread  # noqa: E402
from keras import layers  # noqa: E402

RANDOM = int(os.environ.get("HORNGATE_KERAS_RANDOM", "60"))  # of each class


def local(draw, rank):
    options = {**draw.weights_options(["kernel"]), **draw.common()}
    kernel = draw.sizes(rank, 1, 3)
    if draw.chance():
        options["strides"] = draw.sizes(rank, 1, 3)
    if rank == 2:
        options["data_format"] = draw.data_format()
    spatial = [n + draw.size(0, 4) for n in spread(kernel, rank)]
    format = options.get("data_format", "channels_last")
    x, numbers = draw.input(spatial, draw.size(1, 3), format, unknown=0, dtype=options["dtype"])
    return case(
        draw,
        getattr(layers, f"LocallyConnected{rank}D")(draw.size(1, 4), kernel, **options),
        x,
        numbers,
    )


@pytest.mark.parametrize("rank", [1, 2])
def test_locally_connected(rank):
    keras_cases.check([local(Draw("local", rank, seed), rank) for seed in range(RANDOM)])


def test_defaults_and_the_implementation_of_tf_keras():
    one, two = layers.LocallyConnected1D(3, 2), layers.LocallyConnected2D(3, 2)
    shapes = [(5, 2), (5, 6, 2)]
    check_spelled(
        [spelled(x, shape, only("filters", "kernel_size")) for x, shape in zip([one, two], shapes)]
    )
    check_spelled(
        [
            spelled(x, shape, lambda c: {**c, "implementation": 1, "data_format": "channels_last"})
            for x, shape in zip([one, two], shapes)
        ]
    )
