"""Recurrent layers of the C++ library against Keras: random configurations, states from batch to batch, dropout."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_recurrent import (
    Draw,
    cell_options,
    layer_flags,
    masked,
    quiet_options,
    randomised,
    weight_options,
)  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, models  # noqa: E402
from keras.layers.convolutional_recurrent import ConvRNN2D  # noqa: E402


def made(kind, d):
    """A layer of a kind, with options but for its loop's."""
    units = d.size(1, 4)
    options = cell_options(d, kind)
    if d.flag(0.4):
        options["activity_regularizer"] = d.of(["l1", "l2"])
    return units, lambda **flags: getattr(layers, kind)(units, **options, **flags)


def case(kind, seed):
    """A model of one recurrent layer, and what goes into it."""
    d = Draw(seed)
    samples, steps, features = d.size(1, 3), d.size(1, 4), d.size(1, 4)
    units, make = made(kind, d)
    states = 2 if kind == "LSTM" else 1
    stateful, unroll = d.flag(0.3), d.flag(0.25)
    known = unroll or d.flag()
    shape = (samples if stateful else None, steps if known else None, features)
    x = layers.Input(batch_shape=shape)
    y = layers.Masking()(x) if d.flag(0.4) else x
    layer = make(stateful=stateful, unroll=unroll, trainable=d.flag(0.9), **layer_flags(d))
    inputs, fed = [x], lambda: [masked(d.numbers(samples, steps, features), d)]
    if d.flag(0.35):
        given = [layers.Input(batch_shape=(shape[0], units)) for _ in range(states)]
        inputs += given
        y = layer(y, initial_state=given)
        one = fed

        def fed():
            return one() + [d.numbers(samples, units) for _ in range(states)]

    else:
        y = layer(y)
    model = randomised(models.Model(inputs, y), d)
    batches = keras_cases.Batches(fed() for _ in range(3 if stateful else 1))
    return model, batches, False


SEEDS = 100


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU", "LSTM"])
def test_recurrent_layers(kind):
    keras_cases.check([case(kind, seed) for seed in range(SEEDS)])


def stacked_case(seed):
    """RNN of one cell, or of several."""
    d = Draw(1000 + seed)
    samples, steps, features = d.size(1, 3), d.size(1, 4), d.size(1, 4)
    kinds = [d.of(["SimpleRNN", "GRU", "LSTM"]) for _ in range(d.size(1, 3))]
    cells, sizes = [], []
    for kind in kinds:
        units = d.size(1, 4)
        cells.append(
            getattr(layers, kind + "Cell")(units, trainable=d.flag(0.9), **cell_options(d, kind))
        )
        sizes += [units] * (2 if kind == "LSTM" else 1)
    stateful = d.flag(0.3)
    x = layers.Input(batch_shape=(samples if stateful else None, steps, features))
    y = layers.Masking()(x) if d.flag(0.3) else x
    cell = cells[0] if len(cells) == 1 and d.flag() else cells
    layer = layers.RNN(cell, stateful=stateful, unroll=d.flag(0.3), **layer_flags(d))
    inputs = [x]
    if d.flag(0.3):
        inputs += [layers.Input(batch_shape=(samples if stateful else None, n)) for n in sizes]
        y = layer(y, initial_state=inputs[1:])
    else:
        y = layer(y)
    model = randomised(models.Model(inputs, y), d)

    def fed():
        return [masked(d.numbers(samples, steps, features), d)] + [
            d.numbers(samples, n) for n in sizes[: None if len(inputs) > 1 else 0]
        ]

    return model, keras_cases.Batches(fed() for _ in range(3 if stateful else 1)), False


def test_cells_and_stacks_of_them():
    keras_cases.check([stacked_case(seed) for seed in range(100)])


def dropout_case(kind, seed):
    d = Draw(2000 + seed)
    samples, steps, features = d.size(1, 3), d.size(2, 4), d.size(2, 4)
    stateful = d.flag(0.3)
    x = layers.Input(batch_shape=(samples if stateful else None, steps, features))
    flags = dict(layer_flags(d), stateful=stateful, unroll=d.flag(0.3))
    if d.flag(0.7):
        layer = getattr(layers, kind)(d.size(2, 4), **quiet_options(d, kind), **flags)
    else:
        cells = [
            getattr(layers, kind + "Cell")(d.size(2, 4), **quiet_options(d, kind)) for _ in range(2)
        ]
        layer = layers.RNN(cells, **flags)
    model = randomised(models.Model(x, layer(layers.Masking()(x) if d.flag(0.3) else x)), d)
    fed = keras_cases.Batches([d.numbers(samples, steps, features)] for _ in range(2))
    return model, fed, keras_cases.Seed(seed + 1)


@pytest.mark.parametrize("kind", ["SimpleRNN", "GRU", "LSTM"])
def test_dropout_while_training(kind):
    keras_cases.check([dropout_case(kind, seed) for seed in range(40)])


