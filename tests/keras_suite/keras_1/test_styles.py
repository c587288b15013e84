"""What programs of 2016 did beside training: generators of pictures and texts, boards, wrappers, nets of others."""

import os

import keras
import numpy as np
import pytest
from keras import backend as K
from keras import callbacks, layers
from keras.models import Sequential, load_model


@pytest.fixture(params=["tf", "th"])
def ordering(request):
    before = K.image_dim_ordering()
    K.set_image_dim_ordering(request.param)
    np.random.seed(5)
    yield request.param
    K.set_image_dim_ordering(before)


def picture(n, ordering):
    return (3, n, n) if ordering == "th" else (n, n, 3)


def small_net(shape):
    model = Sequential()
    model.add(layers.Convolution2D(4, 3, 3, activation="relu", input_shape=shape))
    model.add(layers.MaxPooling2D())
    model.add(layers.Flatten())
    model.add(layers.Dense(2, activation="softmax"))
    model.compile("rmsprop", "categorical_crossentropy", metrics=["accuracy"])
    return model


def test_generators_of_pictures(ordering, tmp_path):
    image = pytest.importorskip("keras.preprocessing.image", reason="it needs Pillow")
    x, y = np.random.rand(20, *picture(12, ordering)), np.eye(2)[np.arange(20) % 2]
    changes = image.ImageDataGenerator(
        featurewise_center=True,
        featurewise_std_normalization=True,
        rotation_range=20,
        width_shift_range=0.1,
        shear_range=0.2,
        zoom_range=0.2,
        horizontal_flip=True,
    )
    changes.fit(x)
    model = small_net(picture(12, ordering))
    flow = changes.flow(x, y, batch_size=5)
    model.fit_generator(
        flow, samples_per_epoch=20, nb_epoch=2, verbose=0, validation_data=flow, nb_val_samples=10
    )
    for kind in "ab":
        (tmp_path / kind).mkdir()
        for i in range(3):
            image.array_to_img(255 * x[i]).save(str(tmp_path / kind / f"{i}.png"))
    flow = image.ImageDataGenerator(rescale=1 / 255).flow_from_directory(
        str(tmp_path), target_size=(12, 12), batch_size=6
    )
    assert model.predict_generator(flow, 6).shape == (6, 2)
    model.fit_generator(flow, samples_per_epoch=6, nb_epoch=1, verbose=0)


def test_texts():
    from keras.preprocessing import sequence, text

    texts = ["the cat sat on the mat", "a dog and a cat"]
    words = text.Tokenizer(nb_words=20)
    words.fit_on_texts(texts)
    x = sequence.pad_sequences(words.texts_to_sequences(texts), maxlen=6)
    assert x.shape == (2, 6) and words.texts_to_matrix(texts, mode="tfidf").shape == (2, 20)
    model = Sequential()
    model.add(layers.Embedding(20, 8, input_length=6, dropout=0.2))
    model.add(layers.Convolution1D(6, 3, activation="relu"))
    model.add(layers.MaxPooling1D(pool_length=2))
    model.add(layers.Bidirectional(layers.LSTM(4)))
    model.add(layers.RepeatVector(3))
    model.add(layers.GRU(4, return_sequences=True))
    model.add(layers.TimeDistributed(layers.Dense(5)))
    model.add(layers.Activation("softmax"))
    model.compile("adam", "categorical_crossentropy")
    model.fit(x, np.eye(5)[np.ones((2, 3), int)], nb_epoch=2, verbose=0)
    assert model.predict_classes(x, verbose=0).shape == (2, 3)


@pytest.mark.parametrize("data", ["arrays", "generator"])
def test_tensorboard(data, tmp_path):
    x, y = np.random.rand(20, 4), np.random.rand(20, 2)
    model = Sequential([layers.Dense(3, input_dim=4), layers.Dropout(0.5), layers.Dense(2)])
    model.compile("sgd", "mse")
    options = {"verbose": 0, "nb_epoch": 2, "validation_data": (x, y)}
    # By position: the third is write_graph in these editions.
    options["callbacks"] = [callbacks.TensorBoard(str(tmp_path), 1, False)]
    if data == "arrays":
        model.fit(x, y, **options)
    else:
        model.fit_generator(iter(lambda: (x, y), None), samples_per_epoch=20, **options)
    [file] = os.listdir(str(tmp_path))
    written = (tmp_path / file).read_bytes()
    names = [w.name for w in model.weights] + [f"{layer.name}_out" for layer in model.layers]
    assert all(name.replace(":", "_").encode() in written for name in [*names, "val_loss"])
    options["callbacks"] = [callbacks.TensorBoard(str(tmp_path), histogram_freq=1)]
    del options["validation_data"]
    model.fit(x, y, **options)  # without histograms


def test_scikit_learn():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from keras.wrappers.scikit_learn import KerasClassifier, KerasRegressor
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def classifier(units=4):
        model = Sequential()
        model.add(layers.Dense(units, init="uniform", activation="relu", input_dim=4))
        model.add(layers.Dense(1, activation="sigmoid"))
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        return model

    def regressor():
        model = Sequential([layers.Dense(1, input_dim=4)])
        model.compile("adam", "mse")
        return model

    x = np.random.rand(20, 4)
    y = np.arange(20) % 2
    search = GridSearchCV(
        KerasClassifier(classifier, verbose=0), {"units": [3, 5], "nb_epoch": [1]}, cv=2
    )
    assert search.fit(x, y).best_params_["units"] in (3, 5)
    line = make_pipeline(StandardScaler(), KerasRegressor(regressor, nb_epoch=1, verbose=0))
    assert np.isfinite(cross_val_score(line, x, x[:, 0], cv=2, error_score="raise")).all()


@pytest.mark.parametrize("name", ["vgg16.VGG16", "resnet50.ResNet50", "xception.Xception"])
def test_nets_of_others(name, ordering, tmp_path):
    module, net = name.split(".")
    applications = pytest.importorskip(f"keras.applications.{module}", reason="since Keras 1.1")
    model = getattr(applications, net)(weights=None, include_top=False)
    kind = "tf" if net == "Xception" else ordering  # it is always that
    x = applications.preprocess_input(255 * np.random.rand(1, *picture(75, kind)))
    y = model.predict(x)
    assert y.ndim == 4 and np.isfinite(y).all()
    assert y.shape[1 if kind == "th" else 3] == model.output_shape[1 if kind == "th" else 3]


def test_kernels_of_theano_are_flipped(ordering, tmp_path):
    from keras.utils.layer_utils import convert_all_kernels_in_model

    model = small_net(picture(12, ordering))
    before = model.get_weights()[0]
    convert_all_kernels_in_model(model)
    # 1.0 takes every kernel for one of "th".
    is_first = ordering == "th" or keras.__version__ < "1.1"
    axes = (2, 3) if is_first else (0, 1)
    np.testing.assert_array_equal(model.get_weights()[0], np.flip(before, axes))
    model.save(str(tmp_path / "model.h5"))
    x = np.random.rand(1, *picture(12, ordering))
    np.testing.assert_allclose(load_model(str(tmp_path / "model.h5")).predict(x), model.predict(x))
