"""Every layer class of Keras 1 on our module: built, run, trained, saved and loaded, in both orderings."""

import inspect

import keras
import numpy as np
import pytest
from keras import backend as K
from keras import layers
from keras.engine import Layer
from keras.models import Model, load_model, model_from_json

ORDERINGS = ["tf", "th"]
CHANNELS, BATCH = 2, 4
# What a layer takes, without samples and channels.
FLAT, STEPS, IMAGE, VOLUME, FILM, WORDS = (), (5,), (6, 6), (4, 4, 4), (3, 6, 6), (5,)

CASES = {
    "Activation": (dict(activation="tanh"), FLAT),
    "ActivityRegularization": (dict(l1=0.01, l2=0.01), FLAT),
    "AtrousConvolution1D": (dict(nb_filter=3, filter_length=2, atrous_rate=2), STEPS),
    "AtrousConvolution2D": (dict(nb_filter=3, nb_row=2, nb_col=2, atrous_rate=(2, 2)), IMAGE),
    "AveragePooling1D": ({}, STEPS),
    "AveragePooling2D": (dict(border_mode="same"), IMAGE),
    "AveragePooling3D": ({}, VOLUME),
    "BatchNormalization": ({}, FLAT),
    "Bidirectional": (dict(layer=lambda: layers.LSTM(3, return_sequences=True)), STEPS),
    "ConvLSTM2D": (dict(nb_filter=3, nb_row=3, nb_col=3, border_mode="same"), FILM),
    "Convolution1D": (dict(nb_filter=3, filter_length=2, activation="relu"), STEPS),
    "Convolution2D": (dict(nb_filter=3, nb_row=3, nb_col=2, border_mode="same"), IMAGE),
    "Convolution3D": (dict(nb_filter=3, kernel_dim1=2, kernel_dim2=3, kernel_dim3=2), VOLUME),
    "Cropping1D": ({}, STEPS),
    "Cropping2D": (dict(cropping=((1, 2), (0, 1))), IMAGE),
    "Cropping3D": (dict(cropping=((1, 1), (0, 1), (1, 0))), VOLUME),
    "Deconvolution2D": (
        dict(
            nb_filter=3,
            nb_row=3,
            nb_col=3,
            output_shape=lambda: (None, *sizes((8, 8), 3)),
            dim_ordering=lambda: K.image_dim_ordering(),  # 1.0 takes that of its import
        ),
        IMAGE,
    ),
    "Dense": (dict(output_dim=3, activation="relu", W_regularizer="l2"), FLAT),
    "Dropout": (dict(p=0.5), FLAT),
    "ELU": ({}, FLAT),
    "Embedding": (dict(input_dim=7, output_dim=3, input_length=5), WORDS),
    "Flatten": ({}, IMAGE),
    "GRU": (dict(output_dim=3, return_sequences=True), STEPS),
    "GaussianDropout": (dict(p=0.3), FLAT),
    "GaussianNoise": (dict(sigma=0.3), FLAT),
    "GlobalAveragePooling1D": ({}, STEPS),
    "GlobalAveragePooling2D": ({}, IMAGE),
    "GlobalAveragePooling3D": ({}, VOLUME),
    "GlobalMaxPooling1D": ({}, STEPS),
    "GlobalMaxPooling2D": ({}, IMAGE),
    "GlobalMaxPooling3D": ({}, VOLUME),
    "Highway": ({}, FLAT),
    "LSTM": (dict(output_dim=3, dropout_W=0.1, dropout_U=0.1), STEPS),
    "Lambda": (dict(function=lambda: lambda x: x * x), FLAT),
    "LeakyReLU": ({}, FLAT),
    "LocallyConnected1D": (dict(nb_filter=3, filter_length=2), STEPS),
    "LocallyConnected2D": (dict(nb_filter=3, nb_row=3, nb_col=3, subsample=(2, 2)), IMAGE),
    "Masking": ({}, STEPS),
    "MaxPooling1D": ({}, STEPS),
    "MaxPooling2D": (dict(strides=(1, 1)), IMAGE),
    "MaxPooling3D": ({}, VOLUME),
    "MaxoutDense": (dict(output_dim=3), FLAT),
    "PReLU": ({}, FLAT),
    "ParametricSoftplus": ({}, FLAT),
    "Permute": (dict(dims=(2, 1)), STEPS),
    "RepeatVector": (dict(n=3), FLAT),
    "Reshape": (dict(target_shape=(2, 5)), STEPS),
    "SReLU": ({}, FLAT),
    "SeparableConvolution2D": (dict(nb_filter=3, nb_row=3, nb_col=3, depth_multiplier=2), IMAGE),
    "SimpleRNN": (dict(output_dim=3, consume_less="mem"), STEPS),
    "SpatialDropout1D": (dict(p=0.5), STEPS),
    "SpatialDropout2D": (dict(p=0.5), IMAGE),
    "SpatialDropout3D": (dict(p=0.5), VOLUME),
    "ThresholdedReLU": ({}, FLAT),
    "TimeDistributed": (dict(layer=lambda: layers.Dense(3)), STEPS),
    "TimeDistributedDense": (dict(output_dim=3), STEPS),
    "UpSampling1D": ({}, STEPS),
    "UpSampling2D": (dict(size=(2, 3)), IMAGE),
    "UpSampling3D": ({}, VOLUME),
    "ZeroPadding1D": (dict(padding=2), STEPS),
    "ZeroPadding2D": (dict(padding=(1, 2)), IMAGE),
    "ZeroPadding3D": (dict(padding=(1, 2, 1)), VOLUME),
}
# Classes that are not for models, and those that other tests build.
BASES = {"Layer", "Recurrent", "ConvRecurrent2D", "Wrapper", "InputLayer", "Merge"}


