"""The architectures of keras.applications, saved by Keras, loaded and run in C++. All of them with HORNGATE_TEST_ALL=1."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from keras import applications  # noqa: E402

FEW = ["MobileNet", "DenseNet121"]
ALL = [
    *[
        "Xception",
        "VGG16",
        "VGG19",
        "ResNet50",
        "ResNet101",
        "ResNet152",
        "ResNet50V2",
        "ResNet101V2",
        "ResNet152V2",
    ],
    *[
        "InceptionV3",
        "InceptionResNetV2",
        "MobileNet",
        "MobileNetV2",
        "DenseNet121",
        "DenseNet169",
        "DenseNet201",
    ],
    *["NASNetMobile", "NASNetLarge"],
]


def lambdas(model):
    """What the functions of InceptionResNetV2 scale by."""
    layers = [layer for layer in model.layers if type(layer).__name__ == "Lambda"]
    return {layer.name: layer.arguments["scale"] for layer in layers}


@pytest.mark.parametrize("name", ALL if os.environ.get("HORNGATE_TEST_ALL") else FEW)
def test_architectures(name, tmp_path):
    # NASNet's top knows one size; the others are smaller here than they would be.
    sizes = {} if name.startswith("NASNet") else {"input_shape": (96, 96, 3)}
    if name == "NASNetLarge":
        sizes = {"input_shape": (160, 160, 3)}
    model = getattr(applications, name)(weights=None, **sizes)
    x = np.random.RandomState(0).rand(1, *model.input_shape[1:]).astype("float32")
    path = str(tmp_path / "net.h5")
    model.save(path)
    steps = [
        {"do": "load", "path": path, "compile": False, "scales": lambdas(model)},
        {"do": "predict", "x": [keras_cases.described(x)]},
    ]
    got = keras_cases.array_of(keras_cases.run_steps(steps, tmp_path)[1][0])
    np.testing.assert_allclose(got, model.predict(x), rtol=1e-5, atol=1e-6)
