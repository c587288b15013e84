"""Losses, optimizers and metrics of the C++ library against Keras."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from keras_cases import array_of, described, plain, runner  # noqa: E402
from keras.engine import training_utils

from keras import backend as K
from keras import constraints, losses, metrics, optimizers


@pytest.fixture(params=["float32", "float64"])
def floatx(request):
    """The type of everything that has none of its own."""
    K.set_floatx(request.param)
    yield request.param
    K.set_floatx("float32")


def run(cases):
    for case in cases:
        case["floatx"] = K.floatx()
    with tempfile.TemporaryDirectory() as folder:
        case, result = os.path.join(folder, "case.json"), os.path.join(folder, "result.json")
        Path(case).write_text(json.dumps(cases))
        environment = dict(os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1")
        done = subprocess.run(
            [runner("object_runner"), case, result],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (done.returncode, done.stderr)
        return json.loads(Path(result).read_text())


def same(got, want, said, rtol=1e-6, atol=1e-6):
    assert len(got) == len(want), said
    for k, (a, b) in enumerate(zip(got, want)):
        a = array_of(a)
        assert a.shape == np.shape(b), f"{said}: {k}: shape {a.shape}, not {np.shape(b)}"
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=f"{said}: {k}")


NAMES = [
    "mean_squared_error", "mse", "MSE", "mean_absolute_error", "mae", "MAE", "mean_absolute_percentage_error",
    "mape", "MAPE", "mean_squared_logarithmic_error", "msle", "MSLE", "squared_hinge", "hinge", "categorical_hinge",
    "logcosh", "huber_loss", "categorical_crossentropy", "sparse_categorical_crossentropy", "binary_crossentropy",
    "kullback_leibler_divergence", "kld", "KLD", "poisson", "cosine_proximity", "cosine", "cosine_similarity",
]  # fmt: skip
CLASSES = [
    "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
    "BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "Hinge", "SquaredHinge",
    "CategoricalHinge", "Poisson", "LogCosh", "KLDivergence", "Huber",
]  # fmt: skip


def labels_and_predictions(rng, kind, from_logits=False):
    """Of a shape and with values that suit the loss or metric."""
    kind = kind.lower()
    shape = tuple(int(n) for n in rng.integers(1, 6, size=int(rng.integers(2, 5))))
    if (
        "crossentropy" in kind
        or "categorical" in kind
        or "kl" in kind
        or "kullback" in kind
        or "topk" in kind
    ):
        shape = shape[:-1] + (int(rng.integers(2, 7)),)
        y_pred = rng.uniform(0.01, 1, size=shape)
        if "binary" not in kind:
            y_pred /= y_pred.sum(-1, keepdims=True)
        if from_logits:
            y_pred = rng.normal(size=shape) * 3
        classes = rng.integers(0, shape[-1], size=shape[:-1])
        if "sparse" in kind:
            last = (1,) if rng.integers(2) else ()
            return classes.reshape(shape[:-1] + last).astype("float32"), y_pred.astype("float32")
        y_true = np.eye(shape[-1])[classes] if rng.integers(2) else rng.integers(0, 2, size=shape)
        return y_true.astype("float32"), y_pred.astype("float32")
    y_pred = rng.normal(size=shape)
    y_true = rng.normal(size=shape)
    if "hinge" in kind:
        y_true = rng.integers(0, 2, size=shape)
        if rng.integers(2):
            y_true = 2 * y_true - 1
    if "poisson" in kind or "logarithmic" in kind:
        y_pred, y_true = np.abs(y_pred) + 0.01, np.abs(y_true)
    return y_true.astype("float32"), y_pred.astype("float32")


def weights_for(rng, shape):
    """None, or weights that Keras takes for losses of this shape."""
    choice = int(rng.integers(0, 5))
    if choice == 0:
        return None
    if choice == 1:
        shape = ()
    elif choice == 2 and len(shape) > 0:
        shape = shape + (1,)
    elif choice == 3 and len(shape) > 1:
        shape = shape[:-1] if rng.integers(2) else shape[:1]
    elif choice == 4 and len(shape) > 1:
        shape = tuple(n if rng.integers(2) else 1 for n in shape)
    return rng.uniform(0, 2, size=shape).astype("float32")


def placeholders(arrays, open_):
    return [
        K.placeholder((None,) + a.shape[1:] if open_ and a.ndim else a.shape, dtype=str(a.dtype))
        for a in arrays
    ]


@pytest.mark.parametrize("seed", range(4))
def test_losses(seed, floatx):
    rng = np.random.default_rng(seed)
    written, wanted = [], []
    for name in (NAMES + CLASSES) * 2:
        if name in CLASSES:
            reduction = str(rng.choice(["none", "sum", "sum_over_batch_size"]))
            options = {"reduction": reduction}
            if "Crossentropy" in name:
                options["from_logits"] = bool(rng.integers(2))
                if "Sparse" not in name and rng.integers(2):
                    options["label_smoothing"] = float(rng.uniform(0, 0.5))
            if name == "Huber":
                options["delta"] = float(rng.uniform(0.2, 2))
            if rng.integers(2):
                options["name"] = "another"
            loss = getattr(losses, name)(**options)
            config = plain({"class_name": name, "config": loss.get_config()})
        else:
            options = {}
            fn = losses.get(name)
            loss = losses.LossFunctionWrapper(fn, name=fn.__name__)
            config = name
        arrays = list(labels_and_predictions(rng, name, options.get("from_logits", False)))
        open_ = bool(rng.integers(2))
        # Losses of a shape that sizes of weights fit.
        shape = arrays[1].shape if "huber" in name.lower() else arrays[1].shape[:-1]
        weights = weights_for(rng, shape)
        if weights is not None:
            arrays.append(weights)
        inputs = placeholders(arrays, open_)
        try:
            value = loss(*inputs)
        except ValueError:  # Keras does not take these weights
            arrays, inputs = arrays[:2], inputs[:2]
            value = loss(*inputs)
        each = loss.call(*inputs[:2])
        gradient = K.gradients(value, [inputs[1]])[0]
        wanted.append((config, loss.name, K.function(inputs, [each, value, gradient])(arrays)))
        written.append({"loss": config, "inputs": [described(a) for a in arrays], "open": open_})
    for case, one, (config, name, want) in zip(written, run(written), wanted):
        shapes = [a["shape"] for a in case["inputs"]]
        said = f"{json.dumps(config)} {shapes}"
        assert "error" not in one, f"{said}: {one['error']}"
        assert one["config"] == config, said
        assert one["name"] == name, said
        same(one["arrays"], want, said)


OPTIMIZERS = ["SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"]


def random_optimizer(rng, name):
    options = {}

    def maybe(key, value):
        if rng.integers(2):
            options[key] = value

    maybe("learning_rate", float(rng.uniform(0.001, 0.1)))
    maybe("clipnorm", float(rng.uniform(0.0, 0.5)))
    maybe("clipvalue", float(rng.uniform(0.0, 0.1)))
    if name != "Nadam":
        maybe("decay", float(rng.uniform(0.0, 0.5)))
    if name == "SGD":
        maybe("momentum", float(rng.uniform(0, 0.95)))
        maybe("nesterov", True)
    else:
        maybe("epsilon", float(rng.uniform(1e-7, 1e-2)))
    if name in ("RMSprop", "Adadelta"):
        maybe("rho", float(rng.uniform(0.5, 0.99)))
    if name in ("Adam", "Adamax", "Nadam"):
        maybe("beta_1", float(rng.uniform(0.5, 0.95)))
        maybe("beta_2", float(rng.uniform(0.5, 0.999)))
    if name == "Adam":
        maybe("amsgrad", True)
    if name == "Nadam":
        maybe("schedule_decay", float(rng.uniform(0, 0.01)))
    return getattr(optimizers, name)(**options)


def keras_steps(optimizer, params, given, data, steps, state):
    variables = [K.variable(p, constraint=c) for p, c in zip(params, given)]
    x, y = K.placeholder(data[0].shape), K.placeholder(data[1].shape)
    hidden = K.tanh(K.dot(x, variables[0]) + variables[1])
    loss = K.mean(K.square(K.dot(hidden, variables[2]) - y))
    train = K.function([x, y], [loss], updates=optimizer.get_updates(loss, variables))
    if state is None:
        state = optimizer.get_weights()
        if len(state) > 1 and np.random.default_rng(len(state)).integers(2):
            # A state in the midst of training.
            state = [state[0] + 7] + [
                np.abs(np.sin(np.arange(s.size))).reshape(s.shape) for s in state[1:]
            ]
            if type(optimizer).__name__ == "Nadam":
                state[1] = np.array(0.9)
            state = [s.astype(o.dtype) for s, o in zip(state, optimizer.get_weights())]
    optimizer.set_weights(state)
    after = []
    for i in range(steps):
        if i == 2:
            K.set_value(optimizer.lr, 0.5 * K.get_value(optimizer.lr))
        after.append(train(data) + K.batch_get_value(variables) + optimizer.get_weights())
    return state, after


@pytest.mark.parametrize("seed", range(3))
def test_optimizers(seed, floatx):
    rng = np.random.default_rng(100 + seed)
    written, wanted = [], []
    for name in OPTIMIZERS * 6:
        optimizer = random_optimizer(rng, name)
        config = plain({"class_name": name, "config": optimizer.get_config()})
        n, m, k = (int(v) for v in rng.integers(1, 6, size=3))
        params = [rng.normal(size=s).astype(floatx) for s in ((n, m), (m,), (m, k))]
        data = [rng.normal(size=s).astype(floatx) for s in ((8, n), (8, k))]
        given = [
            constraints.get(str(c)) if c else None
            for c in rng.choice(["", "", "max_norm", "unit_norm"], size=3)
        ]
        steps = int(rng.integers(3, 7))
        state, after = keras_steps(optimizer, params, given, data, steps, None)
        case = {
            "optimizer": config,
            "params": [described(p) for p in params],
            "constraints": [plain(constraints.serialize(c)) if c else None for c in given],
            "inputs": [described(d) for d in data],
            "steps": steps,
            "state": [described(s) for s in state],
        }
        written.append(case)
        wanted.append((plain({"class_name": name, "config": optimizer.get_config()}), after))
    for case, one, (config, after) in zip(written, run(written), wanted):
        said = json.dumps(case["optimizer"])
        assert "error" not in one, f"{said}: {one['error']}"
        assert one["config"] == config, said
        assert len(one["steps"]) == len(after)
        for i, (got, want) in enumerate(zip(one["steps"], after)):
            same(got, want, f"{said}: step {i}", rtol=1e-5, atol=1e-6)


def test_optimizers_by_name():
    rng = np.random.default_rng(0)
    params = [rng.normal(size=s).astype("float32") for s in ((2, 3), (3,), (3, 1))]
    data = [rng.normal(size=s).astype("float32") for s in ((8, 2), (8, 1))]
    written, wanted = [], []
    for name in [n.lower() for n in OPTIMIZERS] + OPTIMIZERS:
        optimizer = optimizers.get(name)
        state, after = keras_steps(optimizer, params, [None] * 3, data, 3, None)
        config = {"class_name": type(optimizer).__name__, "config": plain(optimizer.get_config())}
        wanted.append((config, after))
        case = {"optimizer": name, "constraints": [None] * 3, "steps": 3}
        case.update(params=[described(p) for p in params], inputs=[described(d) for d in data])
        written.append(dict(case, state=[described(s) for s in state]))
    for case, one, (config, after) in zip(written, run(written), wanted):
        assert "error" not in one, (case["optimizer"], one["error"])
        assert one["config"] == config
        for i, (got, want) in enumerate(zip(one["steps"], after)):
            same(got, want, f"{case['optimizer']}: step {i}")


WRAPPERS = [
    "MeanSquaredError", "RootMeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "Hinge", "SquaredHinge", "CategoricalHinge", "LogCoshError", "Poisson",
    "KLDivergence", "CosineSimilarity", "BinaryCrossentropy", "CategoricalCrossentropy",
    "SparseCategoricalCrossentropy", "Accuracy", "BinaryAccuracy", "CategoricalAccuracy",
    "SparseCategoricalAccuracy", "TopKCategoricalAccuracy", "SparseTopKCategoricalAccuracy",
]  # fmt: skip
THRESHOLDS = [
    "TruePositives", "TrueNegatives", "FalsePositives", "FalseNegatives", "Precision", "Recall",
    "SensitivityAtSpecificity", "SpecificityAtSensitivity", "AUC",
]  # fmt: skip
METRIC_NAMES = [
    "mse", "MSE", "mean_squared_error", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "cosine", "cosine_similarity",
    "cosine_proximity", "hinge", "squared_hinge", "categorical_hinge", "logcosh", "poisson", "binary_crossentropy",
    "categorical_crossentropy", "sparse_categorical_crossentropy", "kullback_leibler_divergence", "binary_accuracy",
    "categorical_accuracy", "sparse_categorical_accuracy", "top_k_categorical_accuracy",
    "sparse_top_k_categorical_accuracy",
]  # fmt: skip


def random_metric(rng, name):
    options = {}

    def maybe(key, value):
        if rng.integers(2):
            options[key] = value

    maybe("name", "another")
    if name in WRAPPERS + ["Mean", "Sum"] and rng.integers(4) == 0 and "Top" not in name:
        options["dtype"] = "float64"
    if name == "BinaryAccuracy":
        maybe("threshold", float(rng.uniform(0, 1)))
    if "TopK" in name:
        maybe("k", int(rng.integers(1, 4)))
    if "Crossentropy" in name:
        maybe("from_logits", True)
        if "Sparse" not in name:
            maybe("label_smoothing", float(rng.uniform(0, 0.5)))
    if name == "CosineSimilarity":
        maybe("axis", 1)
    if name in THRESHOLDS[:6]:
        kind = rng.integers(3)
        if kind:
            several = [float(t) for t in rng.uniform(0, 1, size=int(rng.integers(1, 5)))]
            options["thresholds"] = several if kind == 2 else several[0]
        if name in ("Precision", "Recall"):
            maybe("class_id", int(rng.integers(0, 2)))
    if "At" in name:
        options["specificity" if name.startswith("Sens") else "sensitivity"] = float(
            rng.uniform(0, 1)
        )
        maybe("num_thresholds", int(rng.integers(1, 20)))
    if name == "AUC":
        maybe("num_thresholds", int(rng.integers(2, 30)))
        maybe("curve", "PR")
        maybe("summation_method", str(rng.choice(["minoring", "majoring"])))
        if rng.integers(3) == 0:
            options["thresholds"] = [float(t) for t in rng.uniform(0, 1, size=5)]
    return getattr(metrics, name)(**options)


def batches_for(rng, name, metric_options):
    """Three or four batches of one shape."""
    count = int(rng.integers(3, 5))
    if name in ("Mean", "Sum"):
        shape = tuple(int(n) for n in rng.integers(1, 5, size=int(rng.integers(1, 4))))
        batches = [[rng.normal(size=shape).astype("float32")] for _ in range(count)]
        weights = weights_for(rng, shape)
    elif name in THRESHOLDS or name.lower() in ("accuracy", "binaryaccuracy", "binary_accuracy"):
        shape = tuple(int(n) for n in rng.integers(2, 6, size=int(rng.integers(2, 4))))
        last = (1,) if rng.integers(4) == 0 and not metric_options.get("class_id") else shape[-1:]
        shape = shape[:-1] + last
        batches = []
        for _ in range(count):
            y_pred = rng.uniform(0, 1, size=shape)
            if name == "Accuracy":
                y_pred = rng.integers(0, 3, size=shape)
            batches.append(
                [rng.integers(0, 2, size=shape).astype("float32"), y_pred.astype("float32")]
            )
        weights = weights_for(
            rng, shape if name in THRESHOLDS or name == "Accuracy" else shape[:-1]
        )
    else:
        logits = metric_options.get("from_logits", False)
        first = labels_and_predictions(rng, name.replace("top_k", "topk"), logits)
        if "top" in name.lower():
            n = first[1].shape[-1]
            first = (first[0].reshape(-1, first[0].shape[-1]), first[1].reshape(-1, n))
            if "sparse" in name.lower():
                first = (rng.integers(0, n, size=(len(first[1]), 1)).astype("float32"), first[1])
        batches = [list(first)]
        for _ in range(count - 1):
            order = rng.permutation(len(first[0]))
            other = rng.permutation(len(first[0]))
            batches.append([first[0][order], first[1][other]])
        shape = first[1].shape if "root" in name.lower() else first[1].shape[:-1]
        if metric_options.get("axis") == 1 and name == "CosineSimilarity":
            shape = first[1].shape[:1] + first[1].shape[2:]
        weights = weights_for(rng, shape)
    if weights is not None:
        for batch in batches:
            batch.append(rng.uniform(0, 2, size=weights.shape).astype("float32"))
    return batches


def keras_metric_steps(metric, batches, inputs):
    updates = metric.update_state(*inputs)
    with K.control_dependencies(updates):
        result = metric.result()
    step = K.function(inputs, [result], updates=updates)
    after = []
    for i, batch in enumerate(batches):
        if i == 2:
            metric.reset_states()
        now = step(batch)
        after.append(now + now + K.batch_get_value(metric.weights))
    return after


@pytest.mark.parametrize("seed", range(4))
def test_metrics(seed, floatx):
    rng = np.random.default_rng(200 + seed)
    written, wanted = [], []
    for name in (["Mean", "Sum"] + WRAPPERS + THRESHOLDS) * 2 + METRIC_NAMES:
        if name in METRIC_NAMES:
            metric = metrics.MeanMetricWrapper(metrics.get(name), name=name)
            config, options = name, {}
        else:
            metric = random_metric(rng, name)
            options = metric.get_config()
            config = plain({"class_name": name, "config": options})
        batches = batches_for(rng, name, options)
        open_ = bool(rng.integers(2))
        inputs = placeholders(batches[0], open_)
        try:
            after = keras_metric_steps(metric, batches, inputs)
        except ValueError as error:  # Keras does not take these weights
            values = 1 if name in ("Mean", "Sum") else 2
            assert len(inputs) > values, (name, error)
            batches, inputs = [b[:values] for b in batches], inputs[:values]
            metric = (
                type(metric).from_config(options)
                if options
                else metrics.MeanMetricWrapper(metrics.get(name), name=name)
            )
            after = keras_metric_steps(metric, batches, inputs)
        case = {"metric": config, "open": open_, "values": name in ("Mean", "Sum")}
        written.append(dict(case, batches=[[described(a) for a in b] for b in batches]))
        wanted.append((config, metric.name, after))
    for case, one, (config, name, after) in zip(written, run(written), wanted):
        said = f"{json.dumps(config)} {[a['shape'] for a in case['batches'][0]]}"
        assert "error" not in one, f"{said}: {one['error']}"
        assert one["config"] == config, (said, one["config"])
        assert one["name"] == name, said
        for i, (got, want) in enumerate(zip(one["steps"], after)):
            same(got, want, f"{said}: batch {i}")


def test_accuracy_by_loss_and_shape():
    losses_ = [
        "mse",
        "binary_crossentropy",
        "categorical_crossentropy",
        "sparse_categorical_crossentropy",
    ]
    classes = ["BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy"]
    rng = np.random.default_rng(0)
    written, wanted = [], []
    for loss in losses_ + [{"class_name": c, "config": {}} for c in classes]:
        for name in ("accuracy", "acc", "crossentropy", "ce"):
            for width in (1, 4):
                loss_fn = losses.get(loss)
                if isinstance(loss, str):
                    loss_fn = losses.LossFunctionWrapper(loss_fn, name=loss)
                fn = training_utils.get_metric_function(name, (None, width), loss_fn)
                sparse = "sparse" in fn.__name__
                y_true = rng.integers(0, 2, size=(5, 1 if sparse else width)).astype("float32")
                batches = [[y_true, rng.uniform(0.1, 0.9, size=(5, width)).astype("float32")]]
                metric = metrics.MeanMetricWrapper(fn, name=name)
                after = keras_metric_steps(metric, batches, placeholders(batches[0], False))
                case = {
                    "metric": name,
                    "loss_of_metric": loss,
                    "output": [5, width],
                    "open": False,
                    "values": False,
                }
                written.append(dict(case, batches=[[described(a) for a in b] for b in batches]))
                wanted.append((name, after))
    for case, one, (name, after) in zip(written, run(written), wanted):
        said = f"{name} {case['loss_of_metric']} {case['output']}"
        assert "error" not in one, f"{said}: {one['error']}"
        assert one["config"] == name and one["name"] == name, said
        same(one["steps"][0], after[0], said)


def numpy_iou(matrix):
    either = matrix.sum(0) + matrix.sum(1) - np.diag(matrix)
    there = either != 0
    return np.mean(np.diag(matrix)[there] / either[there])


def test_metrics_that_keras_has_for_tensorflow_only():
    """MeanIoU, and top_k of Precision and Recall: NumPy says what is right."""
    rng = np.random.default_rng(3)
    written, wanted = [], []
    for i in range(10):
        classes, shape = (
            int(rng.integers(2, 6)),
            tuple(int(n) for n in rng.integers(1, 6, size=int(rng.integers(1, 4)))),
        )
        matrix, batches, after = np.zeros((classes, classes)), [], []
        for _ in range(2):
            batch = [rng.integers(0, classes, size=shape).astype("float32") for _ in range(2)]
            weights = (
                rng.uniform(0, 2, size=shape).astype("float32")
                if i % 2
                else np.ones(shape, "float32")
            )
            np.add.at(matrix, tuple(b.ravel().astype(int) for b in batch), weights.ravel())
            batches.append(batch + [weights] if i % 2 else batch)
            after.append([np.float32(numpy_iou(matrix))] * 2 + [matrix.copy()])
        config = {"name": "iou", "dtype": "float32", "num_classes": classes}
        written.append({"metric": {"class_name": "MeanIoU", "config": config}, "batches": batches})
        wanted.append(after)
    for i in range(20):
        name, k = ["Precision", "Recall"][i % 2], int(rng.integers(1, 5))
        class_id = int(rng.integers(0, 5)) if i % 4 < 2 else None
        counts, batches, after = np.zeros(2), [], []
        for _ in range(2):
            y_true = rng.integers(0, 2, size=(6, 5)).astype("float32")
            y_pred = rng.integers(0, 6, size=(6, 5)).astype("float32")  # with equal ones
            order = np.argsort(-y_pred, axis=-1, kind="stable")[:, :k]
            chosen = np.zeros_like(y_pred)
            np.put_along_axis(chosen, order, 1, axis=-1)
            labels = y_true
            if class_id is not None:
                labels, chosen = labels[:, class_id], chosen[:, class_id]
            wrong = (1 - labels) * chosen if name == "Precision" else labels * (1 - chosen)
            counts += [np.sum(labels * chosen), np.sum(wrong)]
            value = counts[0] / counts.sum() if counts.sum() else 0.0
            batches.append([y_true, y_pred])
            after.append([np.float32(value)] * 2 + [counts[:1].copy(), counts[1:].copy()])
        config = {
            "name": "p",
            "dtype": "float32",
            "thresholds": None,
            "top_k": k,
            "class_id": class_id,
        }
        written.append({"metric": {"class_name": name, "config": config}, "batches": batches})
        wanted.append(after)
    for case in written:
        case.update(
            open=False, values=False, batches=[[described(a) for a in b] for b in case["batches"]]
        )
    for case, one, after in zip(written, run(written), wanted):
        said = json.dumps(case["metric"])
        assert "error" not in one, f"{said}: {one['error']}"
        assert one["config"] == case["metric"], said
        for got, want in zip(one["steps"], after):
            same(got, want, said, rtol=1e-6)


def test_defaults():
    """What a configuration leaves out is as in Keras."""
    one = described(np.ones((2, 3), "float32"))
    written, wanted = [], []
    for name in CLASSES:
        wanted.append({"class_name": name, "config": plain(getattr(losses, name)().get_config())})
        case = {"loss": {"class_name": name, "config": {}}, "inputs": [one, one], "open": False}
        if "Sparse" in name:
            case["inputs"] = [described(np.ones((2, 1), "float32")), one]
        written.append(case)
    for name in ["Mean", "Sum"] + WRAPPERS + THRESHOLDS:
        required = {
            "SensitivityAtSpecificity": {"specificity": 0.5},
            "SpecificityAtSensitivity": {"sensitivity": 0.5},
        }
        given = dict(required.get(name, {}))
        if name in THRESHOLDS:
            given["name"] = "it"  # Keras counts
        config = {"class_name": name, "config": plain(getattr(metrics, name)(**given).get_config())}
        wanted.append(config)
        values = name in ("Mean", "Sum")
        written.append(
            {
                "metric": {"class_name": name, "config": given},
                "open": False,
                "values": values,
                "batches": [],
            }
        )
    for case, one, config in zip(written, run(written), wanted):
        assert "error" not in one, (config, one["error"])
        assert one["config"] == config