def of_this_edition():
    """The layer classes that `keras.layers` has."""
    found = {
        name
        for name, value in vars(layers).items()
        if inspect.isclass(value) and issubclass(value, Layer) and value.__name__ == name
    }
    return sorted(n for n in found - BASES if not n.startswith("_"))


@pytest.fixture(params=ORDERINGS, autouse=True)
def ordering(request):
    before = K.image_dim_ordering()
    K.set_image_dim_ordering("tf" if request.param == "both" else request.param)
    np.random.seed(5)
    yield request.param
    K.set_image_dim_ordering(before)


def sizes(spatial, channels=CHANNELS):
    """A shape without samples: the channels first for pictures in "th"."""
    is_first = K.image_dim_ordering() == "th" and len(spatial) > 1
    if not is_first:
        return (*spatial, channels)
    steps = spatial[:1] if spatial == FILM else ()
    return (*steps, channels, *spatial[len(steps) :])


def make(name):
    options, spatial = CASES[name]
    # Functions give what can only be made now; that of Lambda gives its function.
    values = {k: v() if callable(v) and not inspect.isclass(v) else v for k, v in options.items()}
    layer = getattr(layers, name)(**values)
    if name == "Embedding":
        return layer, WORDS, np.random.randint(0, 7, (BATCH, *WORDS))
    shape = sizes(spatial)
    return layer, shape, np.random.rand(BATCH, *shape).astype("float32") - 0.5


def model_of(layer, shape):
    x = layers.Input(shape, batch_shape=None, dtype="int32" if shape == WORDS else None)
    return Model(x, layer(x))


def test_the_table_has_every_class():
    missing = [name for name in of_this_edition() if name not in CASES]
    assert missing == []


