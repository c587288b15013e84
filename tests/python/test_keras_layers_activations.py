"""Activations with options, noise and batch normalization as layers, C++ against Keras."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases
from keras.models import Model, Sequential

from keras import layers


def numbers(rng, *shape):
    return (2 * rng.normal(size=shape)).astype("float32")


def random_shape(rng, most=4):
    return tuple(int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, most))))


def options_of(rng, **choices):
    """Each is given in every second case."""
    return {k: v for k, v in choices.items() if rng.integers(2)}


def activation_layer(rng, name, ndim, **more):
    if name in ("LeakyReLU", "ELU"):
        return getattr(layers, name)(**options_of(rng, alpha=float(rng.uniform(0, 2))), **more)
    if name == "ThresholdedReLU":
        return layers.ThresholdedReLU(**options_of(rng, theta=float(rng.uniform(0, 2))), **more)
    if name == "Softmax":
        return layers.Softmax(**options_of(rng, axis=int(rng.integers(1, ndim + 1))), **more)
    if name == "ReLU":
        given = options_of(
            rng,
            max_value=float(rng.uniform(0.5, 3)),
            negative_slope=float(rng.uniform(0, 1)),
            threshold=float(rng.uniform(-1, 1)),
        )
        return layers.ReLU(**given, **more)
    shared = [int(a) for a in range(1, ndim + 1) if rng.integers(2)]
    given = options_of(
        rng,
        alpha_initializer="random_normal",
        alpha_regularizer="l2",
        alpha_constraint="non_neg",
        shared_axes=shared,
    )
    return layers.PReLU(**given, **more)


@pytest.mark.parametrize("seed", range(3))
def test_activation_layers(seed):
    rng = np.random.default_rng(seed)
    made = []
    for name in ["LeakyReLU", "PReLU", "ELU", "ThresholdedReLU", "Softmax", "ReLU"] * 8:
        shape = random_shape(rng)
        dtype = (
            "float64" if rng.integers(5) == 0 and name not in ("ThresholdedReLU",) else "float32"
        )
        layer = activation_layer(rng, name, len(shape), input_shape=shape, dtype=dtype)
        x = numbers(rng, 3, *shape).astype(dtype)
        made.append((Sequential([layer]), x, bool(rng.integers(2))))
    # Sizes that are not known, and masks that go through.
    for name in ["LeakyReLU", "ELU", "ThresholdedReLU", "Softmax", "ReLU"]:
        x = layers.Input(shape=(None, 3))
        y = activation_layer(rng, name, 2)(layers.Masking()(x))
        data = numbers(rng, 2, 4, 3)
        data[0, 1:3] = 0
        made.append((Model(x, y), data, False))
    x = layers.Input(shape=(None, 3))
    made.append(
        (
            Model(x, layers.PReLU(shared_axes=[1], alpha_initializer="ones")(x)),
            numbers(rng, 2, 5, 3),
            True,
        )
    )
    keras_cases.check(made)


def normalization(rng, ndim, **more):
    given = options_of(
        rng,
        axis=int(rng.integers(1, ndim + 1)),
        momentum=float(rng.uniform(0.1, 0.99)),
        epsilon=float(rng.uniform(1e-4, 1e-1)),
        center=False,
        scale=False,
        beta_initializer="random_normal",
        gamma_initializer="random_uniform",
        moving_mean_initializer="random_normal",
        moving_variance_initializer={
            "class_name": "RandomUniform",
            "config": {"minval": 0.5, "maxval": 2.0},
        },
        beta_regularizer="l2",
        gamma_regularizer="l1",
        beta_constraint="non_neg",
        gamma_constraint="max_norm",
    )
    if rng.integers(5) == 0:
        more["trainable"] = False
    return layers.BatchNormalization(**given, **more)


@pytest.mark.parametrize("seed", range(4))
def test_batch_normalization(seed):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(30):
        shape = tuple(int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 5))))
        layer = normalization(rng, len(shape), input_shape=shape)
        made.append(
            (
                Sequential([layer]),
                numbers(rng, int(rng.integers(2, 6)), *shape),
                bool(rng.integers(2)),
            )
        )
    for _ in range(5):  # twice the same layer, sizes that are not known, masks
        x = layers.Input(shape=(None, 3))
        layer = layers.BatchNormalization(momentum=0.5)
        y = layer(layers.Masking()(x))
        data = numbers(rng, 3, 4, 3)
        data[0, 1:3] = 0
        made.append((Model(x, y), data, bool(rng.integers(2))))
    for training in (False, True):
        x = layers.Input(shape=(6, 5, 3))
        y = layers.ReLU(6.0)(layers.BatchNormalization()(x))
        y = layers.BatchNormalization(axis=1)(layers.Dense(4)(y))
        made.append((Model(x, y), numbers(rng, 2, 6, 5, 3), training))
    keras_cases.check(made, rtol=1e-4, atol=1e-5)


def result_of(case):
    """What C++ makes of a described case."""
    case = dict(case, batches=[case["inputs"]], seed=None, floatx="float32")
    with tempfile.TemporaryDirectory() as folder:
        path, result = os.path.join(folder, "case.json"), os.path.join(folder, "result.json")
        Path(path).write_text(json.dumps([case]))
        environment = dict(os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1")
        subprocess.run([keras_cases.runner(), path, result], env=environment, check=True)
        one = json.loads(Path(result).read_text())[0]
    assert "error" not in one, one
    return one


def outputs_of(model, x, training):
    """Noise cannot be compared number by number."""
    case = {
        "model": keras_cases.plain(
            {"class_name": type(model).__name__, "config": model.get_config()}
        ),
        "weights": [],
        "inputs": [keras_cases.described(x)],
        "training": training,
    }
    return keras_cases.array_of(result_of(case)["outputs"][0])


def test_noise_layers():
    rng = np.random.default_rng(0)
    made = []
    for _ in range(5):
        rate, shape = float(rng.uniform(0.05, 0.9)), random_shape(rng)
        for layer in (
            layers.GaussianNoise(rate, input_shape=shape),
            layers.GaussianDropout(rate, input_shape=shape),
            layers.AlphaDropout(rate, noise_shape=None, seed=3, input_shape=shape),
        ):
            made.append((Sequential([layer]), numbers(rng, 3, *shape), False))
    for layer in (
        layers.GaussianDropout(0.0, input_shape=(3,)),
        layers.AlphaDropout(1.0, input_shape=(3,)),
    ):
        made.append((Sequential([layer]), numbers(rng, 2, 3), True))
    x = layers.Input(shape=(None, 2))
    y = layers.GaussianNoise(1.0)(
        layers.GaussianDropout(0.5)(layers.AlphaDropout(0.5)(layers.Masking()(x)))
    )
    made.append((Model(x, y), numbers(rng, 2, 3, 2), False))
    keras_cases.check(made)


def test_noise_while_training():
    x = np.random.default_rng(1).normal(size=(400, 100)).astype("float32")
    got = outputs_of(Sequential([layers.GaussianNoise(0.7, input_shape=(100,))]), x, True) - x
    assert abs(got.mean()) < 0.02 and abs(got.std() - 0.7) < 0.02
    got = outputs_of(Sequential([layers.GaussianDropout(0.3, input_shape=(100,))]), x, True) / x
    assert abs(got.mean() - 1) < 0.02 and abs(got.std() - np.sqrt(0.3 / 0.7)) < 0.02
    got = outputs_of(Sequential([layers.AlphaDropout(0.25, input_shape=(100,))]), x, True)
    assert abs(got.mean()) < 0.03 and abs(got.std() - 1) < 0.03
    lowest = -1.6732632423543772 * 1.0507009873554805
    a = ((1 - 0.25) * (1 + 0.25 * lowest**2)) ** -0.5
    dropped = np.isclose(got, a * lowest - a * lowest * 0.25, rtol=1e-5)
    assert abs(dropped.mean() - 0.25) < 0.02
    np.testing.assert_allclose(
        got[~dropped], (a * x - a * lowest * 0.25)[~dropped], rtol=1e-4, atol=1e-5
    )


def test_defaults():
    """What a configuration leaves out is as in Keras."""
    for layer in (
        layers.LeakyReLU(input_shape=(3,)),
        layers.PReLU(input_shape=(3,)),
        layers.ELU(input_shape=(3,)),
        layers.ThresholdedReLU(input_shape=(3,)),
        layers.Softmax(input_shape=(3,)),
        layers.ReLU(input_shape=(3,)),
        layers.BatchNormalization(input_shape=(3,)),
    ):
        model = Sequential([layer])
        config = keras_cases.plain({"class_name": "Sequential", "config": model.get_config()})
        whole = config["config"]["layers"][0]["config"]
        kept = {k: whole[k] for k in ("name", "batch_input_shape")}
        short = json.loads(json.dumps(config))
        short["config"]["layers"][0]["config"] = kept
        weights = [keras_cases.described(w) for w in model.get_weights()]
        x = keras_cases.described(np.zeros((2, 3), "float32"))
        case = {"model": short, "weights": weights, "inputs": [x], "training": False}
        assert result_of(case)["config"] == config["config"], layer.name