def conv_case(seed, training=False):
    d = Draw(3000 + seed)
    samples, steps, channels = d.size(1, 2), d.size(1, 3), d.size(1, 2)
    rows, columns, filters = d.size(5, 7), d.size(5, 7), d.size(1, 3)
    options = weight_options(d)
    options["recurrent_activation"] = d.of(["hard_sigmoid", "sigmoid"])
    options["unit_forget_bias"] = d.flag()
    options["padding"] = d.of(["valid", "same"])
    options["data_format"] = d.of([None, "channels_last", "channels_first"])
    options["strides"], options["dilation_rate"] = d.of([(1, 1), (2, 1), 2]), 1
    if d.flag(0.3):
        options["strides"], options["dilation_rate"] = 1, (1, 2)
    first = options["data_format"] == "channels_first"
    size = (channels, rows, columns) if first else (rows, columns, channels)
    if training:
        for name in ("kernel_initializer", "recurrent_initializer", "bias_initializer"):
            options[name] = "zeros"
        options["dropout"], options["recurrent_dropout"] = d.of([0.0, 0.3]), d.of([0.0, 0.4])
    stateful = d.flag(0.3)
    flags = dict(layer_flags(d), stateful=stateful)
    kernel = d.of([2, (3, 2), (1, 3)])
    if not training and d.flag(0.3):
        layer = ConvRNN2D(layers.ConvLSTM2DCell(filters, kernel, **options), **flags)
    else:
        if d.flag(0.3):
            options["activity_regularizer"] = "l2"
        layer = layers.ConvLSTM2D(filters, kernel, **options, **flags)
    x = layers.Input(batch_shape=(samples if stateful else None, d.of([steps, None]), *size))
    model = randomised(models.Model(x, layer(x)), d)
    batches = keras_cases.Batches(
        [d.numbers(samples, steps, *size)] for _ in range(3 if stateful else 1)
    )
    return model, batches, keras_cases.Seed(seed + 1) if training else False


def test_conv_lstm():
    keras_cases.check([conv_case(seed) for seed in range(60)])


def test_conv_lstm_while_training():
    keras_cases.check([conv_case(seed, training=True) for seed in range(30)])


def test_other_float_types():
    """float64: weights, states and results."""
    K.set_floatx("float64")
    kinds = ("SimpleRNN", "GRU", "LSTM")
    try:
        made = [case(kind, 500 + seed) for kind in kinds for seed in range(20)]
        keras_cases.check(made, rtol=1e-9, atol=1e-9)
    finally:
        K.set_floatx("float32")


def as_cudnn(description):
    """A layer as Keras would have written it for a GPU: the class, fewer fields, its own form of the weights."""
    description["class_name"] = "CuDNN" + description["class_name"]
    for name in ("activation", "recurrent_activation", "use_bias", "dropout", "recurrent_dropout"):
        del description["config"][name]
    for name in ("implementation", "reset_after", "unroll"):
        description["config"].pop(name, None)


def cudnn_weights(kind, described):
    """By Keras's own conversion, three at a time."""
    from keras.engine.saving import _convert_rnn_weights

    target = type("CuDNN" + kind, (), {})()
    arrays = [keras_cases.array_of(w) for w in described]
    made = []
    for i in range(0, len(arrays), 3):
        made += _convert_rnn_weights(target, arrays[i : i + 3])
    return [keras_cases.described(np.asarray(w, "float32")) for w in made]


def cudnn_case(seed):
    d = Draw(7000 + seed)
    samples, steps, features = d.size(1, 3), d.size(1, 4), d.size(1, 4)
    more = {"unit_forget_bias": d.flag()} if seed % 2 else {"reset_after": True}
    layer = getattr(layers, "LSTM" if seed % 2 else "GRU")(
        d.size(1, 4), return_sequences=d.flag(), **more
    )
    x = layers.Input(shape=(steps, features))
    y = x
    how = d.size(0, 3)
    if how == 1:
        layer = layers.Bidirectional(layer)
    if how == 2:
        y = layers.Reshape((steps, 1, features))(x)
        layer = layers.TimeDistributed(layer)
    if how == 3:
        inner = layers.Input(shape=(steps, features))
        layer = models.Model(inner, layer(inner))
    return randomised(models.Model(x, layer(y)), d), [d.numbers(samples, steps, features)], False


def test_cudnn_layers():
    """Their configurations and weights are read; what is written is LSTM and GRU."""

    def edit(written):
        layer = written["model"]["config"]["layers"][-1]
        while True:
            if "layer" in layer["config"]:
                layer = layer["config"]["layer"]
            elif "layers" in layer["config"]:
                layer = layer["config"]["layers"][-1]
            else:
                break
        written["weights"] = cudnn_weights(layer["class_name"], written["weights"])
        as_cudnn(layer)
        return written

    keras_cases.check([cudnn_case(seed) for seed in range(40)], edit=edit)
