"""Models of the C++ library beside those of Keras: training, files in both directions, weights by order and name."""

import contextlib
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from keras_cases import run_steps as run  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, models, optimizers  # noqa: E402


def said(*arrays):
    return [keras_cases.described(a) for a in arrays]


def close(got, want, tolerance=1e-5):
    assert len(got) == len(want)
    for a, b in zip(got, want):
        a = keras_cases.array_of(a) if isinstance(a, dict) else np.asarray(a)
        np.testing.assert_allclose(
            a, b, rtol=tolerance, atol=tolerance * (1 + np.max(np.abs(b), initial=0))
        )


def data(n=24, features=6, classes=3, seed=0):
    random = np.random.RandomState(seed)
    x = random.rand(n, features).astype("float32")
    return x, np.eye(classes, dtype="float32")[x[:, :classes].argmax(1)]


def classifier(optimizer, metrics=("accuracy",)):
    model = models.Sequential()
    model.add(layers.Dense(8, activation="relu", kernel_regularizer="l2", input_shape=(6,)))
    model.add(layers.Dense(3, activation="softmax"))
    model.compile(optimizer, "categorical_crossentropy", metrics=list(metrics))
    return model


def several():
    a, b = layers.Input((6,), name="left"), layers.Input((6,), name="right")
    shared = layers.Dense(5, activation="tanh", name="shared")
    y = layers.Dense(3, activation="softmax", name="kinds")(shared(a))
    z = layers.Dense(1, name="amount")(shared(b))
    model = models.Model([a, b], [y, z])
    model.compile(
        "adam",
        {"kinds": "categorical_crossentropy", "amount": "mse"},
        metrics={"kinds": ["accuracy"], "amount": ["mae"]},
        loss_weights={"kinds": 1.0, "amount": 0.5},
    )
    return model


