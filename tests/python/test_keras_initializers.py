"""First weights of the C++ library beside Keras's: with a seed the same numbers, bit for bit."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_recurrent import Draw  # noqa: E402
from keras import initializers, layers, models  # noqa: E402

BY_SEED = [
    "lecun_uniform",
    "lecun_normal",
    "glorot_uniform",
    "glorot_normal",
    "he_uniform",
    "he_normal",
]
CLASSES = [
    "Zeros",
    "Ones",
    "Constant",
    "RandomNormal",
    "RandomUniform",
    "TruncatedNormal",
    "VarianceScaling",
    "Orthogonal",
    "Identity",
]


def drawn(name, d):
    seed = {"seed": d.size(0, 1000)}
    if name in BY_SEED:
        return seed
    return {
        "Zeros": {},
        "Ones": {},
        "Constant": {"value": d.of([0.5, -2, 3])},
        "RandomNormal": {"mean": d.of([0.0, 1.5]), "stddev": d.of([0.05, 2.0]), **seed},
        "RandomUniform": {"minval": d.of([-0.05, -2]), "maxval": d.of([0.05, 3.0]), **seed},
        "TruncatedNormal": {"mean": d.of([0.0, 1.5]), "stddev": d.of([0.05, 2.0]), **seed},
        "VarianceScaling": {
            "scale": d.of([1.0, 2.5]),
            "mode": d.of(["fan_in", "fan_out", "fan_avg"]),
            "distribution": d.of(["normal", "uniform"]),
            **seed,
        },
        "Orthogonal": {"gain": d.of([1.0, 1.5]), **seed},
        "Identity": {"gain": d.of([1.0, -2.0])},
    }[name]


def test_these_are_all():
    own = [
        v
        for v in vars(initializers).values()
        if getattr(v, "__module__", "") == "keras.initializers"
    ]
    classes = {v.__name__ for v in own if inspect.isclass(v)} - {"Initializer"}
    assert classes == set(CLASSES)
    seeded = {
        v.__name__
        for v in own
        if inspect.isfunction(v) and "seed" in inspect.signature(v).parameters
    }
    assert seeded == set(BY_SEED)


@pytest.mark.parametrize("name", CLASSES + BY_SEED)
def test_first_weights(name, tmp_path):
    cases, wanted = [], []
    for seed in range(6):
        d = Draw(seed)
        first = getattr(initializers, name)(**drawn(name, d))
        before = json.dumps(first.get_config())  # Keras counts the seed up
        if name == "Identity" or seed % 2:
            size = d.size(1, 7)
            units = size if name == "Identity" else d.size(1, 7)
            layer = layers.Dense(units, kernel_initializer=first, input_shape=(size,))
        else:
            sizes = d.size(1, 3), d.size(1, 3)
            layer = layers.Conv2D(
                d.size(1, 5), sizes, kernel_initializer=first, input_shape=(5, 5, d.size(1, 4))
            )
        model = models.Sequential([layer])
        text = model.to_json().replace(json.dumps(first.get_config()), before)
        cases.append([{"do": "from_json", "text": text}, {"do": "weights"}])
        wanted.append((first, model.get_weights()[0]))
    for got, (first, weights) in zip(keras_cases.all_steps(cases, tmp_path), wanted, strict=True):
        assert not isinstance(got, dict), got
        ours = keras_cases.array_of(got[1][0])
        assert ours.shape == weights.shape and ours.dtype == weights.dtype
        if name != "Orthogonal":
            np.testing.assert_array_equal(ours, weights)
            continue
        # Keras draws with NumPy: other numbers, but rows or columns as long, at right angles.
        flat = ours.reshape(-1, ours.shape[-1]).astype("float64")
        flat = flat if flat.shape[0] <= flat.shape[1] else flat.T
        np.testing.assert_allclose(flat @ flat.T, first.gain**2 * np.eye(len(flat)), atol=1e-5)
