"""Models of an unmodified Keras 2.3.1 on the module."""

import copy
import gc
import os
import pickle
import tempfile
import threading

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")

import horngate  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, metrics, models, optimizers  # noqa: E402


def data(n=32, features=6, classes=3):
    random = np.random.RandomState(0)
    x = random.rand(n, features).astype("float32")
    return x, np.eye(classes, dtype="float32")[x[:, :classes].argmax(1)]


def classifier(optimizer="adam"):
    np.random.seed(3)
    model = models.Sequential()
    model.add(layers.Dense(16, activation="relu", input_shape=(6,)))
    model.add(layers.BatchNormalization())
    model.add(layers.Dense(3, activation="softmax"))
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"])
    return model


def test_training_lowers_the_loss():
    x, y = data()
    history = classifier().fit(x, y, epochs=15, batch_size=8, verbose=0).history
    assert history["loss"][-1] < 0.8 * history["loss"][0]
    assert all(isinstance(v, float) or type(v) is np.float32 for v in history["accuracy"])


def test_a_schedule_may_return_the_variables_value():
    x, y = data()
    model = classifier()
    schedule = keras.callbacks.LearningRateScheduler(lambda _: K.get_value(model.optimizer.lr))
    model.fit(x, y, verbose=0, callbacks=[schedule])


@pytest.mark.parametrize("optimizer", ["sgd", "rmsprop", "adagrad", "adadelta", "adam", "nadam"])
def test_a_saved_model_goes_on_as_if_nothing_had_happened(optimizer, tmp_path):
    x, y = data()
    model = classifier(optimizer)
    model.fit(x, y, epochs=2, verbose=0, shuffle=False)
    model.save(str(tmp_path / "model.h5"))
    again = models.load_model(str(tmp_path / "model.h5"))
    kept = model.optimizer.get_weights()
    assert kept and len(kept) == len(again.optimizer.get_weights())
    for a, b in zip(again.optimizer.get_weights(), kept):
        np.testing.assert_array_equal(a, b)
    for m in (model, again):
        m.fit(x, y, epochs=2, verbose=0, shuffle=False)
    np.testing.assert_allclose(again.predict(x), model.predict(x), rtol=1e-6)


def test_lambda_has_its_real_shape():
    x = layers.Input((4, 5))
    mean = layers.Lambda(lambda x: K.mean(x, axis=1))(x)
    assert mean._keras_shape == K.int_shape(mean) == (None, 5)
    two = layers.Lambda(lambda x: [x[:, 0], K.stack([x, x], axis=1)])(x)
    assert [K.int_shape(y) for y in two] == [(None, 5), (None, 2, 4, 5)]
    joined = layers.Lambda(lambda xs: K.concatenate(xs, axis=-1))([mean, two[0]])
    model = models.Model(x, layers.Dense(2)(joined))
    assert model.layers[-2].output_shape == (None, 10)
    assert model.predict(np.ones((3, 4, 5))).shape == (3, 2)
    lines = []
    model.summary(print_fn=lines.append)
    assert any("(None, 10)" in line for line in lines)


def test_lambda_keeps_what_it_is_told():
    layer = layers.Lambda(lambda x: K.sum(x, axis=2), output_shape=(4,))
    assert layer.compute_output_shape((None, 4, 5)) == (None, 4)
    layer = layers.Lambda(lambda x: x, output_shape=lambda shape: (shape[0], 7))
    assert layer.compute_output_shape((None, 4, 5)) == (None, 7)


def test_lambda_of_integers_is_traced_on_integers():
    x = layers.Input((3,), dtype="int32")
    y = layers.Lambda(lambda i: K.one_hot(i, 4))(x)
    assert K.int_shape(y) == (None, 3, 4)


def test_time_distributed_lambda():
    x = layers.Input((3, 4, 5))
    y = layers.TimeDistributed(layers.Lambda(lambda x: K.mean(x, axis=-1)))(x)
    assert K.int_shape(y) == (None, 3, 4)
    value = np.random.RandomState(0).rand(2, 3, 4, 5).astype("float32")
    np.testing.assert_allclose(models.Model(x, y).predict(value), value.mean(-1), rtol=1e-6)


def test_settings_have_one_truth():
    try:
        K.set_floatx("float64")
        assert horngate.floatx() == "float64" and K.dtype(K.variable(1.0)) == "float64"
        assert K.dtype(layers.Input((2,))) == "float64"
        horngate.set_floatx("float16")
        assert K.floatx() == "float16" and K.dtype(K.placeholder((1,))) == "float16"
        K.set_floatx("float32")
        K.set_epsilon(0.25)
        assert horngate.epsilon() == 0.25
        loss = K.categorical_crossentropy(K.constant([[1.0, 0.0]]), K.constant([[0.0, 1.0]]))
        np.testing.assert_allclose(K.eval(loss), [-np.log(0.25)])
        K.set_image_data_format("channels_first")
        assert horngate.image_data_format() == "channels_first"
        y = layers.Conv2D(4, 3)(layers.Input((3, 8, 8)))
        assert K.int_shape(y) == (None, 4, 6, 6)
    finally:
        K.set_floatx("float32")
        K.set_epsilon(1e-7)
        K.set_image_data_format("channels_last")


def test_metrics_count_the_batch_that_was_just_trained():
    x, y = data()
    model = classifier()
    K.set_value(model.optimizer.lr, 0)
    in_training = K.function([model.input, K.learning_phase()], [model.output])
    right = in_training([x, 1])[0].argmax(1) == y.argmax(1)
    _, accuracy = model.train_on_batch(x, y)
    np.testing.assert_allclose(accuracy, right.mean(), rtol=1e-6)
    right = model.predict(x).argmax(1) == y.argmax(1)
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0)[1], right.mean(), rtol=1e-6)


