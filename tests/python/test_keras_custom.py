"""Functions and classes of users in files: what Keras writes of them, and C++ given the same under their names."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from keras_cases import run_steps as run  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, losses, metrics, models, optimizers, utils  # noqa: E402
from keras.regularizers import Regularizer  # noqa: E402


def doubled(x):
    return 2 * x


def threes(shape, dtype=None):
    return 3 * K.ones(shape, dtype=dtype)


def cubes(w):
    return K.sum(K.abs(w * w * w))


def halved(w):
    return 0.5 * w


def far(y_true, y_pred):
    return K.mean(K.pow(K.abs(y_true - y_pred), 3.0), axis=-1)


def near(y_true, y_pred):
    return K.mean(K.abs(y_true - y_pred), axis=-1)


class Powers(Regularizer):
    def __init__(self, p=2.0):
        self.p = p

    def __call__(self, w):
        return K.sum(K.pow(K.abs(w), self.p))

    def get_config(self):
        return {"p": self.p}


class Far(losses.Loss):
    def __init__(self, p=2.0, **options):
        super().__init__(**options)
        self.p = p

    def call(self, y_true, y_pred):
        return K.mean(K.pow(K.abs(y_true - y_pred), self.p), axis=-1)

    def get_config(self):
        return {"p": self.p, **super().get_config()}


class Near(metrics.MeanMetricWrapper):
    def __init__(self, name="near", dtype=None):
        super().__init__(near, name, dtype)

    def get_config(self):
        return {"name": self.name, "dtype": self.dtype}


class Signs(optimizers.Optimizer):
    def __init__(self, rate=0.01, **options):
        super().__init__(**options)
        self.rate = rate
        self.iterations = K.variable(0, dtype="int64", name="iterations")

    def get_updates(self, loss, params):
        speeds = [K.zeros(K.int_shape(p)) for p in params]
        self.weights = [self.iterations, *speeds]
        self.updates = [K.update_add(self.iterations, 1)]
        for p, g, speed in zip(params, self.get_gradients(loss, params), speeds):
            now = 0.5 * speed + self.rate * K.sign(g)
            self.updates += [K.update(speed, now), K.update(p, p - now)]
        return self.updates

    def get_config(self):
        return {"rate": self.rate, **super().get_config()}


# Keras calls what it finds for a regularizer, constraint or initializer with its options, and takes the result.
OWN = {f.__name__: f for f in (doubled, far, near, Powers, Far, Near, Signs)}
OWN.update(threes=lambda: threes, cubes=lambda: cubes, halved=lambda: halved)


def said(*arrays):
    return [keras_cases.described(a) for a in arrays]


def data():
    random = np.random.RandomState(0)
    return random.rand(10, 3).astype("float32"), random.rand(10, 2).astype("float32")


def net(optimizer, loss="mse", metric="mae"):
    inner = models.Sequential(
        [
            layers.Dense(
                4,
                activation=doubled,
                kernel_initializer=threes,
                kernel_regularizer=cubes,
                bias_constraint=halved,
                input_shape=(3,),
            )
        ]
    )
    steps = layers.Reshape((4, 1), input_shape=(4,))
    with utils.CustomObjectScope({"doubled": doubled, "cubes": lambda: cubes}):
        one = layers.SimpleRNN(3, activation=doubled, kernel_regularizer=cubes)
        both = layers.Bidirectional(one)  # makes the other from the configuration
    last = layers.TimeDistributed(layers.Dense(2, kernel_regularizer=Powers(1.5)))
    model = models.Sequential(
        [inner, steps, both, layers.RepeatVector(2), last, layers.GlobalMaxPooling1D()]
    )
    for w in model.weights:
        K.set_value(w, 0.1 * np.random.RandomState(1).normal(size=K.int_shape(w)))
    model.compile(optimizer, loss, metrics=[metric])
    return model


@pytest.mark.parametrize("loss", ["mse", far, Far(p=2.5)], ids=["mse", "function", "class"])
@pytest.mark.parametrize("optimizer", ["adam", Signs(rate=0.02)], ids=["adam", "class"])
def test_files_of_keras_load_and_train_on(loss, optimizer, tmp_path):
    x, y = data()
    metric = near if loss == "mse" else Near()
    if optimizer != "adam":
        optimizer = Signs(rate=0.02)  # each model its own
    model = net(optimizer, loss, metric)
    model.train_on_batch(x, y)
    path, back = str(tmp_path / "net.h5"), str(tmp_path / "back.h5")
    model.save(path)
    train = {"do": "train", "x": said(x), "y": said(y)}
    got = run(
        [
            {"do": "load", "path": path, "custom": True},
            {"do": "predict", "x": said(x)},
            {"do": "save", "path": back},
            train,
            train,
            {"do": "weights"},
            {"do": "from_json", "text": model.to_json(), "custom": True},
        ],
        tmp_path,
    )
    np.testing.assert_allclose(keras_cases.array_of(got[1][0]), model.predict(x), rtol=1e-5)
    np.testing.assert_allclose(got[3:5], [model.train_on_batch(x, y) for _ in range(2)], rtol=1e-5)
    for a, b in zip(got[5], model.get_weights(), strict=True):
        np.testing.assert_allclose(keras_cases.array_of(a), b, rtol=1e-4, atol=1e-6)


def test_what_c_saves_of_them_keras_reads(tmp_path):
    x, y = data()
    model = net(Signs(rate=0.02), far, near)
    model.train_on_batch(x, y)
    path, back = str(tmp_path / "net.h5"), str(tmp_path / "back.h5")
    model.save(path)
    run([{"do": "load", "path": path, "custom": True}, {"do": "save", "path": back}], tmp_path)
    with utils.CustomObjectScope(OWN):
        again = models.load_model(back)
        assert again.to_json() == models.load_model(path).to_json()
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.train_on_batch(x, y) == pytest.approx(model.train_on_batch(x, y), rel=1e-5)


def test_classes_of_losses_and_metrics_in_keras(tmp_path):
    """Keras finds a class of losses in a scope, not in custom_objects, and no class of metrics: C++ finds both."""
    x, y = data()
    model = net("adam", Far(p=2.5), "mae")
    path = str(tmp_path / "net.h5")
    model.save(path)
    with pytest.raises((ValueError, TypeError)):
        models.load_model(path, custom_objects=OWN)
    with utils.CustomObjectScope(OWN):
        again = models.load_model(path)
    steps = [
        {"do": "load", "path": path, "custom": True},
        {"do": "test", "x": said(x), "y": said(y)},
    ]
    np.testing.assert_allclose(run(steps, tmp_path)[1], again.test_on_batch(x, y), rtol=1e-5)
    model = net("adam", "mse", Near())
    model.save(path)
    with utils.CustomObjectScope(OWN), pytest.raises(ValueError):
        models.load_model(path)
    np.testing.assert_allclose(run(steps, tmp_path)[1], model.test_on_batch(x, y), rtol=1e-5)
