"""Models of Keras 1 on our module: training, callbacks, files, masks, states."""

import keras
import numpy as np
import pytest
from keras import backend as K
from keras import callbacks, layers
from keras.models import Model, Sequential, load_model, model_from_json, model_from_yaml


def data(n=64, features=6, classes=3):
    random = np.random.RandomState(0)
    x = random.rand(n, features).astype("float32")
    return x, np.eye(classes, dtype="float32")[x[:, :classes].argmax(1)]


def classifier(optimizer="adam"):
    np.random.seed(3)
    model = Sequential()
    model.add(layers.Dense(16, activation="relu", input_dim=6))
    model.add(layers.BatchNormalization())
    model.add(layers.Dropout(0.1))
    model.add(layers.Dense(3, activation="softmax"))
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"])
    return model


def test_the_backend_is_ours():
    assert K.backend() == K._BACKEND == "horngate"
    assert K.image_dim_ordering() == ("th" if keras.__version__ < "1.1" else "tf")
    assert K.epsilon() == 1e-7


def test_training_with_callbacks(tmp_path):
    x, y = data()
    model = classifier()
    best, log = str(tmp_path / "best.h5"), str(tmp_path / "log.csv")
    has_logger = hasattr(callbacks, "CSVLogger")  # since 1.1
    history = model.fit(
        x,
        y,
        batch_size=16,
        nb_epoch=20,
        verbose=0,
        validation_split=0.25,
        callbacks=[
            callbacks.ModelCheckpoint(best, save_best_only=True),
            callbacks.EarlyStopping(patience=30),
            callbacks.LearningRateScheduler(lambda epoch: 0.01),
            *([callbacks.CSVLogger(log)] if has_logger else []),
        ],
    ).history
    assert history["loss"][-1] < 0.8 * history["loss"][0]
    load_model(best).predict(x)
    if has_logger:
        with open(log) as f:
            assert len(f.readlines()) == 21


def test_accuracy_is_numpys():
    x, y = data()
    model = classifier()
    right = (model.predict(x).argmax(1) == y.argmax(1)).mean()
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0)[1], right, rtol=1e-6)


# Not Nadam, of whose state Keras 1 saves only a part.
@pytest.mark.parametrize("name", ["sgd", "rmsprop", "adagrad", "adadelta", "adam", "adamax"])
def test_a_saved_model_goes_on(name, tmp_path):
    x, y = data()
    np.random.seed(3)
    model = Sequential([layers.Dense(8, activation="tanh", input_dim=6), layers.Dense(3)])
    model.compile(name, "mse")
    model.fit(x, y, nb_epoch=2, verbose=0, shuffle=False)
    model.save(str(tmp_path / "model.h5"))
    again = load_model(str(tmp_path / "model.h5"))
    for m in (model, again):
        m.fit(x, y, nb_epoch=2, verbose=0, shuffle=False)
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-5, atol=1e-6)


def test_configurations_come_back():
    model = classifier()
    assert model_from_json(model.to_json()).count_params() == model.count_params()
    assert model_from_yaml(model.to_yaml()).count_params() == model.count_params()


def test_losses_take_targets_and_predictions_in_this_order():
    y, p = np.array([[0.0, 1.0]]), np.array([[0.25, 0.5]])
    found = {
        name: float(np.mean(K.eval(keras.objectives.get(name)(K.variable(y), K.variable(p)))))
        for name in ("binary_crossentropy", "categorical_crossentropy", "mse", "hinge")
    }
    np.testing.assert_allclose(
        [found["binary_crossentropy"], found["categorical_crossentropy"]],
        [-(np.log(0.75) + np.log(0.5)) / 2, -np.log(0.5 / 0.75)],
        rtol=1e-5,
    )


def test_lambda_knows_its_shape():
    x = layers.Input((4, 5))
    y = layers.Lambda(lambda x: K.mean(x, axis=1))(x)
    assert y._keras_shape == (None, 5)
    model = Model(x, layers.Dense(2)(y))
    assert model.predict(np.ones((3, 4, 5))).shape == (3, 2)


