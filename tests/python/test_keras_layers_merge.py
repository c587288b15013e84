"""Layers of several inputs, C++ against Keras."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases
from keras.models import Model

from keras import layers

MERGES = ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"]


def numbers(rng, *shape):
    return rng.normal(size=shape).astype("float32")


def opened(rng, shape):
    """Some sizes unknown."""
    return tuple(None if rng.integers(4) == 0 else n for n in shape)


def merge_case(rng, name):
    full = tuple(int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 4))))
    count = 2 if name == "Subtract" else int(rng.integers(2, 5))
    samples = int(rng.integers(1, 4))
    inputs, data = [], []
    for _ in range(count):
        shape = full
        if rng.integers(3) == 0:
            shape = tuple(n if rng.integers(2) else 1 for n in full)
        if rng.integers(4) == 0:
            shape = shape[int(rng.integers(0, len(shape))) :]
        inputs.append(layers.Input(shape=shape if rng.integers(2) else opened(rng, shape)))
        data.append(numbers(rng, samples, *shape))
    y = getattr(layers, name)()(inputs)
    return Model(inputs, y), data, bool(rng.integers(2))


def concatenate_case(rng):
    full = [int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 4)))]
    axis = int(rng.integers(1, len(full) + 1))
    inputs, data = [], []
    for _ in range(int(rng.integers(2, 5))):
        shape = list(full)
        shape[axis - 1] = int(rng.integers(1, 5))
        known = list(shape)
        if rng.integers(3) == 0:
            known[axis - 1] = None
        inputs.append(layers.Input(shape=known))
        data.append(numbers(rng, 3, *shape))
    given = axis if rng.integers(2) else axis - len(full) - 1
    return Model(inputs, layers.Concatenate(axis=given)(inputs)), data, False


def dot_case(rng):
    left = [int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 4)))]
    right = [int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 4)))]
    a, b = int(rng.integers(1, len(left) + 1)), int(rng.integers(1, len(right) + 1))
    if rng.integers(2):
        b = min(a, len(right))
        a = b = min(a, b)
    right[b - 1] = left[a - 1]
    axes = a if a == b and rng.integers(2) else [a, b]
    if a == len(left) and b == len(right) and rng.integers(2):
        axes = -1
    inputs = [layers.Input(shape=left), layers.Input(shape=right)]
    y = layers.Dot(axes, normalize=bool(rng.integers(2)))(inputs)
    return Model(inputs, y), [numbers(rng, 3, *left), numbers(rng, 3, *right)], False


def masked_case(rng, name):
    """Some inputs come through Masking, with steps of zeros."""
    time, width = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    count = 2 if name in ("Subtract", "Dot") else int(rng.integers(2, 4))
    inputs, values, data = [], [], []
    for i in range(count):
        x = layers.Input(shape=(time, width))
        inputs.append(x)
        values.append(layers.Masking()(x) if i == 0 or rng.integers(2) else x)
        array = numbers(rng, 3, time, width)
        array[rng.integers(0, 2, size=(3, time)) == 0] = 0
        data.append(array)
    if name == "Concatenate":
        layer = layers.Concatenate(axis=int(rng.choice([-1, 2])))
        if all(v is not x for v, x in zip(values, inputs)) and rng.integers(2):
            layer = layers.Concatenate(axis=1)
    elif name == "Dot":
        layer = layers.Dot(2)
    else:
        layer = getattr(layers, name)()
    return Model(inputs, layer(values)), data, False


@pytest.mark.parametrize("seed", range(3))
def test_merge(seed):
    rng = np.random.default_rng(seed)
    made = [merge_case(rng, name) for name in MERGES * 8]
    made += [concatenate_case(rng) for _ in range(20)]
    made += [dot_case(rng) for _ in range(30)]
    made += [masked_case(rng, name) for name in (MERGES + ["Concatenate", "Dot"]) * 3]
    keras_cases.check(made)


def test_merge_of_one_input_and_dtype():
    x = layers.Input(shape=(3,), dtype="float64")
    y = layers.Input(shape=(3,), dtype="float64")
    rng = np.random.default_rng(0)
    data = [rng.normal(size=(2, 3)), rng.normal(size=(2, 3))]
    keras_cases.check(
        [(Model([x, y], getattr(layers, n)(dtype="float64")([x, y])), data, False) for n in MERGES]
    )
    same = [(Model(x, getattr(layers, n)(dtype="float64")([x, x])), data[0], False) for n in MERGES]
    keras_cases.check(same)
