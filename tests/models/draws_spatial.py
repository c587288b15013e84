"""Random options of layers with spatial axes, the same for the same seed."""

import json

import keras_cases
import numpy as np
from keras import constraints, initializers, layers, regularizers
from keras.models import Model, Sequential

ACTIVATIONS = [None, "relu", "tanh", "elu", "sigmoid", "softmax", "softplus", "linear"]


class Draw:
    def __init__(self, *seed):
        self.rng = np.random.default_rng(
            [sum(s.encode()) if isinstance(s, str) else s for s in seed]
        )

    def pick(self, *values):
        return values[self.rng.integers(len(values))]

    def chance(self, p=0.5):
        return bool(self.rng.random() < p)

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def sizes(self, n, low, high):
        """One number, or one for each axis."""
        if self.chance(0.3):
            return self.size(low, high)
        return tuple(self.size(low, high) for _ in range(n))

    def data_format(self):
        return self.pick("channels_last", "channels_first")

    def numbers(self, *shape, dtype="float32"):
        return self.rng.normal(size=shape).astype(dtype)

    def common(self):
        """What all layers can be told."""
        options = {"dtype": "float64" if self.chance(0.2) else "float32"}
        if self.chance(0.15):
            options["trainable"] = False
        if self.chance(0.15):
            options["name"] = f"layer_{self.size(0, 10**9)}"
        return options

    def weights_options(self, kinds):
        """Initializers, regularizers and constraints of these weights, an activation, a bias or none."""
        options = {"use_bias": self.chance(0.8)}
        for kind in kinds:
            options[f"{kind}_initializer"] = self.pick(
                "glorot_uniform",
                "he_normal",
                initializers.RandomNormal(stddev=0.3, seed=self.size(0, 99)),
                initializers.RandomUniform(-1, 1),
            )
        for kind in (*kinds, "bias"):
            if self.chance(0.2):
                options[f"{kind}_regularizer"] = self.pick(
                    "l1", "l2", regularizers.l1_l2(0.01, 0.02)
                )
            if self.chance(0.2):
                options[f"{kind}_constraint"] = self.pick(
                    "non_neg", constraints.MaxNorm(1.5), "unit_norm"
                )
        if self.chance():
            options["bias_initializer"] = self.pick("ones", initializers.RandomNormal(stddev=0.5))
        if self.chance(0.2):
            options["activity_regularizer"] = self.pick("l2", regularizers.l1(0.003))
        if self.chance(0.7):
            options["activation"] = self.pick(*ACTIVATIONS)
        return options

    def input(self, spatial, channels, data_format, unknown=0.3, dtype="float32"):
        """An Input, some of whose sizes are not known, and numbers for it."""
        sizes = (*spatial, channels) if data_format == "channels_last" else (channels, *spatial)
        at = len(sizes) - 1 if data_format == "channels_last" else 0
        shape = tuple(
            n if i == at or not self.chance(unknown) else None for i, n in enumerate(sizes)
        )
        samples = self.size(1, 3)
        if self.chance(0.2):
            x = layers.Input(batch_shape=(samples, *shape), dtype=dtype)
        else:
            x = layers.Input(shape=shape, dtype=dtype)
        return x, self.numbers(samples, *sizes, dtype=dtype)


def case(draw, layer, x, numbers):
    """One layer as a model, its weights random, its bias too."""
    model = Model(x, layer(x))
    model.set_weights(
        [draw.rng.normal(size=w.shape).astype(w.dtype) * 0.5 for w in model.get_weights()]
    )
    return model, numbers, draw.chance()


def window(kernel, dilation):
    return (kernel - 1) * dilation + 1


def spread(sizes, n):
    return (sizes,) * n if isinstance(sizes, int) else sizes


def spelled(layer, shape, alter, class_name=None):
    """A Sequential of this layer alone, whose configuration is spelled differently: `alter` changes it. With what Keras
    says about the layer."""
    model = Sequential([layer])
    model.build((None, *shape))
    config = keras_cases.plain({"class_name": "Sequential", "config": model.get_config()})
    want = json.loads(json.dumps(config["config"]["layers"][0]))
    inner = config["config"]["layers"][0]
    inner["class_name"] = class_name or inner["class_name"]
    inner["config"] = {"batch_input_shape": [None, *shape], **alter(inner["config"])}
    want["config"].setdefault("batch_input_shape", [None, *shape])
    written = {
        "model": config,
        "weights": [keras_cases.described(w) for w in model.get_weights()],
        "batches": [[keras_cases.described(np.zeros((1, *shape), "float32"))]],
        "training": False,
        "seed": None,
        "floatx": "float32",
    }
    return written, want


def check_spelled(pairs):
    """The layers are those of Keras whatever their spelling."""
    for result, (written, want) in zip(keras_cases.run([written for written, _ in pairs]), pairs):
        said = json.dumps(written["model"])
        assert "error" not in result, f"{said}: {result['error']}"
        assert result["config"]["layers"][0] == want, said


def only(*names):
    """Leaves these options, the name and the type."""
    return lambda config: {k: v for k, v in config.items() if k in (*names, "name", "dtype")}