@pytest.mark.parametrize("mode", ["cpu", "mem", "gpu"])
@pytest.mark.parametrize("name", ["SimpleRNN", "LSTM", "GRU"])
def test_recurrent_layers_agree_in_all_modes(name, mode):
    x = np.random.RandomState(0).rand(4, 5, 3).astype("float32")

    def model(mode, **options):
        made = Sequential()
        made.add(layers.Masking(input_shape=(5, 3)))
        made.add(getattr(layers, name)(4, consume_less=mode, **options))
        return made

    x[1, 3:] = 0  # masked
    one = model(mode)
    others = [model(mode, unroll=True)]
    if len(one.get_weights()) == len(
        model("mem").get_weights()
    ):  # "gpu" may keep them in one piece
        others.append(model("mem"))
    for other in others:
        other.set_weights(one.get_weights())
        np.testing.assert_allclose(one.predict(x), other.predict(x), rtol=1e-4, atol=1e-5)
    short = Sequential([getattr(layers, name)(4, consume_less=mode, input_shape=(3, 3))])
    short.set_weights(one.get_weights())
    np.testing.assert_allclose(short.predict(x[:, :3])[1], one.predict(x)[1], rtol=1e-4, atol=1e-5)


def test_stateful_lstm_goes_on():
    x = np.random.RandomState(0).rand(2, 8, 3).astype("float32")
    whole = Sequential([layers.LSTM(4, batch_input_shape=(2, 8, 3))])
    parts = Sequential([layers.LSTM(4, stateful=True, batch_input_shape=(2, 4, 3))])
    parts.set_weights(whole.get_weights())
    for _ in range(2):
        parts.predict(x[:, :4])
        got = parts.predict(x[:, 4:])
        np.testing.assert_allclose(got, whole.predict(x), rtol=1e-5, atol=1e-6)
        parts.reset_states()


def test_words_and_masks():
    model = Sequential()
    model.add(layers.Embedding(10, 4, mask_zero=True, input_length=6))
    model.add(layers.LSTM(3))
    words = np.array([[1, 2, 3, 0, 0, 0]])
    result = model.predict(words)
    short = Sequential([layers.Embedding(10, 4, input_length=3), layers.LSTM(3)])
    short.set_weights(model.get_weights())
    np.testing.assert_allclose(result, short.predict(words[:, :3]), rtol=1e-5, atol=1e-6)


def test_generators_and_weights():
    x, y = data()
    model = classifier()

    def batches():
        while True:
            yield x, y

    model.fit_generator(batches(), samples_per_epoch=128, nb_epoch=2, verbose=0)
    model.fit(x, y, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, nb_epoch=1, verbose=0)
    model.fit(x, y, sample_weight=np.ones(len(x)), nb_epoch=1, verbose=0)


def test_constraints_and_regularizers():
    from keras.constraints import maxnorm
    from keras.regularizers import activity_l1, l1l2

    x, y = data()
    model = Sequential()
    model.add(
        layers.Dense(8, input_dim=6, W_constraint=maxnorm(0.5), W_regularizer=l1l2(0.01, 0.01))
    )
    model.add(layers.Dense(3, activity_regularizer=activity_l1(0.01)))
    model.compile("sgd", "mse")
    model.fit(x, y, nb_epoch=3, verbose=0)
    assert np.linalg.norm(model.get_weights()[0], axis=0).max() < 0.5 + 1e-5


def test_graphs_with_two_ends():
    a, b = layers.Input((3,), name="a"), layers.Input((3,), name="b")
    both = layers.merge([a, b], mode="concat")
    model = Model([a, b], [layers.Dense(2, name="p")(both), layers.Dense(1, name="q")(both)])
    model.compile(
        "adam", {"p": "mse", "q": "binary_crossentropy"}, loss_weights={"p": 1.0, "q": 0.5}
    )
    inputs = {"a": np.ones((4, 3)), "b": np.zeros((4, 3))}
    losses = model.train_on_batch(inputs, {"p": np.ones((4, 2)), "q": np.zeros((4, 1))})
    np.testing.assert_allclose(losses[0], losses[1] + 0.5 * losses[2], rtol=1e-5)
