"""What Keras refuses to backends not called tensorflow, mended."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")

from horngate.keras_compat import _events  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import callbacks, layers, metrics, models, utils  # noqa: E402

needs_metrics = pytest.mark.skipif(
    not hasattr(metrics, "Recall"), reason="Keras before 2.3 has no such metrics"
)


def without(items, program):
    """The standard error of a program that runs without some items."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "KERAS_BACKEND": "horngate", "KERAS_HOME": folder}
        env["HORNGATE_KERAS_COMPAT_WITHOUT"] = items
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
        )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def test_the_switch_knows_its_items():
    said = without("MeanIoU,meaniou", "import keras")
    assert said.startswith(
        "ValueError: HORNGATE_KERAS_COMPAT_WITHOUT: must be a comma-separated list of items ("
    )
    assert said.endswith('; got "meaniou".')
    assert without("saving, scikit-learn,np.load", "import keras") == ""


def kept(y_pred, k):
    """Whether each prediction is among the k largest of its row; of equal ones the first."""
    order = np.argsort(-y_pred, axis=-1, kind="stable")[..., :k]
    mask = np.zeros(y_pred.shape, bool)
    np.put_along_axis(mask, order, True, axis=-1)
    return mask


@needs_metrics
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("shape", [(7, 5), (3, 4, 5)])
@pytest.mark.parametrize("options", [{}, {"class_id": 2}, {"thresholds": 0.5}])
def test_top_k_is_numpys(k, shape, options):
    random = np.random.RandomState(k)
    y_true = random.randint(0, 2, shape)
    y_pred = random.randint(0, 9, shape) / 8  # some are equal
    positive = kept(y_pred, k) & (y_pred > options.get("thresholds", -1))
    given = {"y_true": K.constant(y_true), "y_pred": K.constant(y_pred)}
    weights = np.ones(shape)
    if "class_id" in options:  # Keras does not take a class out of the weights
        y_true, positive, weights = (
            a[..., options["class_id"]] for a in (y_true, positive, weights)
        )
    else:
        weights = random.rand(*shape)
        given["sample_weight"] = K.constant(weights)
    hits = (weights * y_true * positive).sum()
    for metric, whole in ((metrics.Precision, positive), (metrics.Recall, y_true)):
        total = (weights * whole).sum()
        got = K.eval(metric(top_k=k, **options)(**given))
        np.testing.assert_allclose(got, hits / total if total else 0, rtol=1e-5)