OPTIMIZERS = {
    "sgd": lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True, decay=0.01),
    "rmsprop": lambda: optimizers.RMSprop(0.01),
    "adam": lambda: optimizers.Adam(0.01, amsgrad=True, clipnorm=1.0),
    "adadelta": lambda: optimizers.Adadelta(),
    "nadam": lambda: optimizers.Nadam(0.01, clipvalue=0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_where_the_other_language_stopped(name, tmp_path):
    x, y = data()
    whole = classifier(OPTIMIZERS[name]())
    first = str(tmp_path / "first.h5")
    start = whole.get_weights()
    for _ in range(3):
        whole.train_on_batch(x, y)
    whole.save(first)
    wanted = [whole.train_on_batch(x, y) for _ in range(3)]
    back = str(tmp_path / "back.h5")
    train = {"do": "train", "x": said(x), "y": said(y)}
    got = run(
        [{"do": "load", "path": first}, train, train, train, {"do": "save", "path": back}], tmp_path
    )
    for mine, theirs in zip(got[1:4], wanted):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    # And on in Python, with the optimizer's state.
    again = models.load_model(back)
    assert any((a != b).any() for a, b in zip(start, again.get_weights()))
    for a, b in zip(again.get_weights(), whole.get_weights()):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(again.train_on_batch(x, y), whole.train_on_batch(x, y), rtol=1e-5)


def normalised(optimizer, dropout):
    model = models.Sequential()
    model.add(layers.Dense(8, activation="relu", input_shape=(6,)))
    model.add(layers.BatchNormalization())
    model.add(layers.Dropout(dropout, seed=11))
    model.add(layers.Dense(3, activation="softmax"))
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"])
    return model


@pytest.mark.parametrize("name", ["adam", "rmsprop"])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("first", ["python", "cpp"])
def test_training_with_batch_norm_and_dropout_goes_on(name, dropout, first, tmp_path):
    """Three steps here, three there. With dropout the whole training is one that Python loads in between, because the
    numbers of a seed begin anew with each load."""
    x, y = data()
    begin, middle, end = (str(tmp_path / f"{n}.h5") for n in ("begin", "middle", "end"))
    whole = normalised(OPTIMIZERS[name](), dropout)
    whole.save(begin)
    train = [{"do": "train", "x": said(x), "y": said(y)}] * 3
    if dropout:
        whole = models.load_model(begin)
    wanted = [whole.train_on_batch(x, y) for _ in range(3)]
    if dropout:
        whole.save(middle)
        whole = models.load_model(middle)
    wanted += [whole.train_on_batch(x, y) for _ in range(3)]

    def in_python(path, to):
        model = models.load_model(path)
        losses = [model.train_on_batch(x, y) for _ in range(3)]
        model.save(to)
        return losses

    def in_cpp(path, to):
        return run([{"do": "load", "path": path}, *train, {"do": "save", "path": to}], tmp_path)[
            1:4
        ]

    ways = (in_python, in_cpp) if first == "python" else (in_cpp, in_python)
    got = ways[0](begin, middle) + ways[1](middle, end)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    close(models.load_model(end).get_weights(), whole.get_weights())
    for a, b in zip(
        models.load_model(end).optimizer.get_weights(), whole.optimizer.get_weights(), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_frozen_layers_in_nested_models(tmp_path):
    """Their order is another one in files than in get_weights."""
    x, y = data(classes=4)
    inner = models.Sequential([layers.Dense(6, input_shape=(6,)), layers.Dense(6), layers.PReLU()])
    inner.layers[0].trainable = False
    model = models.Sequential([inner, layers.Dense(4)])
    model.compile("adam", "mse")
    model.train_on_batch(x, y)
    first, second = str(tmp_path / "first.h5"), str(tmp_path / "second.h5")
    model.save(first)
    alone = str(tmp_path / "alone.safetensors")
    steps = [
        {"do": "load", "path": first},
        {"do": "save", "path": second},
        {"do": "save_weights", "path": alone},
    ]
    steps += [
        {"do": "load", "path": second},
        {"do": "weights"},
        {"do": "load_weights", "path": alone},
        {"do": "weights"},
    ]
    got = run(steps, tmp_path)
    for weights in (got[4], got[6]):
        for a, b in zip(weights, model.get_weights(), strict=True):
            np.testing.assert_array_equal(keras_cases.array_of(a), b)
    again = models.load_model(second)
    for a, b in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(again.train_on_batch(x, y), model.train_on_batch(x, y), rtol=1e-5)


def test_frozen_layers_two_models_deep(tmp_path):
    """At each depth what is trained comes first, so the weights of a recurrent layer stand behind those of others."""
    x, y = data(n=8)
    inside = models.Sequential(
        [layers.Reshape((6, 1), input_shape=(6,)), layers.LSTM(4), layers.Dense(5)]
    )
    inside.layers[2].trainable = False
    middle = models.Sequential([inside, layers.Dense(3), layers.PReLU()])
    middle.layers[1].trainable = False
    row = models.Sequential([layers.RepeatVector(2, input_shape=(6,))])
    model = models.Sequential(
        [row, layers.TimeDistributed(middle), layers.Flatten(), layers.Dense(3)]
    )
    model.compile("adam", "mse")
    model.train_on_batch(x, y)
    first, second = str(tmp_path / "first.h5"), str(tmp_path / "second.h5")
    model.save(first)
    train = {"do": "train", "x": said(x), "y": said(y)}
    got = run(
        [{"do": "load", "path": first}, {"do": "weights"}, train, {"do": "save", "path": second}],
        tmp_path,
    )
    for a, b in zip(got[1], model.get_weights(), strict=True):
        np.testing.assert_array_equal(keras_cases.array_of(a), b)
    np.testing.assert_allclose(got[2], [model.train_on_batch(x, y)], rtol=1e-5)
    close(models.load_model(second).get_weights(), model.get_weights())


@pytest.mark.parametrize("inside", [False, True])
def test_a_normalisation_that_is_called_twice(inside, tmp_path):
    """Of two updates of its averages the later one weighs more; which that is, Keras's order of layers and calls says."""
    x = layers.Input((6,))
    normalise, wide = layers.BatchNormalization(momentum=0.5), layers.Dense(6)
    late, early = normalise(layers.Activation("tanh")(wide(x))), normalise(x)
    if inside:
        two = models.Model(x, [layers.ReLU()(early), layers.ELU()(late)])
        x = layers.Input((6,))
        early, late = two(x)
    net = models.Model(x, layers.Subtract()([early, late]))
    net.compile("sgd", "mse")
    path = str(tmp_path / "net.h5")
    net.save(path)
    a, b = data(classes=6)
    train = {"do": "train", "x": said(a), "y": said(b)}
    got = run([{"do": "load", "path": path}, train, train, {"do": "weights"}], tmp_path)
    np.testing.assert_allclose(
        np.ravel(got[1:3]), [net.train_on_batch(a, b) for _ in range(2)], rtol=1e-5
    )
    close(got[3], net.get_weights())


def test_a_frozen_model_inside_of_another(tmp_path):
    """As that of a GAN. Keras forgets that it was frozen, C++ writes it down."""
    x, y = data()
    judge = models.Sequential(
        [layers.Dense(5, activation="relu", input_shape=(6,)), layers.Dense(3)], name="judge"
    )
    judge.trainable = False
    model = models.Sequential([layers.Dense(6, input_shape=(6,)), judge])
    model.compile("adam", "mse")
    model.train_on_batch(x, y)
    path, back = str(tmp_path / "gan.h5"), str(tmp_path / "back.h5")
    model.save(path)
    steps = [
        {"do": "load", "path": path},
        {"do": "freeze", "layer": "judge"},
        {"do": "predict", "x": said(x)},
    ]
    train = {"do": "train", "x": said(x), "y": said(y)}
    steps += [
        train,
        {"do": "save", "path": back},
        {"do": "load", "path": back},
        train,
        {"do": "weights"},
    ]
    got = run(steps, tmp_path)
    close(got[2], [model.predict(x)])
    for a, b in zip(got[-1][2:], judge.get_weights(), strict=True):
        np.testing.assert_array_equal(keras_cases.array_of(a), b)
    again = models.load_model(back)
    assert not again.get_layer("judge").trainable_weights
    assert len(again.optimizer.get_weights()) == len(model.optimizer.get_weights())


def test_weights_of_a_model_that_was_frozen_after_one_of_its_layers(tmp_path):
    """C++ writes down that no layer of it trains; the order of weights must be that of such layers."""
    inner = models.Sequential([layers.Dense(6, input_shape=(6,)), layers.Dense(6)], name="inner")
    inner.layers[0].trainable = False
    model = models.Sequential([layers.Dense(6, input_shape=(6,)), inner])
    model.compile("sgd", "mse")
    path, back = str(tmp_path / "net.h5"), str(tmp_path / "back.h5")
    model.save(path)
    steps = [
        {"do": "load", "path": path},
        {"do": "freeze", "layer": "inner"},
        {"do": "save", "path": back},
    ]
    run(steps, tmp_path)
    again = models.load_model(back).get_layer("inner")
    for mine, its in zip(again.layers, inner.layers, strict=True):
        np.testing.assert_array_equal(mine.get_weights()[0], its.get_weights()[0])


def test_calls_that_say_whether_they_train(tmp_path):
    x = layers.Input((6,))
    y = layers.BatchNormalization()(x, training=False)
    y = layers.Dropout(0.5, seed=3)(layers.Dense(5)(y), training=True)
    model = models.Model(x, layers.BatchNormalization()(y))
    model.compile("sgd", "mse")
    path, back = str(tmp_path / "net.h5"), str(tmp_path / "back.h5")
    model.save(path)
    a, b = data(n=200, classes=5)
    shift = model.layers[1].get_weights()
    steps = [
        {"do": "load", "path": path},
        {"do": "to_json"},
        {"do": "predict", "x": said(a), "batch_size": 200},
    ]
    steps += [
        {"do": "train", "x": said(a), "y": said(b)},
        {"do": "weights"},
        {"do": "save", "path": back},
    ]
    got = run(steps, tmp_path)
    assert json.loads(got[1])["config"] == keras_cases.plain(model.get_config())
    predicted = keras_cases.array_of(got[2][0])
    zeros = np.isclose(predicted, predicted.min(axis=1).mean() * 0, atol=1e-7).mean()
    assert 0.4 < zeros < 0.6  # half of them, while it predicts
    # The first normalisation learned nothing, the second one did.
    for mine, before in zip(got[4][2:4], shift[2:]):
        np.testing.assert_array_equal(keras_cases.array_of(mine), before)
    assert np.abs(keras_cases.array_of(got[4][-2])).max() > 0
    again = models.load_model(back)
    assert again.get_config() == model.get_config()


def test_several_inputs_and_outputs(tmp_path):
    x, y = data()
    model = several()
    path = str(tmp_path / "several.h5")
    model.save(path)
    amounts = x[:, :1] * 2
    inputs, targets = said(x, x[::-1].copy()), said(y, amounts)
    got = run(
        [
            {"do": "load", "path": path},
            {"do": "names"},
            {"do": "predict", "x": inputs, "batch_size": 7},
            {
                "do": "fit",
                "x": inputs,
                "y": targets,
                "batch_size": 5,
                "epochs": 2,
                "validation_split": 0.25,
            },
            {"do": "evaluate", "x": inputs, "y": targets, "batch_size": 10},
            {"do": "summary"},
        ],
        tmp_path,
    )
    xs, ys = [x, x[::-1]], [y, amounts]
    assert got[1] == model.metrics_names
    close(got[2], model.predict(xs, batch_size=7))
    history = model.fit(
        xs, ys, batch_size=5, epochs=2, validation_split=0.25, shuffle=False, verbose=0
    ).history
    assert sorted(got[3]) == sorted(history)
    for key, values in history.items():
        np.testing.assert_allclose(got[3][key], values, rtol=2e-5, err_msg=key)
    np.testing.assert_allclose(got[4], model.evaluate(xs, ys, batch_size=10, verbose=0), rtol=2e-5)
    lines = []
    model.summary(print_fn=lines.append)
    assert got[5].rstrip("\n").split("\n") == lines


def test_names_of_metrics_stand_in_the_order_of_their_values(tmp_path):
    """Of each output first the metrics, then the weighted ones."""
    x, y = data()
    model = several()
    model.compile(
        "sgd",
        ["categorical_crossentropy", "mse"],
        metrics=[["accuracy"], ["mae"]],
        weighted_metrics=[["categorical_crossentropy"], ["logcosh"]],
    )
    path = str(tmp_path / "several.h5")
    model.save(path)
    xs, ys, weights = [x, x[::-1].copy()], [y, x[:, :1] * 2], [x[:, 1], x[:, 2]]
    steps = [
        {"do": "load", "path": path},
        {"do": "names"},
        {"do": "test", "x": said(*xs), "y": said(*ys), "sample_weight": said(*weights)},
    ]
    _, names, values = run(steps, tmp_path)
    wanted = model.test_on_batch(xs, ys, sample_weight=weights)
    assert names == model.metrics_names and len(set(np.round(wanted, 4))) == len(wanted)
    np.testing.assert_allclose(values, wanted, rtol=1e-5)


def test_losses_inside_of_time_distributed(tmp_path):
    """That of the layer counts, those of layers in a model do not: so it is in Keras."""
    inner = models.Sequential(
        [layers.Dense(3, activity_regularizer="l2", kernel_regularizer="l1", input_shape=(4,))]
    )
    x = layers.Input((5, 4))
    y = layers.TimeDistributed(inner)(x)
    y = layers.TimeDistributed(layers.Dense(2, activity_regularizer="l2"))(y)
    z = layers.Reshape((5, 4, 1))(x)
    z = layers.TimeDistributed(layers.TimeDistributed(layers.Dense(2, activity_regularizer="l2")))(
        z
    )
    model = models.Model(x, [y, z])
    model.compile("sgd", "mse")
    path = str(tmp_path / "net.h5")
    model.save(path)
    random = np.random.RandomState(3)
    a, b, c = (random.rand(6, *s).astype("float32") for s in [(5, 4), (5, 2), (5, 4, 2)])
    got = run(
        [{"do": "load", "path": path}, {"do": "test", "x": said(a), "y": said(b, c)}], tmp_path
    )
    np.testing.assert_allclose(got[1], model.test_on_batch(a, [b, c]), rtol=1e-5)


def test_summary_of_a_row_with_two_outputs(tmp_path):
    x = layers.Input((6,))
    y = layers.Dense(5)(x)
    model = models.Model(x, [y, layers.Dense(2)(y)])
    path = str(tmp_path / "net.h5")
    model.save(path)
    lines = []
    model.summary(print_fn=lines.append)
    got = run([{"do": "load", "path": path}, {"do": "summary"}], tmp_path)
    assert got[1].rstrip("\n").split("\n") == lines


def test_weights_of_samples_and_classes(tmp_path):
    x, y = data()
    model = classifier("sgd")
    path = str(tmp_path / "net.h5")
    model.save(path)
    weights = np.linspace(0, 2, len(x)).astype("float32")
    classes = {0: 0.5, 1: 2.0, 2: 1.0}
    got = run(
        [
            {"do": "load", "path": path},
            {"do": "train", "x": said(x), "y": said(y), "sample_weight": said(weights)},
            {
                "do": "train",
                "x": said(x),
                "y": said(y),
                "class_weight": list(map(list, classes.items())),
            },
            {
                "do": "evaluate",
                "x": said(x),
                "y": said(y),
                "sample_weight": said(weights),
                "batch_size": 7,
            },
        ],
        tmp_path,
    )
    np.testing.assert_allclose(got[1], model.train_on_batch(x, y, sample_weight=weights), rtol=1e-5)
    np.testing.assert_allclose(got[2], model.train_on_batch(x, y, class_weight=classes), rtol=1e-5)
    np.testing.assert_allclose(
        got[3], model.evaluate(x, y, sample_weight=weights, batch_size=7, verbose=0), rtol=1e-5
    )


@pytest.mark.parametrize("suffix", ["h5", "safetensors"])
def test_weights_alone(suffix, tmp_path):
    model = classifier("sgd")
    whole, alone = str(tmp_path / "whole.h5"), str(tmp_path / f"alone.{suffix}")
    model.save(whole)
    text = model.to_json()
    got = run(
        [
            {"do": "load", "path": whole},
            {"do": "save_weights", "path": alone},
            {"do": "from_json", "text": text},
            {"do": "load_weights", "path": alone},
            {"do": "weights"},
            {"do": "load_weights", "path": whole, "by_name": True},
            {"do": "weights"},
        ],
        tmp_path,
    )
    for weights in (got[4], got[6]):
        for a, b in zip(weights, model.get_weights()):
            np.testing.assert_array_equal(keras_cases.array_of(a), b)
    if suffix == "h5":
        K.clear_session()
        other = models.model_from_json(text)
        other.load_weights(alone)
        for a, b in zip(other.get_weights(), model.get_weights()):
            np.testing.assert_array_equal(a, b)


def test_whole_models_in_safetensors(tmp_path):
    """What Keras trained, saved there and loaded again, goes on; the format's own library reads the parts."""
    safe_open = pytest.importorskip("safetensors").safe_open
    x, y = data()
    model = classifier("adam")
    model.train_on_batch(x, y)
    first, whole = str(tmp_path / "first.h5"), str(tmp_path / "whole.safetensors")
    model.save(first)
    train = {"do": "train", "x": said(x), "y": said(y)}
    got = run(
        [
            {"do": "load", "path": first},
            {"do": "save", "path": whole},
            {"do": "load", "path": whole},
            {"do": "weights"},
            {"do": "optimizer_weights"},
            train,
            train,
        ],
        tmp_path,
    )
    with safe_open(whole, framework="numpy") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}
    assert json.loads(metadata["model_config"])["config"]["name"] == model.name
    assert json.loads(metadata["training_config"])["optimizer_config"]["class_name"] == "Adam"
    assert (metadata["keras_version"], metadata["backend"]) == ("2.3.1", "tensorflow")
    named = [
        tensors[f"{layer['name']}|{name}"]
        for layer in json.loads(metadata["layers"])
        for name in layer["weights"]
    ]
    state = [
        tensors[f"optimizer_weights|{name}"] for name in json.loads(metadata["optimizer_weights"])
    ]
    for weights in (named, map(keras_cases.array_of, got[3])):
        for a, b in zip(weights, model.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)
    for weights in (state, map(keras_cases.array_of, got[4])):
        for a, b in zip(weights, model.optimizer.get_weights(), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(got[5:], [model.train_on_batch(x, y) for _ in range(2)], rtol=1e-5)


def test_what_c_saves_keras_reads(tmp_path):
    x, y = data()
    model = classifier("adam")
    model.train_on_batch(x, y)
    first, second = str(tmp_path / "first.h5"), str(tmp_path / "second.h5")
    model.save(first)
    run([{"do": "load", "path": first}, {"do": "save", "path": second}], tmp_path)
    again = models.load_model(second)
    assert again.get_config() == model.get_config()
    for a, b in zip(again.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(again.optimizer.get_weights(), model.optimizer.get_weights()):
        np.testing.assert_array_equal(a, b)


def test_weights_of_cudnn_layers(tmp_path):
    """Files that were trained with CuDNN's layers: Keras's own conversion is the oracle."""
    from keras.engine.saving import preprocess_weights_for_loading

    lstm = models.Sequential([layers.LSTM(3, input_shape=(4, 2))])
    random = np.random.RandomState(5)
    saved = [random.rand(2, 12), random.rand(3, 12), random.rand(24)]
    wanted = preprocess_weights_for_loading(lstm.layers[0], [w.astype("float32") for w in saved])
    path = str(tmp_path / "cudnn.h5")
    lstm.save_weights(path)
    import h5py

    with h5py.File(path, "r+") as f:
        group = f[lstm.layers[0].name]
        names = [n if isinstance(n, str) else n.decode() for n in group.attrs["weight_names"]]
        for name, value in zip(names, saved):
            del group[name]
            group[name] = value.astype("float32")
    got = run(
        [
            {"do": "from_json", "text": lstm.to_json()},
            {"do": "load_weights", "path": path},
            {"do": "weights"},
        ],
        tmp_path,
    )
    close(got[2], wanted)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(steps, folder, on_terminal):
    """What the program prints while it does the steps: on a terminal, or into a pipe."""
    case = Path(folder) / "case.json"
    case.write_text(json.dumps([steps]))
    environment = dict(
        os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1", HORNGATE_QUIET="1"
    )
    command = [keras_cases.runner("model_runner"), str(case), str(Path(folder) / "result.json")]
    if not on_terminal:
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=environment, stdout=theirs) as process:
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # what reading says at the end
            while part := os.read(ours, 65536):
                text += part
    os.close(ours)
    assert process.returncode == 0
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("verbose, terminal", [(1, True), (2, True), (2, False), (1, False)])
def test_progress_is_drawn_as_keras_draws_it(verbose, terminal, tmp_path, monkeypatch):
    """Byte for byte, but for how long a step took. Two batches an epoch: whether one in between is drawn is a matter of
    time."""
    x, y = data()
    model = classifier("sgd", metrics=["accuracy", "mae"])
    path = str(tmp_path / "net.h5")
    model.save(path)
    options = {"batch_size": 9, "epochs": 3, "validation_split": 0.25, "verbose": verbose}
    fit = {"do": "fit", "x": said(x), "y": said(y), **options}
    got = shown([{"do": "load", "path": path}, fit], tmp_path, terminal)
    if verbose == 1 and not terminal:
        assert got == ""
        return
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    model.fit(x, y, shuffle=False, **options)
    monkeypatch.undo()
    times = re.compile(r"\d+(us|ms|s)/step|(?<= - )\d+s\b")
    assert times.sub("T", got) == times.sub("T", screen.getvalue())
    assert (verbose == 1) == ("\b" in got)


def crc32c(data):
    """As RFC 3720 has it, by a table."""
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def records(path):
    """The records of an event file, their sums checked."""
    data, at = Path(path).read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack("<Q", data[at : at + 8])
        parts = (data[at : at + 8], data[at + 12 : at + 12 + length])
        sums = struct.unpack("<I", data[at + 8 : at + 12]) + struct.unpack(
            "<I", data[at + 12 + length : at + 16 + length]
        )
        for part, wanted in zip(parts, sums):
            crc = crc32c(part)
            assert (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF == wanted
        yield parts[1]
        at += 16 + length


def test_event_files(tmp_path):
    """The check value of CRC-32C is the standard's; names and values of epochs are those of the history."""
    assert crc32c(b"123456789") == 0xE3069283
    x, y = data()
    path, logs = str(tmp_path / "net.h5"), tmp_path / "logs"
    classifier("sgd").save(path)
    fit = {"do": "fit", "x": said(x), "y": said(y), "epochs": 3, "tensorboard": str(logs)}
    history = run([{"do": "load", "path": path}, fit], tmp_path)[1]
    (file,) = logs.iterdir()
    assert file.name.startswith("events.out.tfevents.")
    first, *epochs = records(file)
    assert first[9:] == b"\x1a\x0dbrain.Event:2"
    assert len(epochs) == 3
    for i, record in enumerate(epochs):
        for name, values in history.items():
            field = (
                b"\x0a"
                + bytes([len(name)])
                + name.encode()
                + b"\x15"
                + struct.pack("<f", values[i])
            )
            assert field in record, (name, record)
