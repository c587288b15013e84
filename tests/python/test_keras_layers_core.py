"""Core layers of the C++ library against Keras."""

import inspect
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from keras import activations, layers  # noqa: E402
from keras.models import Model, Sequential  # noqa: E402


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def test_core_layers():
    a = layers.Input(shape=(4,))
    b = layers.Input(shape=(4,))
    shared = layers.Dense(
        4, activation="tanh", kernel_regularizer="l2", kernel_constraint="max_norm"
    )
    y = shared(layers.Activation("relu")(shared(a)))
    other = layers.Dropout(0.5)(shared(b))
    several = Model([a, b], [y, other])
    keras_cases.check(
        [
            (several, [numbers(3, 4), numbers(3, 4)], False),
            (
                Sequential(
                    [
                        layers.Dense(
                            5, activation="elu", activity_regularizer="l1", input_shape=(3, 4)
                        ),
                        layers.Permute((2, 1)),
                        layers.Reshape((3, 5)),
                        layers.Flatten(),
                        layers.Dense(3, use_bias=False, kernel_initializer="he_normal"),
                        layers.RepeatVector(2),
                        layers.ActivityRegularization(l1=0.1, l2=0.2),
                    ]
                ),
                numbers(2, 3, 4),
                True,
            ),
            (
                Sequential([layers.Masking(0.5, input_shape=(3, 2)), layers.Dense(2)]),
                numbers(2, 3, 2),
                False,
            ),
            (
                Sequential([layers.SpatialDropout2D(0.3, input_shape=(3, 2, 2))]),
                numbers(2, 3, 2, 2),
                False,
            ),
        ]
    )


def test_every_activation():
    names = [
        n
        for n, v in vars(activations).items()
        if inspect.isfunction(v)
        and v.__module__ == activations.__name__
        and n not in ("get", "serialize", "deserialize")
    ]
    assert len(names) == 11 and {"softmax", "exponential", "hard_sigmoid"} <= set(names)
    keras_cases.check(
        [
            (Sequential([layers.Activation(n, input_shape=(3, 4))]), 2 * numbers(5, 3, 4), False)
            for n in names
        ]
    )


def test_dropout_of_whole_maps():
    """While it trains, with the same random numbers, and while it does not."""
    shapes = {"1D": (4, 3), "2D": (4, 3, 5), "3D": (4, 3, 2, 5)}
    cases = []
    for kind, shape in shapes.items():
        for form in ({},) if kind == "1D" else ({}, {"data_format": "channels_first"}):
            for training in (False, keras_cases.Seed(5)):
                layer = getattr(layers, "SpatialDropout" + kind)(0.4, **form)
                x = layers.Input(shape)
                cases.append((Model(x, layer(x)), numbers(3, *shape), training))
    keras_cases.check(cases)
