"""Files that Keras 2.0 to 2.2 save, and what they compute: keras_2_files.py FOLDER [net ..], with that Keras on the path.

The nets are those of files.py that such a Keras knows, and a few with what only these editions write.
"""

import inspect
import json
import pathlib
import sys
import types

import files
import keras
import numpy as np
from files import bare, classes, numbers, plain
from keras import layers, models, optimizers


def row(parts, **options):
    """A Sequential of theirs has no Input."""
    return models.Sequential([p for p in parts if isinstance(p, layers.Layer)], **options)


K = types.SimpleNamespace(Sequential=row, Model=models.Model, Input=layers.Input, layers=layers)
NETS = {
    n: files.NETS[n]
    for n in ("dense", "several", "nested", "frozen_nested", "text", "states", "stateful")
    + ("sequences", "frames", "with_sgd_momentum", "with_rmsprop", "with_adagrad")
    + ("with_adadelta", "with_adamax", "with_nadam", "amsgrad")
}


def net(**compiled):
    def keep(function):
        NETS[function.__name__] = (function, compiled)
        return function

    return keep


@net(loss="categorical_crossentropy", optimizer="SGD:momentum", metrics=["accuracy"])
def images(k):
    x = k.Input((3, 10, 10))
    y = k.layers.ZeroPadding2D(data_format="channels_first")(x)
    y = k.layers.Conv2D(4, 3, strides=(2, 2), padding="same", data_format="channels_first")(y)
    y = k.layers.BatchNormalization(axis=1)(k.layers.PReLU(shared_axes=[2, 3])(y))
    y = k.layers.Permute((2, 3, 1))(y)
    y = k.layers.SeparableConv2D(5, (3, 2), padding="same", depth_multiplier=2)(y)
    y = k.layers.Conv2DTranspose(4, 2, strides=2)(k.layers.LocallyConnected2D(3, 2)(y))
    y = k.layers.Cropping2D(1)(k.layers.UpSampling2D()(k.layers.MaxPooling2D()(y)))
    y = k.layers.GlobalAveragePooling2D()(k.layers.SpatialDropout2D(0.0)(y))
    return (
        k.Model(x, k.layers.Dense(3, activation="softmax")(y)),
        [numbers(6, 3, 10, 10)],
        [classes(6, 3)],
    )


@net(loss="mse", optimizer="SGD")
def recurrent(k):
    x = k.Input((6, 4))
    y = k.layers.Bidirectional(k.layers.GRU(3, return_sequences=True))(x)
    y = k.layers.Bidirectional(k.layers.LSTM(3, return_sequences=True), merge_mode="sum")(y)
    y = k.layers.SimpleRNN(5, return_sequences=True, go_backwards=True)(y)
    y = k.layers.LSTM(4, unit_forget_bias=False, implementation=2)(y)
    return k.Model(x, y), [numbers(5, 6, 4)], [numbers(5, 4)]


@net(loss="logcosh", optimizer="Adam:clipnorm", metrics=["mape"])
def merges(k):
    x = k.Input((6,))
    a, b = k.layers.Dense(4)(x), k.layers.Dense(4, activation="selu")(x)
    y = [getattr(k.layers, n)()([a, b]) for n in ("Add", "Multiply", "Average", "Maximum")]
    y = k.layers.Concatenate(axis=1)([*y, k.layers.ELU()(b), k.layers.Dot(1)([a, b])])
    y = k.layers.GaussianNoise(0.0)(k.layers.AlphaDropout(0.0)(k.layers.ThresholdedReLU()(y)))
    return k.Model(x, k.layers.Dense(2)(y)), [numbers(8, 6)], [numbers(8, 2)]


def optimizer(name):
    name, options = files.named_options(name)
    return getattr(optimizers, name)(lr=0.01, **options)


def is_known(name):
    """amsgrad and SeparableConv1D came with 2.1."""
    if name == "amsgrad":
        return "amsgrad" in inspect.signature(optimizers.Adam).parameters
    return name != "sequences" or hasattr(layers, "SeparableConv1D")


def write(folder, name):
    make, options = NETS[name]
    np.random.seed(7)
    model, *data = make(K)
    model.compile(**{**options, "optimizer": optimizer(options["optimizer"])})
    x, y = map(bare, data)

    def train():
        return plain(model.train_on_batch(x, y))

    for _ in range(files.BEFORE):
        train()
    model.save(str(folder / f"{name}.h5"))
    if name == "frozen_nested":  # which is forgotten: what they make of their own file counts
        model = models.load_model(str(folder / f"{name}.h5"))
    if name == "stateful":
        model.reset_states()
    given = model.predict(x, batch_size=len(data[0][0]))
    if name == "stateful":
        model.reset_states()
    found = {
        "x": [a.tolist() for a in data[0]],
        "y": [a.tolist() for a in data[1]],
        "predicted": [a.tolist() for a in (given if isinstance(given, list) else [given])],
        "losses": [train() for _ in range(files.BETWEEN)],
        "weights": [
            [w.tolist() for w in layer.get_weights()] for layer in model.layers if layer.weights
        ],
    }
    (folder / f"{name}.json").write_text(json.dumps(found))
    print("wrote", name, "with Keras", keras.__version__, flush=True)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or filter(is_known, NETS):
        write(folder, name)
