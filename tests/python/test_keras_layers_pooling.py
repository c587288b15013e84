"""Pooling layers of the C++ library against Keras: random configurations."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_spatial import Draw, case, check_spelled, only, spelled, spread  # noqa: E402
from keras import layers  # noqa: E402
from keras.models import Model  # noqa: E402

RANDOM = int(os.environ.get("HORNGATE_KERAS_RANDOM", "60"))  # of each class


def windows(draw, name, rank):
    options = {"padding": draw.pick("valid", "same"), **draw.common()}
    if draw.chance(0.8):
        options["pool_size"] = draw.sizes(rank, 1, 3)
    if draw.chance():
        options["strides"] = draw.sizes(rank, 1, 3)
    if draw.chance(0.8):
        options["data_format"] = draw.data_format()
    spatial = [n + draw.size(0, 4) for n in spread(options.get("pool_size", 2), rank)]
    format = options.get("data_format", "channels_last")
    x, numbers = draw.input(spatial, draw.size(1, 3), format, dtype=options["dtype"])
    return case(draw, getattr(layers, name)(**options), x, numbers)


def everywhere(draw, name, rank):
    options = draw.common()
    if draw.chance(0.8):
        options["data_format"] = draw.data_format()
    format = options.get("data_format", "channels_last")
    spatial = [draw.size(1, 5) for _ in range(rank)]
    x, numbers = draw.input(spatial, draw.size(1, 3), format, dtype=options["dtype"])
    return case(draw, getattr(layers, name)(**options), x, numbers)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode", ["Max", "Average"])
def test_windows(mode, rank):
    name = f"{mode}Pooling{rank}D"
    keras_cases.check([windows(Draw(name, seed), name, rank) for seed in range(RANDOM)])


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode", ["GlobalMax", "GlobalAverage"])
def test_all_positions(mode, rank):
    name = f"{mode}Pooling{rank}D"
    keras_cases.check([everywhere(Draw(name, seed), name, rank) for seed in range(RANDOM)])


def masked(draw):
    steps, channels, samples = draw.size(2, 5), draw.size(1, 3), draw.size(1, 4)
    x = layers.Input(shape=(steps, channels))  # Keras cannot do it where the steps are not known
    numbers = draw.numbers(samples, steps, channels)
    for sample in numbers:  # at least the first step counts
        sample[draw.size(1, steps) :] = 0.0
    # The bias makes numbers of the steps that do not count.
    y = layers.Dense(2, bias_initializer="ones")(layers.Masking()(x))
    return Model(x, layers.GlobalAveragePooling1D()(y)), numbers, False


def test_masked_steps_do_not_count():
    keras_cases.check([masked(Draw("masked", seed)) for seed in range(RANDOM)])


def test_defaults_and_other_names():
    shapes = {1: (5, 2), 2: (5, 6, 2), 3: (5, 4, 6, 2)}
    names = {
        "MaxPooling": "MaxPool",
        "AveragePooling": "AvgPool",
        "GlobalMaxPooling": "GlobalMaxPool",
        "GlobalAveragePooling": "GlobalAvgPool",
    }
    check_spelled(
        [
            spelled(getattr(layers, f"{family}{rank}D")(), shape, only(), f"{name}{rank}D")
            for rank, shape in shapes.items()
            for family, short in names.items()
            for name in (family, short)
        ]
    )