def test_a_metric_adds_up():
    total = metrics.Sum()
    assert K.eval(total(100.0)) == 100 and K.eval(total.total) == 100
    assert K.eval(total([1, 5])) == 106
    total.reset_states()
    assert K.eval(total.total) == 0


def test_stateful_lstm_goes_on():
    x = np.random.RandomState(0).rand(2, 8, 3).astype("float32")
    whole = models.Sequential([layers.LSTM(4, batch_input_shape=(2, 8, 3))])
    parts = models.Sequential([layers.LSTM(4, stateful=True, batch_input_shape=(2, 4, 3))])
    parts.set_weights(whole.get_weights())
    parts.predict(x[:, :4])
    np.testing.assert_allclose(parts.predict(x[:, 4:]), whole.predict(x), rtol=1e-5, atol=1e-6)
    parts.reset_states()
    parts.predict(x[:, :4])
    np.testing.assert_allclose(parts.predict(x[:, 4:]), whole.predict(x), rtol=1e-5, atol=1e-6)


def test_threads_call_one_model():
    """With no preparation: the first calls, which compile, come from several threads at once."""
    x, _ = data()
    model = classifier()
    results, errors = [], []

    def work():
        try:
            results.extend(model.predict(x) for _ in range(20))
        except Exception as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and len(results) == 80
    for result in results:
        np.testing.assert_array_equal(result, results[0])


def test_training_on_tensors():
    model = models.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    x, y = K.ones((4, 3)), K.zeros((4, 2))
    first = model.train_on_batch(x, y)
    model.fit(x, y, steps_per_epoch=20, verbose=0)
    assert model.train_on_batch(x, y) < first


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_turns_of_build_and_train_do_not_add_up():
    x, y = data()

    def turns(n):
        for _ in range(n):
            model = classifier()
            model.train_on_batch(x, y)
            model.predict(x)
            K.clear_session()
        del model
        gc.collect()

    turns(50)
    growth = []
    for _ in range(4):  # the allocator's pools settle; a leak shows in every round
        before = resident()
        turns(200)
        growth.append((resident() - before) / 200)
        if growth[-1] < 512:
            return
    raise AssertionError(f"bytes per turn: {growth}")


def test_deepcopy_and_pickle():
    v = K.variable([1.0, 2.0], name="v")
    v.trainable = True
    other = copy.deepcopy(v)
    K.set_value(v, [5.0, 6.0])
    np.testing.assert_array_equal(K.get_value(other), [1, 2])
    np.testing.assert_array_equal(K.get_value(pickle.loads(pickle.dumps(v))), [5, 6])
    tensor = v + 1
    assert copy.deepcopy(tensor) is tensor and copy.copy(tensor) is tensor
    with pytest.raises(TypeError, match="cannot pickle the tensor"):
        pickle.dumps(tensor)

    adam = copy.deepcopy(optimizers.Adam(lr=0.25))  # the scikit-learn wrapper does this
    assert K.get_value(adam.lr) == np.float32(0.25)


def test_a_model_pickles():
    x, y = data()
    model = classifier()
    model.fit(x, y, verbose=0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_h5py_text_and_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "file.h5")
    with h5py.File(path) as f:  # makes what is not there
        f.attrs["text"] = "name"
        f.attrs["bytes"] = b"name"
        f.attrs["list"] = ["a", "b"]
        f.attrs["copy"] = f.attrs["text"]
        assert f.fid.get_file_image()
    with h5py.File(path) as f:  # and may be written to
        for key in ("text", "bytes", "copy"):
            assert f.attrs[key] == "name" and f.attrs[key].decode("utf8") == "name"
        assert [n.decode() for n in f.attrs["list"]] == ["a", "b"]
        f["more"] = np.ones(2)
    with h5py.File(path, "r") as f, pytest.raises(ValueError):
        f["no"] = 1


def test_old_names_of_numpy():
    assert np.Inf == np.inf and np.float_ is np.float64 and np.int is int
    assert np.zeros(2, dtype=np.bool).dtype == "bool"


def test_scikit_learn_takes_the_wrappers():
    base = pytest.importorskip("sklearn.base", reason="scikit-learn is not installed")
    from keras.wrappers.scikit_learn import KerasClassifier
    from sklearn.model_selection import GridSearchCV

    def build(units=4):
        model = models.Sequential([layers.Dense(units, activation="relu", input_shape=(6,))])
        model.add(layers.Dense(3, activation="softmax"))
        model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
        return model

    x, y = data(60)
    wrapper = KerasClassifier(build, epochs=1, verbose=0)
    assert base.clone(wrapper).get_params()["epochs"] == 1
    search = GridSearchCV(wrapper, {"units": [2, 3]}, cv=2, error_score="raise")
    assert search.fit(x, y.argmax(1)).best_params_["units"] in (2, 3)


def test_a_layer_may_know_sizes_that_the_graph_does_not():
    """Reshape computes what -1 stands for; the tensor itself has None there."""
    model = models.Sequential()
    model.add(layers.Reshape((3, -1), input_shape=(5, 3)))
    assert K.int_shape(model.output) == (None, 3, 5)
    model.add(layers.Flatten())
    model.add(layers.Dense(2))
    assert model.predict(np.ones((2, 5, 3))).shape == (2, 2)
