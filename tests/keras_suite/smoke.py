"""A short walk through an unmodified Keras on our module: import, train, save, load.

For versions of Keras and of its packages whose own tests are not run; tools/test_keras.py calls it.
"""

import os
import tempfile

import keras
import numpy as np
from keras import backend as K
from keras import callbacks, layers, models

STEPS = []


def step(function):
    STEPS.append(function)
    return function


def data(n=64, features=6, classes=3):
    random = np.random.RandomState(0)
    x = random.rand(n, features).astype("float32")
    return x, np.eye(classes, dtype="float32")[x[:, :classes].argmax(1)]


def classifier():
    model = models.Sequential()
    model.add(layers.Dense(16, activation="relu", input_shape=(6,)))
    model.add(layers.BatchNormalization())
    model.add(layers.Dropout(0.1))
    model.add(layers.Dense(3, activation="softmax"))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model


@step
def trains_with_callbacks():
    x, y = data()
    model = classifier()
    with tempfile.TemporaryDirectory() as folder:
        best, log = os.path.join(folder, "best.h5"), os.path.join(folder, "log.csv")
        history = model.fit(
            x,
            y,
            batch_size=16,
            epochs=20,
            verbose=0,
            validation_split=0.25,
            callbacks=[
                callbacks.ModelCheckpoint(best, save_best_only=True),
                callbacks.EarlyStopping(patience=20),
                callbacks.ReduceLROnPlateau(patience=5),
                callbacks.LearningRateScheduler(lambda epoch: K.get_value(model.optimizer.lr)),
                callbacks.CSVLogger(log),
            ],
        ).history
        assert history["loss"][-1] < history["loss"][0]
        models.load_model(best).predict(x)
        with open(log) as f:
            assert len(f.readlines()) == 21


@step
def accuracy_is_numpys():
    x, y = data()
    model = classifier()
    got = model.evaluate(x, y, verbose=0)
    right = (model.predict(x).argmax(1) == y.argmax(1)).mean()
    np.testing.assert_allclose(got[1], right, rtol=1e-6)


@step
def saves_and_loads_the_optimizer_too():
    x, y = data()
    model = classifier()
    model.fit(x, y, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.h5")
        model.save(path)
        again = models.load_model(path)
        model.save_weights(path)
        other = classifier()
        other.load_weights(path)
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    np.testing.assert_array_equal(other.predict(x), model.predict(x))
    for a, b in zip(again.optimizer.get_weights(), model.optimizer.get_weights()):
        np.testing.assert_array_equal(a, b)
    assert again.optimizer.get_weights()


@step
def configurations_come_back():
    model = classifier()
    assert models.model_from_json(model.to_json()).count_params() == model.count_params()
    assert models.model_from_yaml(model.to_yaml()).count_params() == model.count_params()


@step
def lambda_knows_its_shape():
    x = layers.Input((4, 5))
    y = layers.Lambda(lambda x: K.mean(x, axis=1))(x)
    assert K.int_shape(y) == (None, 5)
    model = models.Model(x, layers.Dense(2)(y))
    assert model.predict(np.ones((3, 4, 5))).shape == (3, 2)


@step
def recurrent_and_convolutional_layers():
    x = layers.Input((8, 8, 3))
    y = layers.Conv2D(4, 3, padding="same", activation="relu")(x)
    y = layers.MaxPooling2D()(y)
    y = layers.Reshape((4, 16))(y)
    y = layers.Bidirectional(layers.LSTM(5, return_sequences=True, dropout=0.1))(y)
    y = layers.GRU(3)(y)
    model = models.Model(x, layers.Dense(1, activation="sigmoid")(y))
    model.compile("rmsprop", "binary_crossentropy", metrics=["acc"])
    inputs = np.random.RandomState(0).rand(16, 8, 8, 3)
    inputs[:8] -= 1
    targets = np.repeat([[0], [1]], 8, axis=0)
    loss = [model.train_on_batch(inputs, targets)[0] for _ in range(20)]
    assert loss[-1] < loss[0]


class _Batches(keras.utils.Sequence):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        x, y = data()
        return x[index * 16 : index * 16 + 16], y[index * 16 : index * 16 + 16]


@step
def generators_and_workers():
    steps = {
        "steps_per_epoch": 4,
        "workers": 2,
        "verbose": 0,
    }  # Keras 2.0 wants to be told the first
    classifier().fit_generator(_Batches(), epochs=2, **steps)
    classifier().fit_generator(_Batches(), epochs=1, use_multiprocessing=True, **steps)


@step
def applications():
    model = keras.applications.mobilenet.MobileNet(
        input_shape=(32, 32, 3), alpha=0.25, weights=None, classes=10
    )
    assert model.predict(np.zeros((1, 32, 32, 3))).shape == (1, 10)


def main():
    for function in STEPS:
        np.random.seed(1)
        function()
        K.clear_session()
        print(f"  {function.__name__}")


if __name__ == "__main__":
    main()
