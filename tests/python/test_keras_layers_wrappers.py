"""TimeDistributed, Bidirectional and Embedding of the C++ library against Keras, and nets of them with masks."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_recurrent import Draw, cell_options, layer_flags, masked, quiet_options, randomised  # noqa: E402
from keras import layers, models  # noqa: E402


def bidirectional_case(seed, training=False):
    d = Draw(4000 + seed)
    samples, steps, features = d.size(1, 3), d.size(1, 4), d.size(1, 4)
    kind = d.of(["SimpleRNN", "GRU", "LSTM", "RNN"])
    # Keras forgets the states of a Bidirectional while it predicts, and while it trains if there are other inputs.
    more_inputs = d.flag()
    stateful = training and not more_inputs and d.flag(0.6)
    flags = dict(layer_flags(d), stateful=stateful, unroll=d.flag(0.2), trainable=d.flag(0.8))
    options = quiet_options if training else cell_options
    constants = 0
    if kind == "RNN":
        parts = [d.of(["SimpleRNN", "GRU", "LSTM"]) for _ in range(d.size(1, 2))]
        cells, sizes = [], []
        for part in parts:
            units = d.size(1, 3)
            cells.append(getattr(layers, part + "Cell")(units, **options(d, part)))
            sizes += [units] * (2 if part == "LSTM" else 1)
        layer = layers.RNN(cells, **flags)
        constants = d.of([0, 2]) if more_inputs else 0
    else:
        units = d.size(1, 3)
        sizes = [units] * (2 if kind == "LSTM" else 1)
        more = {"activity_regularizer": "l2"} if d.flag(0.3) else {}
        layer = getattr(layers, kind)(units, **options(d, kind), **more, **flags)
    mode = d.of(["concat", "sum", "mul", "ave", None])
    wrapper = layers.Bidirectional(layer, merge_mode=mode, trainable=d.flag(0.8))
    batch = samples if stateful else None
    x = layers.Input(
        batch_shape=(batch, steps if flags["unroll"] else d.of([steps, None]), features)
    )
    inputs, shapes = [x], [(samples, steps, features)]
    y = layers.Masking()(x) if d.flag(0.4) else x
    given = {}
    if more_inputs and d.flag(0.7):
        given["initial_state"] = [layers.Input(batch_shape=(batch, n)) for n in 2 * sizes]
        inputs += given["initial_state"]
        shapes += [(samples, n) for n in 2 * sizes]
    if constants:
        given["constants"] = [layers.Input(batch_shape=(batch, 2)) for _ in range(constants)]
        inputs += given["constants"]
        shapes += [(samples, 2)] * constants
    model = randomised(models.Model(inputs, wrapper(y, **given)), d)
    fed = keras_cases.Batches(
        [
            masked(d.numbers(*shape), d) if i == 0 else d.numbers(*shape)
            for i, shape in enumerate(shapes)
        ]
        for _ in range(3 if stateful else 1)
    )
    return model, fed, keras_cases.Seed(seed + 1) if training else False


def test_bidirectional():
    keras_cases.check([bidirectional_case(seed) for seed in range(120)])


def test_bidirectional_while_training():
    keras_cases.check([bidirectional_case(seed, training=True) for seed in range(80)])


def inner_layer(d, features):
    """A layer for (samples, features), or for (samples, time, features)."""
    which = d.size(0, 7)
    if which == 0:
        return layers.Dense(
            d.size(1, 4), activation="tanh", activity_regularizer=d.of([None, "l2"])
        ), 2
    if which == 1:
        return layers.Activation("relu"), 2
    if which == 2:
        return layers.Dropout(0.5, seed=3), 2
    if which == 3:
        inner = layers.Input(shape=(features,))
        return models.Model(inner, layers.Dense(3, kernel_regularizer="l1")(inner)), 2
    if which == 4:
        first = layers.Dense(3, activation="elu", input_shape=(features,))
        return models.Sequential([first, layers.Dense(2)]), 2
    if which == 5:
        return layers.LSTM(3, return_sequences=d.flag()), 3
    if which == 6:
        return layers.Bidirectional(layers.GRU(2, return_sequences=d.flag()), merge_mode="sum"), 3
    return layers.Reshape((-1, 1)), 2


def time_distributed_case(seed):
    d = Draw(5000 + seed)
    samples, steps, features = d.size(1, 3), d.size(1, 4), d.size(1, 4)
    layer, rank = inner_layer(d, features)
    inner = (features,) if rank == 2 else (d.size(1, 3), features)
    batch = d.of([None, None, samples])
    x = layers.Input(batch_shape=(batch, d.of([steps, None]), *inner))
    masks = rank == 2 and not isinstance(layer, (models.Model, layers.Reshape)) and d.flag(0.5)
    y = layers.Masking()(x) if masks else x
    options = {"trainable": False} if d.flag(0.2) else {}
    y = layers.TimeDistributed(layer, **options)(y)
    if masks:
        y = layers.SimpleRNN(2, return_sequences=True)(y)
    model = randomised(models.Model(x, y), d)
    return model, [masked(d.numbers(samples, steps, *inner), d)], d.flag()


def test_time_distributed():
    keras_cases.check([time_distributed_case(seed) for seed in range(100)])


def test_masks_from_inside():
    """TimeDistributed layers that make masks, or take those of several axes."""
    d = Draw(7)
    made = []
    for seed in range(20):
        x = layers.Input(shape=(3, 4, 2))
        y = layers.TimeDistributed(layers.Masking())(x)
        if seed % 2:
            y = layers.TimeDistributed(layers.LSTM(2, return_sequences=seed % 4 == 1))(y)
        if seed % 4 != 3:
            y = layers.TimeDistributed(layers.GRU(3))(y)
        y = layers.LSTM(2, return_sequences=True)(y)
        model = randomised(models.Model(x, y), d)
        numbers = d.numbers(2, 3, 4, 2)
        numbers[
            np.array([[[d.flag(0.4) for _ in range(4)] for _ in range(3)] for _ in range(2)])
        ] = 0
        made.append((model, numbers, False))
    keras_cases.check(made)


def embedding_case(seed):
    d = Draw(6000 + seed)
    samples, steps, words = d.size(1, 3), d.size(1, 5), d.size(2, 9)
    options = {
        "embeddings_initializer": d.of(["uniform", "normal", "ones"]),
        "embeddings_regularizer": d.of([None, "l1", "l2"]),
        "activity_regularizer": d.of([None, None, "l2"]),
        "embeddings_constraint": d.of([None, "max_norm", "non_neg"]),
        "mask_zero": d.flag(),
        "input_length": d.of([None, steps]),
        "trainable": d.flag(0.8),
    }
    how = d.size(0, 3)
    shape = (samples, steps)
    if how == 0:
        model = models.Sequential([layers.Embedding(words, d.size(1, 4), **options)])
    elif how == 1:
        options["batch_input_shape"] = (d.of([samples, None]), steps)
        model = models.Sequential([layers.Embedding(words, d.size(1, 4), **options)])
    elif how == 2:
        shape = (samples, steps, 3)
        options["input_length"] = d.of([None, (steps, 3), (None, 3)])
        options["input_shape"] = (steps, 3)
        options["mask_zero"] = False
        model = models.Sequential([layers.Embedding(words, d.size(1, 4), **options)])
    else:
        x = layers.Input(shape=(steps,), dtype=d.of(["int32", "int64", "float32"]))
        y = layers.Embedding(words, d.size(1, 4), **options)(x)
        model = models.Model(x, y)
    if how != 2 and d.flag():  # a net above it, with masks
        y = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(model.outputs[0])
        y = layers.TimeDistributed(layers.Dense(2, activation="tanh"))(y)
        model = models.Model(model.inputs, layers.GRU(3, reset_after=d.flag())(y))
    randomised(model, d)
    return model, [d.rng.integers(0, words, shape).astype(model.inputs[0].dtype)], False


def test_embedding():
    keras_cases.check([embedding_case(seed) for seed in range(80)])


def test_shared_layers_and_states_between_layers():
    """An encoder and a decoder; one layer called twice; nested models with states."""
    d = Draw(1)
    made = []
    for seed in range(12):
        a, b = layers.Input(shape=(None, 3)), layers.Input(shape=(None, 3))
        kind = ["GRU", "LSTM", "SimpleRNN"][seed % 3]
        encoder = getattr(layers, kind)(4, return_state=True, return_sequences=True)
        decoder = getattr(layers, kind)(4, return_sequences=seed % 2 == 0)
        first = encoder(a)
        second = encoder(b)
        y = decoder(b, initial_state=first[1:])
        z = decoder(a, initial_state=second[1:])
        model = models.Model([a, b], [y, z, first[0]])
        if seed % 4 == 3:
            c, e = layers.Input(shape=(None, 3)), layers.Input(shape=(None, 3))
            model = models.Model([c, e], model([layers.Masking()(c), e]))
        made.append((randomised(model, d), [d.numbers(2, 3, 3), d.numbers(2, 4, 3)], False))
    keras_cases.check(made)
