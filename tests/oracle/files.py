"""Files of models between tf_keras and our C++ library: `files.py write FOLDER` has tf_keras train and save nets, `ours
FOLDER` has C++ (model_runner) load them, predict, go on with the training and save, `read FOLDER` has tf_keras load what C++
saved and go on once more. All is compared with a training of tf_keras that nobody interrupted. keras_1_files.py and
keras_2_files.py write such a folder with Keras 1.2, and 2.0 to 2.2.

tests/models/saved.zip has some of all, for tests without TensorFlow.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEFORE, BETWEEN, AFTER = 2, 3, 2  # steps before the first file, in C++, after the second file
NETS = {}


def net(**compiled):
    """A function that gives model, inputs and targets of a net of its name."""

    def keep(function):
        NETS[function.__name__] = (function, compiled)
        return function

    return keep


def numbers(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def classes(n, k, seed=1):
    return np.eye(k, dtype="float32")[np.random.RandomState(seed).randint(0, k, n)]


@net(loss="categorical_crossentropy", optimizer="Adam", metrics=["accuracy"])
def dense(k):
    model = k.Sequential(
        [
            k.layers.Dense(8, activation="relu", kernel_regularizer="l2", input_shape=(6,)),
            k.layers.BatchNormalization(),
            k.layers.Dropout(0.0),
            k.layers.Dense(3, activation="softmax", bias_constraint="max_norm"),
        ]
    )
    return model, [numbers(16, 6)], [classes(16, 3)]


@net(loss="mse", optimizer="legacy.Adam", metrics=["mae", "RootMeanSquaredError"])
def dense_legacy(k):
    x = k.Input((5,))
    return (
        k.Model(x, k.layers.Dense(2)(k.layers.LeakyReLU()(k.layers.Dense(7)(x)))),
        [numbers(12, 5)],
        [numbers(12, 2)],
    )


@net(loss="mse", optimizer="Adam:amsgrad")
def amsgrad(k):
    return k.Sequential([k.layers.Dense(2, input_shape=(5,))]), [numbers(12, 5)], [numbers(12, 2)]


@net(loss="mse", optimizer="legacy.Adam:amsgrad")
def amsgrad_legacy(k):
    return k.Sequential([k.layers.Dense(2, input_shape=(5,))]), [numbers(12, 5)], [numbers(12, 2)]


def small(name):
    def function(k):
        model = k.Sequential(
            [k.layers.Dense(4, activation="tanh", input_shape=(5,)), k.layers.Dense(2)]
        )
        return model, [numbers(12, 5)], [numbers(12, 2)]

    function.__name__ = "with_" + name.replace(".", "_").replace(":", "_").lower()
    net(loss="mse", optimizer=name)(function)


for each in ("SGD", "SGD:momentum", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam"):
    small(each)
    small("legacy." + each)


@net(
    loss={"kinds": "categorical_crossentropy", "amount": "mse"},
    loss_weights={"kinds": 1.0, "amount": 0.5},
    metrics={"kinds": ["accuracy"], "amount": ["mae"]},
    optimizer="Adam",
)
def several(k):
    a, b = k.Input((6,), name="left"), k.Input((6,), name="right")
    shared = k.layers.Dense(5, activation="tanh", name="shared")
    p, q = shared(a), shared(b)
    kinds = k.layers.Dense(3, activation="softmax", name="kinds")(k.layers.concatenate([p, q]))
    amount = k.layers.Dense(1, name="amount")(k.layers.Dot(1)([p, q]))
    return (
        k.Model([a, b], [kinds, amount]),
        [numbers(10, 6), numbers(10, 6, seed=3)],
        [classes(10, 3), numbers(10, 1)],
    )


@net(loss="binary_crossentropy", optimizer="RMSprop", metrics=["accuracy"])
def nested(k):
    x = k.Input((6,))
    inner = k.Model(
        x, k.layers.BatchNormalization()(k.layers.Dense(4, activation="elu")(x)), name="inner"
    )
    row = k.Sequential([k.layers.Dense(4, input_shape=(6,)), k.layers.PReLU()], name="row")
    row.layers[0].trainable = False
    y = k.Input((6,))
    z = k.layers.Add()([inner(y), row(y), inner(k.layers.Activation("relu")(y))])
    return (
        k.Model(y, k.layers.Dense(1, activation="sigmoid")(z)),
        [numbers(10, 6)],
        [(numbers(10, 1) > 0).astype("float32")],
    )


@net(loss="mse", optimizer="Adam")
def frozen_nested(k):
    inner = k.Sequential(
        [k.layers.Dense(4, input_shape=(6,)), k.layers.BatchNormalization(), k.layers.Dense(3)]
    )
    inner.trainable = False
    return (
        k.Sequential([k.Input((6,)), inner, k.layers.Dense(2)]),
        [numbers(10, 6)],
        [numbers(10, 2)],
    )


@net(loss="sparse_categorical_crossentropy", optimizer="Adam", metrics=["accuracy"])
def text(k):
    model = k.Sequential(
        [
            k.layers.Embedding(12, 6, mask_zero=True, input_length=7),
            k.layers.LSTM(5, return_sequences=True),
            k.layers.GRU(4),
            k.layers.Dense(3, activation="softmax"),
        ]
    )
    words = np.random.RandomState(0).randint(0, 12, (9, 7)).astype("float32")
    words[:, 0] = 3  # at least one that counts
    return model, [words], [np.arange(9).astype("float32").reshape(9, 1) % 3]


@net(loss="mse", optimizer="SGD")
def recurrent(k):
    x = k.Input((6, 4))
    y = k.layers.Bidirectional(k.layers.GRU(3, return_sequences=True))(x)
    y = k.layers.Bidirectional(k.layers.LSTM(3, return_sequences=True), merge_mode="sum")(y)
    y = k.layers.SimpleRNN(5, return_sequences=True, go_backwards=True)(y)
    y = k.layers.GRU(
        4, reset_after=False, return_sequences=True, recurrent_activation="hard_sigmoid"
    )(y)
    y = k.layers.RNN([k.layers.LSTMCell(3), k.layers.GRUCell(4)])(y)
    return k.Model(x, y), [numbers(5, 6, 4)], [numbers(5, 4)]


@net(loss="mse", optimizer="Adam")
def states(k):
    x = k.Input((6, 4))
    y, h, c = k.layers.LSTM(3, return_sequences=True, return_state=True)(x)
    z = k.layers.LSTM(3)(y, initial_state=[h, c])
    w, g = k.layers.GRU(3, return_state=True)(y, initial_state=h)
    return (
        k.Model(x, k.layers.Dense(2)(k.layers.Concatenate()([z, w, g]))),
        [numbers(5, 6, 4)],
        [numbers(5, 2)],
    )


@net(loss="mse", optimizer="SGD")
def stateful(k):
    model = k.Sequential(
        [k.layers.GRU(3, stateful=True, batch_input_shape=(4, 5, 2)), k.layers.Dense(1)]
    )
    return model, [numbers(4, 5, 2)], [numbers(4, 1)]


@net(loss="categorical_crossentropy", optimizer="SGD:momentum", metrics=["accuracy"])
def images(k):
    x = k.Input((10, 10, 3))
    y = k.layers.Conv2D(4, 3, strides=(2, 2), padding="same", activation="relu")(
        k.layers.ZeroPadding2D()(x)
    )
    y = k.layers.BatchNormalization()(y)
    y = k.layers.SeparableConv2D(5, (3, 2), padding="same", depth_multiplier=2)(y)
    y = k.layers.DepthwiseConv2D(2, activation="swish")(y)
    y = k.layers.Conv2DTranspose(4, 2, strides=2)(y)
    y = k.layers.UpSampling2D(interpolation="bilinear")(k.layers.MaxPooling2D()(y))
    y = k.layers.Cropping2D(1)(k.layers.AveragePooling2D(1)(y))
    y = k.layers.GlobalAveragePooling2D()(k.layers.SpatialDropout2D(0.0)(y))
    return (
        k.Model(x, k.layers.Dense(3, activation="softmax")(y)),
        [numbers(6, 10, 10, 3)],
        [classes(6, 3)],
    )


@net(loss="mse", optimizer="Adam")
def sequences(k):
    x = k.Input((8, 3))
    y = k.layers.Conv1D(4, 3, padding="causal", dilation_rate=2)(x)
    y = k.layers.SeparableConv1D(4, 2)(y)
    y = k.layers.MaxPooling1D(2)(y)
    y = k.layers.TimeDistributed(k.layers.Dense(3))(y)
    y = k.layers.Permute((2, 1))(k.layers.LocallyConnected1D(4, 2)(y))
    y = k.layers.Reshape((-1,))(y)
    y = k.layers.RepeatVector(2)(y)
    return k.Model(x, k.layers.Flatten()(y)), [numbers(4, 8, 3)], [numbers(4, 16)]


@net(loss="mse", optimizer="SGD")
def frames(k):
    x = k.Input((3, 6, 6, 2))
    y = k.layers.ConvLSTM2D(3, 3, return_sequences=True)(x)
    y = k.layers.TimeDistributed(k.layers.Conv2D(2, 2))(y)
    y = k.layers.Conv3D(2, 2)(y)
    return k.Model(x, k.layers.GlobalMaxPooling3D()(y)), [numbers(3, 3, 6, 6, 2)], [numbers(3, 2)]


@net(loss="huber", optimizer="Adam:clipnorm", metrics=["cosine_similarity", "mape"])
def merges(k):
    x = k.Input((6,))
    a, b = k.layers.Dense(4)(x), k.layers.Dense(4, activation="selu")(x)
    y = [
        getattr(k.layers, n)()([a, b])
        for n in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")
    ]
    y = k.layers.Concatenate(axis=1)(
        y + [k.layers.Softmax()(a), k.layers.ELU()(b), k.layers.ReLU(6.0)(a)]
    )
    y = k.layers.GaussianNoise(0.0)(k.layers.AlphaDropout(0.0)(k.layers.ThresholdedReLU()(y)))
    return k.Model(x, k.layers.Dense(2)(y)), [numbers(8, 6)], [numbers(8, 2)]


@net(loss="BinaryCrossentropy:", optimizer="Adam", metrics=["AUC", "Precision", "BinaryAccuracy"])
def judged(k):
    model = k.Sequential(
        [
            k.Input((4,)),
            k.layers.Dense(6, activation="gelu"),
            k.layers.Dense(1, activation="sigmoid"),
        ]
    )
    return model, [numbers(12, 4)], [(numbers(12, 1) > 0).astype("float32")]


def named_options(name):
    """Class and options of "SGD:momentum"."""
    name, _, option = name.partition(":")
    options = {
        "momentum": dict(momentum=0.9, nesterov=True),
        "amsgrad": dict(amsgrad=True),
        "clipnorm": dict(clipnorm=0.5),
        "": {},
    }[option]
    return name, options


def optimizer(k, name):
    name, options = named_options(name)
    where = k.optimizers
    if name.startswith("legacy."):
        where, name = k.optimizers.legacy, name[7:]
    return getattr(where, name)(learning_rate=0.01, **options)


def loss(k, name):
    if not isinstance(name, str) or ":" not in name:
        return name
    name, _, option = name.partition(":")
    return getattr(k.losses, name)(label_smoothing=0.1)


def metric(k, name):
    return getattr(k.metrics, name)() if name[0].isupper() else name


def compiled(k, model, options):
    options = dict(options)
    options["optimizer"] = optimizer(k, options["optimizer"])
    options["loss"] = loss(k, options["loss"])
    if isinstance(options.get("metrics"), list):
        options["metrics"] = [metric(k, m) for m in options["metrics"]]
    model.compile(**options)


def bare(arrays):
    return arrays[0] if len(arrays) == 1 else arrays


def plain(values):
    return [float(v) for v in np.atleast_1d(values)]


def write(folder, names):
    import tf_keras as k

    for name in names:
        make, options = NETS[name]
        k.backend.clear_session()
        k.utils.set_random_seed(7)
        model, *data = make(k)
        x, y = map(bare, data)
        compiled(k, model, options)
        train = lambda: plain(model.train_on_batch(x, y))  # noqa: B023, E731
        for _ in range(BEFORE):
            train()
        model.save(str(folder / f"{name}.h5"), save_format="h5")
        model.save_weights(str(folder / f"{name}.weights.h5"))
        if name == "stateful":
            model.reset_states()
        given = model.predict(x, verbose=0)
        if name == "stateful":
            model.reset_states()
        found = {
            "x": [a.tolist() for a in data[0]],
            "y": [a.tolist() for a in data[1]],
            "predicted": [a.tolist() for a in (given if isinstance(given, list) else [given])],
            "losses": [train() for _ in range(BETWEEN)],
            "weights": [
                [w.numpy().tolist() for w in layer.weights]
                for layer in model.layers
                if layer.weights
            ],
        }
        found["losses_after"] = [train() for _ in range(AFTER)]
        (folder / f"{name}.json").write_text(json.dumps(found))
        print("wrote", name, flush=True)


# What others compute otherwise than Keras 2.3.1, which is what C++ does. Predictions are the same.
MOMENTS = ("weights", "moving variances: of the batch here, of all samples there")
NOISE = ("weights", "a bias before BatchNormalization: its gradient is rounding, which Adam magnifies")
OTHERWISE = {
    "tf_keras": {
        "dense": MOMENTS,
        "images": MOMENTS,
        "nested": MOMENTS,
        "with_rmsprop": ("weights", "epsilon inside of the root since 2.11"),
        "with_nadam": ("losses weights", "since 2.11 its product of momenta counts each weight"),
        "frozen_nested": ("losses weights", "a frozen BatchNormalization normalises by its averages"),
        "text": ("losses", 'reading "accuracy" from a file, it takes sparse labels for vectors'),
    },
    "keras_2_0": {"dense": MOMENTS, "nested": MOMENTS, "frozen_nested": MOMENTS},
    "keras_2_1": {"frozen_nested": NOISE},
    "keras_2_2": {"frozen_nested": NOISE},
}
TOLERANCE = 2e-5


def described(values):
    a = np.asarray(values, "float32")
    return {"shape": list(a.shape), "dtype": "float32", "data": [float(v) for v in a.ravel()]}


def array_of(d):
    return np.array(d["data"], "float64").reshape(d["shape"])


def difference(ours, theirs):
    theirs = np.asarray(theirs, "float64")
    if np.shape(ours) != theirs.shape:
        return float("inf")
    return float(np.max(np.abs(ours - theirs) / (1 + np.max(np.abs(theirs), initial=0)), initial=0))


def worst(ours, theirs):
    if len(ours) != len(theirs):
        return float("inf")
    return max((difference(np.asarray(a), b) for a, b in zip(ours, theirs)), default=0.0)


def without_order(ours, theirs):
    """Weights: those of nested models come in another order."""
    if len(ours) != len(theirs):
        return float("inf")
    return max((min(difference(a, b) for b in theirs) for a in ours), default=0.0)


def runner():
    folder = os.environ.get("HORNGATE_KERAS_RUNNERS") or ROOT / "build" / "bin"
    return str(pathlib.Path(folder) / "model_runner")


def continued(folder, name):
    """What C++ makes of a file: {"error": ..} or how far its values are from theirs."""
    found = json.loads((folder / f"{name}.json").read_text())
    x, y = ([described(a) for a in found[key]] for key in "xy")
    steps = [
        {"do": "load", "path": str(folder / f"{name}.h5")},
        {"do": "predict", "x": x},
        {"do": "reset_states"},
    ]
    steps += [{"do": "train", "x": x, "y": y}] * BETWEEN
    steps += [{"do": "weights"}, {"do": "save", "path": str(folder / f"{name}.back.h5")}]
    (folder / "case.json").write_text(json.dumps([steps]))
    env = dict(os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1", HORNGATE_QUIET="1")
    command = [runner(), folder / "case.json", folder / "result.json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"error": f"{done.returncode}: {done.stderr}"}
    got = json.loads((folder / "result.json").read_text())[0]
    if isinstance(got, dict):
        return got
    values = {
        "predicted": worst([array_of(a) for a in got[1]], found["predicted"]),
        "losses": worst(got[3 : 3 + BETWEEN], found["losses"]),
    }
    if "weights" in found:
        theirs = [w for layer in found["weights"] for w in layer]
        values["weights"] = without_order([array_of(a) for a in got[3 + BETWEEN]], theirs)
    return values


def why(edition, name):
    return OTHERWISE.get(edition, {}).get(name, ("", ""))


def differs(edition, name, values):
    """What is further away than it should be."""
    expected = why(edition, name)[0].split()
    return {
        k: v for k, v in values.items() if k == "error" or (v > TOLERANCE and k not in expected)
    }


def reported(names, results):
    """How many differ, each said."""
    bad = 0
    for name, values in zip(names, results):
        wrong = differs("tf_keras", name, values)
        bad += bool(wrong)
        same = f"DIFFERS {wrong}" if wrong else "same"
        print(f"{name}: {same} {values} {why('tf_keras', name)[1]}", flush=True)
    return bad


def ours(folder, names):
    return reported(names, (continued(folder, name) for name in names))


def after(k, folder, name):
    found = json.loads((folder / f"{name}.json").read_text())
    k.backend.clear_session()
    try:
        model = k.models.load_model(str(folder / f"{name}.back.h5"))
    except Exception as e:  # whatever they say
        return {"error": f"{type(e).__name__}: {e}"}
    theirs = [w for layer in found["weights"] for w in layer]
    mine = [w.numpy() for layer in model.layers for w in layer.weights]
    x, y = (bare([np.asarray(a, "float32") for a in found[key]]) for key in "xy")
    losses = [plain(model.train_on_batch(x, y)) for _ in range(AFTER)]
    return {"weights": without_order(mine, theirs), "losses": worst(losses, found["losses_after"])}


def read(folder, names):
    import tf_keras as k

    return reported(names, (after(k, folder, name) for name in names))


if __name__ == "__main__":
    what, where = sys.argv[1], pathlib.Path(sys.argv[2])
    where.mkdir(parents=True, exist_ok=True)
    there = sorted(p.stem for p in where.glob("*.json") if p.stem not in ("case", "result"))
    chosen = sys.argv[3:] or (list(NETS) if what == "write" else there)
    sys.exit(1 if {"write": write, "ours": ours, "read": read}[what](where, chosen) else 0)
