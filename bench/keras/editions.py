#!/usr/bin/env python3
"""Times train_on_batch of a few nets on editions of Keras, in milliseconds of CPU time: the least of all rounds.

    bench/keras/editions.py build/keras-suite/site-1.2.2 build/keras-suite/site-2.1.6 build/keras-suite/site-2.3.1

Each folder holds an edition (`tools/test_keras.py` makes them); the last one is what the others are compared
with. They run in turns, each in processes of its own, on one thread: what disturbs one disturbs the others.
"""

import json
import os
import subprocess
import sys
import time


def mlp():
    return ["Dense 512", "relu", "Dense 512", "relu", "Dense 10", "softmax"], (128, 784)


def tiny():
    return ["Dense 8", "Dense 10", "softmax"], (16, 4)


def lstm():
    return ["LSTM 64", "Dense 10", "softmax"], (32, 20, 32)


def lstm_defaults():
    return ["LSTM 64 defaults", "Dense 10", "softmax"], (32, 20, 32)


NETS = (mlp, tiny, lstm, lstm_defaults)

# Editions differ in how an LSTM is computed by default; these are the same.
SAME_LSTM = {
    "1": {"consume_less": "gpu", "inner_activation": "hard_sigmoid"},
    "2": {"implementation": 2, "recurrent_activation": "hard_sigmoid"},
}


def build(names, shape):
    import keras
    from keras import layers, models

    model = models.Sequential()
    for i, name in enumerate(names):
        kind, *words = name.split()
        options = {"input_shape": shape[1:]} if i == 0 else {}
        if kind == "LSTM" and "defaults" not in words:
            options.update(SAME_LSTM[keras.__version__[0]])
        made = getattr(layers, kind)(int(words[0]), **options) if words else layers.Activation(kind)
        model.add(made)
    model.compile("sgd", "categorical_crossentropy")
    return model


def measure(net, steps=50, rounds=5):
    import numpy as np

    np.random.seed(0)
    names, shape = net()
    model = build(names, shape)
    x = np.random.rand(*shape).astype("float32")
    y = np.eye(10, dtype="float32")[np.random.randint(0, 10, shape[0])]
    times = []
    for _ in range(rounds + 1):  # the first compiles
        start = time.process_time()
        for _ in range(steps):
            model.train_on_batch(x, y)
        times.append((time.process_time() - start) / steps)
    return 1e3 * min(times[1:])


def measure_edition(site):
    """{net: milliseconds}, of a new process with that Keras."""
    paths = [site, os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    env.update(HORNGATE_NUM_THREADS="1", KERAS_BACKEND="horngate")
    command = [sys.executable, "-m", "horngate", "run", __file__]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def compare(sites, turns=5):
    best = {}
    for _ in range(turns):
        for site in sites:
            for net, value in measure_edition(site).items():
                best[site, net] = min(value, best.get((site, net), value))
    for net in (n.__name__ for n in NETS):
        for site in sites:
            share = best[site, net] / best[sites[-1], net]
            print(f"{net:13} {os.path.basename(site):12} {best[site, net]:8.3f} ms  x {share:.3f}")


if __name__ == "__main__":
    if sys.argv[1:]:
        compare(sys.argv[1:])
    else:
        print(json.dumps({net.__name__: measure(net) for net in NETS}))
