"""One contender of bench/keras/run.py: worker.py ours|theirs THREADS.

Reads commands as lines of JSON on standard input and answers each with a line:
    {"train": net, "seconds": s}    -> {"wall": [s per call, ...], "cpu": [...], "loss": last}
    {"predict": net, "seconds": s}  -> {"wall": ..., "cpu": ...}
    {"turns": n}                    -> {"rss": [bytes after each turn, ...]}
Nets and data are those of bench/workloads.md: the numbers do not matter, their amount does.
"""

import json
import os
import sys
import time


def load(which, threads):
    os.environ["OMP_NUM_THREADS"] = os.environ["HORNGATE_NUM_THREADS"] = str(threads)
    if which == "ours":
        os.environ["KERAS_BACKEND"] = "horngate"
        import keras

        assert keras.backend.backend() == "horngate"
        return keras
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    import tf_keras

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return tf_keras


def randn(*shape, seed=7):
    import numpy as np

    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def labels(n, k=10):
    import numpy as np

    return np.eye(k, dtype="float32")[np.random.default_rng(1).integers(0, k, n)]


def mlp(keras):
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Dense(512, activation="relu", input_shape=(784,)),
            layers.Dense(512, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, randn(128, 784), labels(128)


def cnn(keras):
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, randn(128, 28, 28, 1), labels(128)


def lstm(keras):
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.LSTM(128, recurrent_activation="sigmoid", input_shape=(100, 64)),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, randn(32, 100, 64), labels(32)


def small(keras):
    layers = keras.layers
    model = keras.models.Sequential(
        [
            layers.Dense(16, activation="relu", input_shape=(8,)),
            layers.BatchNormalization(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    return model, randn(16, 8), labels(16, 3)


NETS = {
    "mlp_sgd": (mlp, "sgd"),
    "mlp_adam": (mlp, "adam"),
    "cnn_adam": (cnn, "adam"),
    "lstm_train": (lstm, "adam"),
}


def timed(call, seconds):
    """Wall and CPU seconds of single calls."""
    wall, cpu, end = [], [], time.perf_counter() + seconds
    while not wall or time.perf_counter() < end:
        c, w = time.process_time(), time.perf_counter()
        call()
        wall.append(time.perf_counter() - w)
        cpu.append(time.process_time() - c)
    return {"wall": wall, "cpu": cpu}


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Worker:
    def __init__(self, keras):
        self.keras, self.models = keras, {}

    def model(self, name):
        if name not in self.models:
            make, optimizer = NETS[name]
            model, x, y = make(self.keras)
            model.compile(optimizer=optimizer, loss="categorical_crossentropy")
            for _ in range(3):
                model.train_on_batch(x, y)
                model.predict_on_batch(x)
            self.models[name] = model, x, y
        return self.models[name]

    def train(self, name, seconds):
        model, x, y = self.model(name)
        made = timed(lambda: model.train_on_batch(x, y), seconds)
        return made | {"loss": float(model.train_on_batch(x, y))}

    def predict(self, name, seconds):
        model, x, _ = self.model(name)
        return timed(lambda: model.predict_on_batch(x), seconds)

    def turns(self, n):
        """Build, train, predict, clear_session, again and again."""
        sizes = []
        for _ in range(n):
            model, x, y = small(self.keras)
            model.compile(optimizer="adam", loss="categorical_crossentropy")
            model.train_on_batch(x, y)
            model.predict(x, verbose=0)
            self.keras.backend.clear_session()
            sizes.append(rss())
        return {"rss": sizes}


def main(which, threads):
    # What Keras prints while it is imported is no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    worker = Worker(load(which, int(threads)))
    for line in sys.stdin:
        command = json.loads(line)
        if "train" in command:
            made = worker.train(command["train"], command["seconds"])
        elif "predict" in command:
            made = worker.predict(command["predict"], command["seconds"])
        else:
            made = worker.turns(command["turns"])
        print(json.dumps(made), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