@pytest.mark.parametrize("name", of_this_edition())
def test_layer(name, tmp_path):
    layer, shape, data = make(name)
    model = model_of(layer, shape)
    result = model.predict(data)
    assert result.shape == (BATCH, *model.output_shape[1:]) and np.isfinite(result).all()

    model.compile("sgd", "mse")
    before = model.get_weights()
    targets = np.random.rand(*result.shape)
    assert np.isfinite(model.train_on_batch(data, targets))
    if layer.trainable_weights:
        assert any((a != b).any() for a, b in zip(before, model.get_weights()))

    result = model.predict(data)
    model.save(str(tmp_path / "model.h5"))
    np.testing.assert_allclose(load_model(str(tmp_path / "model.h5")).predict(data), result)
    again = model_from_json(model.to_json())
    model.save_weights(str(tmp_path / "weights.h5"))
    again.load_weights(str(tmp_path / "weights.h5"))
    np.testing.assert_allclose(again.predict(data), result)


# Without those whose weights or results have the elements in the order of the input.
PICTURES = [
    name
    for name in of_this_edition()
    if name in CASES
    and CASES[name][1] in (IMAGE, VOLUME, FILM)
    and name not in ("Flatten", "LocallyConnected2D")
]


def channels_first(array, is_film):
    return np.moveaxis(array, -1, 2 if is_film else 1)


def kernel_first(array):
    """(.., in, out) as (out, in, ..)."""
    return np.transpose(array, (array.ndim - 1, array.ndim - 2, *range(array.ndim - 2)))


@pytest.mark.parametrize("ordering", ["both"], indirect=True)
@pytest.mark.parametrize("name", PICTURES)
def test_both_orderings_give_the_same(name, ordering):
    K.set_image_dim_ordering("tf")
    layer, shape, data = make(name)
    is_film = CASES[name][1] == FILM
    last = model_of(layer, shape)
    K.set_image_dim_ordering("th")
    other, shape, _ = make(name)
    first = model_of(other, shape)
    first.set_weights([kernel_first(w) if w.ndim > 3 else w for w in last.get_weights()])
    wanted = last.predict(data)
    if wanted.ndim > 2:
        wanted = channels_first(wanted, wanted.ndim == 5 and is_film)
    got = first.predict(channels_first(data, is_film))
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mode", ["sum", "mul", "ave", "max", "concat", "dot", "cos"])
def test_merge(mode, tmp_path):
    a, b = layers.Input((3,)), layers.Input((3,))
    y = layers.merge([layers.Dense(4)(a), layers.Dense(4)(b)], mode=mode)
    model = Model([a, b], y)
    data = [np.random.rand(BATCH, 3), np.random.rand(BATCH, 3)]
    result = model.predict(data)
    left, right = (np.asarray(x) @ model.layers[i].get_weights()[0] for i, x in zip((2, 3), data))
    together = {
        "sum": left + right,
        "mul": left * right,
        "ave": (left + right) / 2,
        "max": np.maximum(left, right),
        "concat": np.concatenate([left, right], -1),
        "dot": (left * right).sum(-1, keepdims=True),
        "cos": (left * right).sum(-1, keepdims=True)
        / np.sqrt((left**2).sum(-1, keepdims=True) * (right**2).sum(-1, keepdims=True)),
    }[mode]
    np.testing.assert_allclose(result.reshape(together.shape), together, rtol=1e-4, atol=1e-5)
    model.compile("sgd", "mse")
    model.train_on_batch(data, np.zeros((BATCH, *model.output_shape[1:])))
    result = model.predict(data)
    model.save(str(tmp_path / "model.h5"))
    np.testing.assert_allclose(load_model(str(tmp_path / "model.h5")).predict(data), result)


def test_convolution_is_correlation(ordering):
    scipy_signal = pytest.importorskip("scipy.signal")
    model = keras.models.Sequential()
    model.add(layers.Convolution2D(1, 3, 2, bias=False, input_shape=sizes(IMAGE, 1)))
    data = np.random.rand(1, *sizes(IMAGE, 1)).astype("float32")
    kernel = model.get_weights()[0].reshape(3, 2)
    wanted = scipy_signal.correlate2d(data.reshape(IMAGE), kernel, "valid")
    np.testing.assert_allclose(model.predict(data).reshape(wanted.shape), wanted, rtol=1e-4)