@needs_metrics
def test_top_k_in_a_model_and_its_configuration():
    model = models.Sequential([layers.Dense(4, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "mse", metrics=[metrics.Recall(top_k=2)])
    x, y = np.random.RandomState(0).rand(50, 3), np.eye(4)[np.arange(50) % 4]
    right = (kept(model.predict(x), 2) & (y == 1)).sum() / 50
    np.testing.assert_allclose(model.evaluate(x, y, verbose=0)[1], right, rtol=1e-6)
    again = metrics.Precision.from_config(metrics.Precision(top_k=3, class_id=1).get_config())
    assert (again.top_k, again.class_id) == (3, 1)
    with pytest.raises(ValueError, match="top_k: must be at most the number of classes, 4; got 5."):
        metrics.Recall(top_k=5)(K.constant(y), K.constant(y))


@needs_metrics
def test_top_k_where_the_number_of_classes_is_open():
    from keras.utils import metrics_utils

    x = K.placeholder((None, None))
    values = np.random.RandomState(3).rand(6, 4).astype("float32")
    [got] = K.function([x], [metrics_utils.filter_top_k(x, 2)])([values])
    np.testing.assert_array_equal(got > -1, kept(values, 2))


def mean_iou(y_true, y_pred, weights, n):
    shares = []
    for c in range(n):
        either = (weights * ((y_true == c) | (y_pred == c))).sum()
        if either:
            shares.append((weights * ((y_true == c) & (y_pred == c))).sum() / either)
    return np.mean(shares) if shares else 0


@needs_metrics
@pytest.mark.parametrize("shape", [(20,), (4, 5), (2, 3, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_mean_iou_is_numpys(shape, weighted):
    random = np.random.RandomState(len(shape))
    metric = metrics.MeanIoU(num_classes=6)
    assert K.eval(metric.result()) == 0
    parts = [(random.randint(0, 4, shape), random.randint(1, 5, shape)) for _ in range(3)]
    weights = [random.rand(*shape) if weighted else np.ones(shape) for _ in parts]
    for (y_true, y_pred), w in zip(parts, weights):
        more = {"sample_weight": K.constant(w)} if weighted else {}
        got = K.eval(metric(K.constant(y_true), K.constant(y_pred), **more))
    seen = [np.stack(a) for a in zip(*parts)]
    np.testing.assert_allclose(got, mean_iou(*seen, np.stack(weights), 6), rtol=1e-5)
    metric.reset_states()
    assert K.eval(metric.result()) == 0


@needs_metrics
def test_mean_iou_takes_a_weight_per_sample():
    y_true, y_pred = np.array([[0, 1], [1, 1]]), np.array([[0, 0], [1, 0]])
    got = metrics.MeanIoU(2)(
        K.constant(y_true), K.constant(y_pred), sample_weight=K.constant([0.5, 2])
    )
    want = mean_iou(y_true, y_pred, np.array([[0.5], [2]]), 2)
    np.testing.assert_allclose(K.eval(got), want, rtol=1e-6)


@needs_metrics
def test_mean_iou_says_when_a_class_does_not_exist():
    wrong = metrics.MeanIoU(2)
    assert np.isnan(K.eval(wrong(K.constant([0, 2]), K.constant([0, 1]))))
    masked = metrics.MeanIoU(2)
    labels, predictions = K.constant([0, 255]), K.constant([0, 1])
    assert K.eval(masked(labels, predictions, sample_weight=K.constant([1, 0]))) == 1


@needs_metrics
def test_mean_iou_in_a_model(tmp_path):
    model = models.Sequential([layers.Lambda(lambda x: x, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=[metrics.MeanIoU(3)])
    random = np.random.RandomState(0)
    x, y = random.randint(0, 3, (2, 40, 3))
    want = mean_iou(y, x, 1.0, 3)
    np.testing.assert_allclose(model.evaluate(x, y, batch_size=7, verbose=0)[1], want, rtol=1e-5)
    config = metrics.MeanIoU(3, name="iou").get_config()
    assert config == {"name": "iou", "dtype": "float32", "num_classes": 3}
    assert metrics.deserialize({"class_name": "MeanIoU", "config": config}).num_classes == 3


# Event files: what is read here follows the description of the format, not the writer.


def fields(data):
    """(number, value) of each field of a protocol buffer."""
    found, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        if kind == 0:
            found.append((number, varint()))
            continue
        size = {1: 8, 5: 4}.get(kind) or varint()
        raw = data[at : at + size]
        assert kind in (1, 2, 5) and len(raw) == size
        at += size
        found.append(
            (number, struct.unpack("<d" if kind == 1 else "<f", raw)[0] if kind != 2 else raw)
        )
    return found


def slow_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unmask(masked):
    rotated = (masked - 0xA282EAD8) & 0xFFFFFFFF
    return (rotated >> 17 | rotated << 15) & 0xFFFFFFFF


def events(folder):
    """Dictionaries of the events of the files of a folder; sums are checked."""
    found = []
    for path in sorted(folder.iterdir()):
        data, at = path.read_bytes(), 0
        assert path.name.startswith("events.out.tfevents.")
        first = True
        while at < len(data):
            length, crc = struct.unpack_from("<QI", data, at)
            body = data[at + 12 : at + 12 + length]
            [crc_body] = struct.unpack_from("<I", data, at + 12 + length)
            assert unmask(crc) == slow_crc32c(data[at : at + 8])
            assert unmask(crc_body) == slow_crc32c(body)
            at += 16 + length
            event = dict(fields(body))
            assert event[1] > 1.7e9  # seconds since 1970
            if first:
                assert event[3] == b"brain.Event:2"
            else:
                found.append((event.get(2, 0), [dict(fields(v)) for _, v in fields(event[5])]))
            first = False
    return found


def scalars(folder):
    """{tag: [(step, value)]}"""
    found = {}
    for step, values in events(folder):
        for value in values:
            if 2 in value:
                found.setdefault(value[1].decode(), []).append((step, value[2]))
    return found


def test_crc32c():
    assert _events.crc32c(b"123456789") == slow_crc32c(b"123456789") == 0xE3069283
    assert _events.crc32c(b"") == 0


def data():
    random = np.random.RandomState(0)
    return random.rand(20, 3), random.rand(20, 2)


def small_model():
    model = models.Sequential([layers.Dense(4, activation="relu", input_shape=(3,))])
    model.add(layers.Dropout(0.5))
    model.add(layers.Dense(2))
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def test_tensorboard_writes_the_history(tmp_path):
    x, y = data()
    history = small_model().fit(
        x,
        y,
        epochs=3,
        verbose=0,
        validation_split=0.5,
        callbacks=[callbacks.TensorBoard(str(tmp_path / "logs"))],
    )
    got = scalars(tmp_path / "logs")
    assert set(got) == set(history.history) and len(got) == 4
    for name, values in history.history.items():
        assert got[name] == [(i, np.float32(v)) for i, v in enumerate(values)]


@pytest.mark.parametrize("update_freq, steps", [("batch", [5, 10, 15, 20, 20]), (9, [10, 20, 20])])
def test_tensorboard_between_epochs(update_freq, steps, tmp_path):
    board = callbacks.TensorBoard(str(tmp_path), update_freq=update_freq)
    small_model().fit(*data(), batch_size=5, verbose=0, callbacks=[board])
    assert [step for step, _ in scalars(tmp_path)["loss"]] == steps


def test_tensorboard_may_be_used_again_and_subclassed(tmp_path):
    class WithRate(callbacks.TensorBoard):
        def __init__(self, **options):
            super().__init__(**options)

        def on_epoch_end(self, epoch, logs=None):
            logs["lr"] = K.eval(self.model.optimizer.lr)
            super().on_epoch_end(epoch, logs)

    board = WithRate(log_dir=str(tmp_path))
    for _ in range(2):
        small_model().fit(*data(), verbose=0, callbacks=[board])
    assert scalars(tmp_path)["lr"] == [(0, np.float32(0.01))] * 2


def doubles(raw):
    return np.frombuffer(raw, "<f8")


def test_histograms_count_all_values(tmp_path):
    x, y = data()
    model = small_model()
    board = callbacks.TensorBoard(str(tmp_path), histogram_freq=2, write_grads=True, batch_size=3)
    model.fit(x, y, epochs=3, verbose=0, validation_data=(x[:10], y[:10]), callbacks=[board])
    found = {}
    for step, values in events(tmp_path):
        for value in values:
            if 5 in value:
                found.setdefault(value[1].decode(), {})[step] = dict(fields(value[5]))
    names = [w.name.replace(":", "_") for w in model.weights]
    outs = [f"{layer.name}_out" for layer in model.layers]
    assert set(found) == {*names, *(f"{n}_grad" for n in names), *outs}
    assert all(set(steps) == {0, 2} for steps in found.values())
    wanted = dict(zip(names, model.get_weights()))
    wanted[outs[-1]] = model.predict(x[:10])
    for tag, want in wanted.items():
        got = found[tag][2]
        np.testing.assert_allclose(
            [got[i] for i in range(1, 6)],
            [want.min(), want.max(), want.size, want.sum(), np.square(want).sum()],
            rtol=1e-5,
            atol=1e-6,
        )
        limits, counts = doubles(got[6]), doubles(got[7])
        assert counts.sum() == want.size and (np.diff(limits) > 0).all()
        for i, limit in enumerate(limits):  # every bucket ends where it says
            assert counts[: i + 1].sum() == (want.astype("float64") < limit).sum()
    assert found[f"{names[0]}_grad"][0][3] == model.get_weights()[0].size * 4  # four batches


def test_histograms_of_odd_values():
    histogram = _events.Histogram("odd")
    histogram.add([])
    histogram.add([0.0, -0.0, 1e300, -1e300, 5e-324])
    [(_, value)] = fields(histogram.value())
    got = dict(fields(dict(fields(value))[5]))
    assert got[3] == 5 and doubles(got[7]).sum() == 5
    with pytest.raises(
        ValueError, match='TensorBoard: "odd" must be finite; it has NaN or infinity.'
    ):
        histogram.add([np.nan])


def test_tensorboard_says_what_it_leaves_out(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        callbacks.TensorBoard(str(tmp_path))
    with pytest.warns(UserWarning, match="TensorBoard: write_images=True needs TensorFlow"):
        callbacks.TensorBoard(str(tmp_path), write_images=True)
    with pytest.raises(ValueError, match="TensorBoard: update_freq must be"):
        callbacks.TensorBoard(str(tmp_path), update_freq="never")
    board = callbacks.TensorBoard(str(tmp_path), histogram_freq=1)
    with pytest.raises(ValueError, match="TensorBoard: validation_data must be provided"):
        small_model().fit(*data(), verbose=0, callbacks=[board])


def test_tensorboard_gets_the_graph_of_layers(tmp_path):
    model = small_model()
    model.fit(*data(), verbose=0, callbacks=[callbacks.TensorBoard(str(tmp_path / "with"))])
    graphs = [v for _, values in events(tmp_path / "with") for v in values if v[1] == b"keras"]
    [graph] = graphs
    assert dict(fields(graph[8]))[8].decode() == model.to_json()
    board = callbacks.TensorBoard(str(tmp_path / "without"), write_graph=False)
    model.fit(*data(), verbose=0, callbacks=[board])
    assert not [v for _, values in events(tmp_path / "without") for v in values if 8 in v]

    class Odd(layers.Layer):
        def get_config(self):
            raise NotImplementedError("nothing to tell")

    odd = models.Sequential([Odd(input_shape=(3,)), layers.Dense(2)])
    odd.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="TensorBoard: no graph is written: nothing to tell"):
        odd.fit(*data(), verbose=0, callbacks=[callbacks.TensorBoard(str(tmp_path / "odd"))])
    assert scalars(tmp_path / "odd")["loss"]


def test_tensorboard_reads_them(tmp_path):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="TensorBoard is not installed",
    )
    x, y = data()
    model = small_model()
    board = callbacks.TensorBoard(str(tmp_path), histogram_freq=1)
    history = model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[board])
    read = accumulator.EventAccumulator(str(tmp_path), size_guidance={"histograms": 0}).Reload()
    assert [e.value for e in read.Scalars("val_loss")] == [
        np.float32(v) for v in history.history["val_loss"]
    ]
    [_, last] = read.Histograms(model.weights[0].name.replace(":", "_"))
    assert last.step == 1 and last.histogram_value.num == 12
    keras_util = pytest.importorskip("tensorboard.plugins.graph.keras_util")
    [graph] = read.Tensors("keras")
    config = json.loads(graph.tensor_proto.string_val[0])
    nodes = keras_util.keras_model_to_graph_def(config).node
    assert {layer.name for layer in model.layers} <= {node.name.split("/")[-1] for node in nodes}


@pytest.mark.parametrize("options", [{}, {"return_sequences": True}, {"go_backwards": True}])
@pytest.mark.parametrize(
    "ours, plain",
    [
        (layers.CuDNNLSTM, lambda n, **o: layers.LSTM(n, recurrent_activation="sigmoid", **o)),
        (
            layers.CuDNNGRU,
            lambda n, **o: layers.GRU(n, recurrent_activation="sigmoid", reset_after=True, **o),
        ),
    ],
    ids=["LSTM", "GRU"],
)
def test_cudnn_layers_compute_what_plain_ones_do(ours, plain, options, tmp_path):
    """Keras itself converts weights of files from one kind to the other."""
    random = np.random.RandomState(1)
    one = models.Sequential([ours(4, input_shape=(5, 3), **options)])
    one.set_weights([random.randn(*w.shape) for w in one.get_weights()])
    other = models.Sequential([plain(4, input_shape=(5, 3), **options)])
    path = str(tmp_path / "weights.h5")
    one.save_weights(path)
    other.load_weights(path)
    x = random.randn(6, 5, 3)
    np.testing.assert_allclose(one.predict(x), other.predict(x), rtol=1e-5, atol=1e-6)
    # And back.
    back = models.Sequential([ours(4, input_shape=(5, 3), **options)])
    other.save_weights(path)
    back.load_weights(path)
    np.testing.assert_allclose(back.predict(x), other.predict(x), rtol=1e-5, atol=1e-6)
    # They learn the same. An LSTM of cuDNN has two biases, each with the gradient of the sum.
    start = other.get_weights()
    y = random.randn(6, *one.output_shape[1:])
    for model in (one, other):
        model.compile("sgd", "mse")
        model.train_on_batch(x, y)
    one.save_weights(path)
    learnt = other.get_weights()
    other.load_weights(path)
    for i, (got, was, want) in enumerate(zip(other.get_weights(), start, learnt)):
        times = 2 if ours is layers.CuDNNLSTM and i == 2 else 1
        assert not np.allclose(was, want, rtol=0, atol=1e-5)
        np.testing.assert_allclose(got - was, times * (want - was), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("layer", [layers.CuDNNLSTM, layers.CuDNNGRU])
def test_cudnn_layers_in_models(layer, tmp_path):
    first = layer(3, return_state=True, kernel_regularizer="l2", stateful=True)
    x = layers.Input(batch_shape=(2, 4, 3))
    out, *states = first(x)
    second = layer(3, return_sequences=True)(x, initial_state=states)
    both = layers.Bidirectional(layer(2))(second)
    model = models.Model(x, [out, both])
    model.compile("adam", "mse")
    values = np.random.RandomState(0).rand(2, 4, 3)
    once = model.predict(values, batch_size=2)
    again = model.predict(values, batch_size=2)  # goes on where it was
    assert not np.allclose(once[0], again[0])
    model.reset_states()
    np.testing.assert_allclose(model.predict(values, batch_size=2)[0], once[0], rtol=1e-6)
    model.train_on_batch(values, [np.ones((2, 3)), np.ones((2, 4))])
    model.reset_states()
    path = str(tmp_path / "model.h5")
    model.save(path)
    loaded = models.load_model(path)
    for a, b in zip(loaded.predict(values, batch_size=2), model.predict(values, batch_size=2)):
        np.testing.assert_array_equal(a, b)
    assert len(first.losses) == 1 and len(first.trainable_weights) == 3
    with pytest.raises(ValueError, match="Masking is not supported"):
        layer(2)(layers.Masking()(x))


def test_cudnn_forget_gates_begin_with_one():
    layer = layers.CuDNNLSTM(2)
    layer.build((None, None, 3))
    bias = K.get_value(layer.bias)
    np.testing.assert_array_equal(bias, [0] * 10 + [1] * 2 + [0] * 4)
    other = layers.CuDNNLSTM(2, unit_forget_bias=False, bias_initializer="ones")
    other.build((None, None, 3))
    np.testing.assert_array_equal(K.get_value(other.bias), np.ones(16))


def test_multi_gpu_model_on_one_device():
    x, y = data()
    model = small_model()
    with pytest.warns(UserWarning, match="multi_gpu_model: there is one device; .* place of 2 "):
        parallel = utils.multi_gpu_model(model, gpus=2)
    assert parallel is not model and parallel.layers[-2] is model
    np.testing.assert_array_equal(parallel.predict(x), model.predict(x))
    parallel.compile("sgd", "mse")
    before = model.predict(x)
    parallel.fit(x, y, verbose=0)
    assert not np.allclose(model.predict(x), before)  # one set of weights
    np.testing.assert_array_equal(parallel.predict(x), model.predict(x))


def test_multi_gpu_model_keeps_names_of_outputs():
    a, b = layers.Input((2,)), layers.Input((2,))
    shared = layers.Dense(1, name="twin")
    model = models.Model([a, b], [shared(a), shared(b), layers.Dense(2, name="other")(a)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel = utils.multi_gpu_model(model)
    assert parallel.output_names == ["twin_1", "twin_2", "other"]
    parallel.compile("sgd", {"twin_1": "mse", "twin_2": "mae", "other": "mse"})
    with pytest.raises(ValueError, match="multi_gpu_model: gpus must be a number"):
        utils.multi_gpu_model(model, gpus="all")
