"""Files that Keras 1.2 saves, and what it computes: keras_1_files.py FOLDER."""

import json
import pathlib
import sys
import traceback

import numpy as np
from files import classes, numbers
from keras import backend as K
from keras import layers as L
from keras import models

NETS = {}


def net(loss="mse", optimizer="adam", metrics=()):
    def keep(function):
        NETS[function.__name__] = (function, loss, optimizer, list(metrics))
        return function

    return keep


def row(*layers):
    return models.Sequential(list(layers))


@net("categorical_crossentropy", "adam", ["accuracy"])
def dense(self=None):
    m = row(
        L.Dense(8, init="he_normal", activation="relu", W_regularizer="l2", input_dim=6),
        L.BatchNormalization(),
        L.Dropout(0.0),
        L.Dense(3, b_constraint="maxnorm"),
        L.Activation("softmax"),
    )
    return m, [numbers(16, 6)], [classes(16, 3)]


for _name in ("sgd", "rmsprop", "adagrad", "adadelta", "adamax", "nadam"):

    def _make(name):
        def function():
            return (
                row(L.Dense(4, activation="tanh", input_dim=5), L.Dense(2, bias=False)),
                [numbers(12, 5)],
                [numbers(12, 2)],
            )

        function.__name__ = "with_" + name
        net("mse", name)(function)

    _make(_name)


def _images(order):
    shape = (3, 9, 8) if order == "th" else (9, 8, 3)
    m = row(
        L.Convolution2D(
            4,
            3,
            2,
            subsample=(2, 1),
            border_mode="same",
            activation="relu",
            dim_ordering=order,
            input_shape=shape,
        ),
        L.MaxPooling2D((2, 2), strides=(1, 1), dim_ordering=order),
        L.AtrousConvolution2D(3, 2, 2, atrous_rate=(1, 2), dim_ordering=order),
        L.AveragePooling2D((2, 2), dim_ordering=order),
        L.Flatten(),
        L.Dense(2),
    )
    return m, [numbers(5, *shape)], [numbers(5, 2)]


@net(optimizer="sgd")
def images_th():
    return _images("th")


@net(optimizer="sgd")
def images_tf():
    return _images("tf")


def _transposed(order):
    shape, out = ((2, 4, 4), (None, 3, 9, 9)) if order == "th" else ((4, 4, 2), (None, 9, 9, 3))
    m = row(
        L.Deconvolution2D(
            3,
            3,
            3,
            output_shape=out,
            subsample=(2, 2),
            border_mode="valid",
            dim_ordering=order,
            input_shape=shape,
        ),
        L.GlobalAveragePooling2D(dim_ordering=order),
    )
    return m, [numbers(4, *shape)], [numbers(4, 3)]


@net(optimizer="sgd")
def transposed_th():
    return _transposed("th")


@net(optimizer="sgd")
def transposed_tf():
    return _transposed("tf")


@net(optimizer="sgd")
def separable():
    m = row(
        L.SeparableConvolution2D(
            4, 3, 3, depth_multiplier=2, dim_ordering="tf", input_shape=(6, 6, 3)
        ),
        L.GlobalMaxPooling2D(dim_ordering="tf"),
    )
    return m, [numbers(4, 6, 6, 3)], [numbers(4, 4)]


@net(optimizer="sgd")
def local_th():
    m = row(
        L.LocallyConnected2D(3, 2, 2, dim_ordering="th", input_shape=(2, 4, 5)),
        L.Flatten(),
        L.Dense(2),
    )
    return m, [numbers(4, 2, 4, 5)], [numbers(4, 2)]


@net(optimizer="sgd")
def volumes_th():
    m = row(
        L.Convolution3D(3, 2, 2, 3, dim_ordering="th", input_shape=(2, 5, 5, 5)),
        L.MaxPooling3D(dim_ordering="th"),
        L.Flatten(),
        L.Dense(2),
    )
    return m, [numbers(3, 2, 5, 5, 5)], [numbers(3, 2)]


@net(optimizer="adam")
def sequences():
    m = row(
        L.Convolution1D(4, 3, border_mode="same", activation="relu", input_shape=(8, 3)),
        L.MaxPooling1D(2),
        L.AtrousConvolution1D(4, 2, atrous_rate=2),
        L.LocallyConnected1D(3, 2),
        L.Flatten(),
        L.RepeatVector(2),
        L.TimeDistributed(L.Dense(3)),
        L.Permute((2, 1)),
        L.Reshape((6,)),
    )
    return m, [numbers(4, 8, 3)], [numbers(4, 6)]


@net("categorical_crossentropy", "rmsprop", ["accuracy"])
def text():
    m = row(
        L.Embedding(12, 6, input_length=7, mask_zero=True, dropout=0.0),
        L.LSTM(5, return_sequences=True, inner_activation="sigmoid"),
        L.GRU(4, consume_less="mem"),
        L.Dense(3, activation="softmax"),
    )
    words = np.random.RandomState(0).randint(0, 12, (9, 7)).astype("float32")
    words[:, 0] = 3
    return m, [words], [classes(9, 3)]


@net()
def gates():
    m = row(
        L.LSTM(
            4, return_sequences=True, consume_less="gpu", forget_bias_init="one", input_shape=(5, 3)
        ),
        L.GRU(4, return_sequences=True, consume_less="gpu", go_backwards=True),
        L.SimpleRNN(3),
    )
    return m, [numbers(4, 5, 3)], [numbers(4, 3)]


