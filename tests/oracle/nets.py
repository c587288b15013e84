"""Nets for training on both sides: the same layers, weights and data, Keras 2.3.1's or tf_keras's."""

import zlib

import numpy as np

STEPS = 20


def arrays(name, shape, low=None, high=None):
    """Numbers that depend on the name alone."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if low is None:
        return rng.standard_normal(shape).astype("float32")
    return rng.integers(low, high, shape)


def classes(name, n, k):
    return np.eye(k, dtype="float32")[arrays(name, (n,), 0, k)]


def words(name, n, length, k):
    """Sequences of word numbers, of different lengths, padded with 0."""
    x = arrays(name, (n, length), 1, k)
    lengths = arrays(name + "/lengths", (n,), length // 3, length + 1)
    return np.where(np.arange(length)[None, :] < lengths[:, None], x, 0).astype("int32")


def mlp(L):
    layers = [
        L.Dense(32, activation="relu", input_shape=(20,)),
        L.Dense(24, activation="tanh"),
        L.Dense(10, activation="softmax"),
    ]
    return layers, arrays("mlp", (16 * STEPS, 20)), classes("mlp/y", 16 * STEPS, 10)


def cnn(L):
    layers = [
        L.Conv2D(8, 3, activation="relu", input_shape=(14, 14, 2)),
        L.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
        L.MaxPooling2D(2),
        L.Flatten(),
        L.Dense(10, activation="softmax"),
    ]
    return layers, arrays("cnn", (16 * STEPS, 14, 14, 2)), classes("cnn/y", 16 * STEPS, 10)


def cnn_bn(L):
    layers = [
        L.Conv2D(8, 3, use_bias=False, input_shape=(12, 12, 3)),
        L.BatchNormalization(),
        L.Activation("relu"),
        L.AveragePooling2D(2),
        L.Conv2D(12, 3, padding="same"),
        L.BatchNormalization(),
        L.Activation("relu"),
        L.GlobalAveragePooling2D(),
        L.Dense(5, activation="softmax"),
    ]
    return layers, arrays("cnn_bn", (16 * STEPS, 12, 12, 3)), classes("cnn_bn/y", 16 * STEPS, 5)


def conv_kinds(L):
    layers = [
        L.SeparableConv2D(6, 3, padding="same", activation="relu", input_shape=(8, 8, 3)),
        L.DepthwiseConv2D(3, activation="relu"),
        L.Conv2DTranspose(5, 3, strides=2, padding="same", activation="elu"),
        L.Conv2D(4, 3, dilation_rate=2),
        L.Flatten(),
        L.Dense(4, activation="softmax"),
    ]
    return layers, arrays("kinds", (16 * STEPS, 8, 8, 3)), classes("kinds/y", 16 * STEPS, 4)


def conv1d_bn(L):
    layers = [
        L.Conv1D(8, 3, padding="causal", activation="relu", input_shape=(15, 4)),
        L.BatchNormalization(),
        L.MaxPooling1D(2),
        L.Flatten(),
        L.Dense(16),
        L.BatchNormalization(scale=False),
        L.LeakyReLU(),
        L.Dense(1),
    ]
    return layers, arrays("conv1d", (16 * STEPS, 15, 4)), arrays("conv1d/y", (16 * STEPS, 1))


def conv3d(L):
    layers = [
        L.Conv3D(4, 2, activation="relu", input_shape=(6, 6, 6, 2)),
        L.Conv3D(5, 2, strides=2),
        L.Flatten(),
        L.Dense(3, activation="softmax"),
    ]
    return layers, arrays("conv3d", (16 * STEPS, 6, 6, 6, 2)), classes("conv3d/y", 16 * STEPS, 3)


def recurrent(make, name):
    def net(L):
        layers = [*make(L), L.Dense(6, activation="softmax")]
        return layers, arrays(name, (16 * STEPS, 9, 5)), classes(name + "/y", 16 * STEPS, 6)

    return net


def lstm(L):
    return [L.LSTM(12, recurrent_activation="sigmoid", input_shape=(9, 5))]


def lstm_stacked(L):
    return [
        L.LSTM(10, return_sequences=True, recurrent_activation="hard_sigmoid", input_shape=(9, 5)),
        L.LSTM(8, recurrent_activation="sigmoid", unroll=True, implementation=2),
    ]


def gru(L):
    return [L.GRU(12, recurrent_activation="sigmoid", reset_after=False, input_shape=(9, 5))]


def gru_reset_after(L):
    return [L.GRU(12, recurrent_activation="sigmoid", reset_after=True, input_shape=(9, 5))]


def simple_rnn(L):
    return [L.SimpleRNN(12, go_backwards=True, input_shape=(9, 5))]


def bidirectional(L):
    one = L.LSTM(6, return_sequences=True, recurrent_activation="sigmoid")
    return [
        L.Bidirectional(one, input_shape=(9, 5)),
        L.TimeDistributed(L.Dense(7, activation="tanh")),
        L.GlobalMaxPooling1D(),
    ]


def embedding(L):
    layers = [
        L.Embedding(50, 8, input_length=12),
        L.GlobalAveragePooling1D(),
        L.Dense(1, activation="sigmoid"),
    ]
    return layers, words("emb", 16 * STEPS, 12, 50), arrays("emb/y", (16 * STEPS, 1), 0, 2)


def masked(cell, name):
    def net(L):
        layers = [
            L.Embedding(50, 8, mask_zero=True, input_length=12),
            cell(L),
            L.Dense(1, activation="sigmoid"),
        ]
        return layers, words(name, 16 * STEPS, 12, 50), arrays(name + "/y", (16 * STEPS, 1), 0, 2)

    return net


NETS = {
    "Dense": mlp,
    "Conv2D": cnn,
    "Conv2D+BatchNorm": cnn_bn,
    "other convolutions": conv_kinds,
    "Conv1D+BatchNorm": conv1d_bn,
    "Conv3D": conv3d,
    "LSTM": recurrent(lstm, "lstm"),
    "LSTM, stacked": recurrent(lstm_stacked, "stacked"),
    "LSTM, bidirectional": recurrent(bidirectional, "bi"),
    "GRU": recurrent(gru, "gru"),
    "GRU, reset_after": recurrent(gru_reset_after, "gru2"),
    "SimpleRNN": recurrent(simple_rnn, "rnn"),
    "Embedding": embedding,
    "Embedding+LSTM, masked": masked(
        lambda L: L.LSTM(9, recurrent_activation="sigmoid"), "masked lstm"
    ),
    "Embedding+GRU, masked": masked(
        lambda L: L.GRU(9, recurrent_activation="sigmoid", reset_after=False), "masked gru"
    ),
}

# In float64 with numbers that float32 holds exactly: theirs keeps some of them in float32.
OPTIMIZERS = {
    "SGD": {
        "float32": lambda optimizers: optimizers.SGD(learning_rate=0.05),
        "float64": lambda optimizers: optimizers.SGD(learning_rate=2**-4),
    },
    "momentum": {
        "float32": lambda optimizers: optimizers.SGD(learning_rate=0.02, momentum=0.9),
        "float64": lambda optimizers: optimizers.SGD(learning_rate=2**-5, momentum=0.875),
    },
    "nesterov": {
        "float32": lambda optimizers: optimizers.SGD(
            learning_rate=0.02, momentum=0.9, nesterov=True
        ),
        "float64": lambda optimizers: optimizers.SGD(
            learning_rate=2**-5, momentum=0.875, nesterov=True
        ),
    },
    "Adam": {
        "float32": lambda optimizers: optimizers.Adam(learning_rate=0.002),
        "float64": lambda optimizers: optimizers.Adam(
            learning_rate=2**-9, beta_1=0.875, beta_2=1 - 2**-7, epsilon=2**-20
        ),
    },
    "RMSprop": {
        "float32": lambda optimizers: optimizers.RMSprop(learning_rate=0.002),
        "float64": lambda optimizers: optimizers.RMSprop(
            learning_rate=2**-9, rho=0.875, epsilon=2**-20
        ),
    },
}


def starting_weights(model, name):
    """Weights of a model, by number and shape: small, and positive where a scale or variance is."""
    made = []
    for i, w in enumerate(model.get_weights()):
        start = arrays(f"{name}/{i}", w.shape) * (0.4 / max(1, w.ndim - 1))
        made.append((w + start if w.ndim == 1 and np.all(w >= 0.5) else start).astype(w.dtype))
    return made