@net()
def cpu_gates():
    m = row(
        L.LSTM(4, return_sequences=True, consume_less="cpu", input_shape=(5, 3)),
        L.GRU(3, consume_less="cpu"),
    )
    return m, [numbers(4, 5, 3)], [numbers(4, 3)]


@net()
def both_ways():
    m = row(
        L.Bidirectional(L.LSTM(3, return_sequences=True), input_shape=(5, 4)),
        L.Bidirectional(L.GRU(3, return_sequences=True), merge_mode="sum"),
        L.Bidirectional(L.SimpleRNN(2), merge_mode="mul"),
    )
    return m, [numbers(4, 5, 4)], [numbers(4, 2)]


@net(optimizer="sgd")
def frames_th():
    m = row(
        L.TimeDistributed(L.Convolution2D(3, 2, 2, dim_ordering="th"), input_shape=(3, 2, 4, 4)),
        L.TimeDistributed(L.Flatten()),
        L.LSTM(3),
    )
    return m, [numbers(3, 3, 2, 4, 4)], [numbers(3, 3)]


@net(optimizer="sgd")
def frames_lstm_th():
    m = row(
        L.ConvLSTM2D(3, 2, 2, dim_ordering="th", border_mode="same", input_shape=(3, 2, 4, 4)),
        L.Flatten(),
        L.Dense(2),
    )
    return m, [numbers(3, 3, 2, 4, 4)], [numbers(3, 2)]


@net()
def nested():
    x = L.Input((6,))
    inner = models.Model(x, L.BatchNormalization()(L.Dense(4, activation="elu")(x)))
    y = L.Input((6,))
    z = L.merge([inner(y), L.Dense(4)(y)], mode="sum")
    z = L.merge([z, inner(y)], mode="concat", concat_axis=-1)
    return models.Model(y, L.Dense(2)(z)), [numbers(10, 6)], [numbers(10, 2)]


@net()
def merges():
    a, b = L.Input((4,)), L.Input((4,))
    parts = [L.merge([a, b], mode=m) for m in ("sum", "mul", "ave", "max")] + [
        L.merge([a, b], mode="dot", dot_axes=1)
    ]
    y = L.merge([L.Flatten()(p) if K.ndim(p) > 2 else p for p in parts], mode="concat")
    return (
        models.Model([a, b], L.Dense(2)(y)),
        [numbers(6, 4), numbers(6, 4, seed=4)],
        [numbers(6, 2)],
    )


@net(optimizer="sgd")
def cosines():
    a, b = L.Input((4,)), L.Input((4,))
    y = L.Flatten()(L.merge([a, b], mode="cos", dot_axes=1))
    return (
        models.Model([a, b], L.Dense(2)(y)),
        [numbers(6, 4), numbers(6, 4, seed=4)],
        [numbers(6, 2)],
    )


@net()
def two_branches():
    left = row(L.Dense(4, input_dim=5), L.Activation("tanh"))
    right = row(L.Dense(4, input_dim=3))
    m = models.Sequential()
    m.add(L.Merge([left, right], mode="concat"))
    m.add(L.Dense(2))
    return m, [numbers(6, 5), numbers(6, 3, seed=4)], [numbers(6, 2)]


@net()
def old_dense():
    return (
        row(
            L.MaxoutDense(4, nb_feature=3, W_regularizer="l2", input_dim=5),
            L.Highway(activation="tanh", b_constraint="maxnorm"),
            L.Highway(bias=False),
            L.RepeatVector(3),
            L.core.TimeDistributedDense(2, activation="tanh"),
            L.Flatten(),
            L.Dense(2),
        ),
        [numbers(6, 5)],
        [numbers(6, 2)],
    )


@net()
def activations():
    m = row(
        L.Dense(6, input_dim=5),
        L.advanced_activations.LeakyReLU(0.2),
        L.Dense(6),
        L.advanced_activations.PReLU(),
        L.advanced_activations.ELU(),
        L.Dense(4),
        L.advanced_activations.ThresholdedReLU(0.1),
        L.noise.GaussianNoise(0.0),
        L.noise.GaussianDropout(0.0),
    )
    return m, [numbers(6, 5)], [numbers(6, 4)]


@net(optimizer="sgd")
def stateful():
    return (
        row(L.LSTM(3, stateful=True, batch_input_shape=(4, 5, 2)), L.Dense(1)),
        [numbers(4, 5, 2)],
        [numbers(4, 1)],
    )


def bare(a):
    return a[0] if len(a) == 1 else a


def plain(v):
    return [float(x) for x in np.atleast_1d(v)]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (make, loss, optimizer, metrics) in NETS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        try:
            np.random.seed(7)
            model, x, y = make()
            model.compile(optimizer, loss, metrics=metrics)

            def train():
                return plain(model.train_on_batch(bare(x), bare(y)))  # noqa: B023

            for _ in range(2):
                train()
            model.save(str(folder / (name + ".h5")))
            if name == "stateful":
                model.reset_states()
            given = model.predict(bare(x), batch_size=len(x[0]))
            if name == "stateful":
                model.reset_states()
            found = {
                "x": [a.tolist() for a in x],
                "y": [a.tolist() for a in y],
                "predicted": [np.asarray(given).tolist()],
                "losses": [train() for _ in range(3)],
            }
            (folder / (name + ".json")).write_text(json.dumps(found))
            print("wrote", name, flush=True)
        except Exception as e:
            traceback.print_exc(limit=-2)
            print("FAILED", name, type(e).__name__, str(e)[:200], flush=True)
