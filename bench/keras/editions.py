#!/usr/bin/env python3
"""Times train_on_batch of one net on an edition of Keras, in milliseconds: the least of five rounds.

    python -m horngate run bench/keras/editions.py

with that edition in the environment (`tools/test_keras.py` puts them into build/keras-suite/site-*).
"""

import time

import keras
import numpy as np
from keras.layers import LSTM, Activation, Dense
from keras.models import Sequential


def mlp():
    model = Sequential()
    model.add(Dense(512, input_shape=(784,)))
    model.add(Activation("relu"))
    model.add(Dense(512))
    model.add(Activation("relu"))
    model.add(Dense(10))
    model.add(Activation("softmax"))
    return model, (128, 784)


def tiny():
    model = Sequential()
    model.add(Dense(8, input_shape=(4,)))
    model.add(Dense(10))
    model.add(Activation("softmax"))
    return model, (16, 4)


def lstm():
    model = Sequential()
    model.add(LSTM(64, input_shape=(20, 32)))
    model.add(Dense(10))
    model.add(Activation("softmax"))
    return model, (32, 20, 32)


def measure(build, steps=50, rounds=5):
    np.random.seed(0)
    model, shape = build()
    model.compile("sgd", "categorical_crossentropy")
    x = np.random.rand(*shape).astype("float32")
    y = np.eye(10, dtype="float32")[np.random.randint(0, 10, shape[0])]
    times = []
    for _ in range(rounds + 1):  # the first compiles
        start = time.perf_counter()
        for _ in range(steps):
            model.train_on_batch(x, y)
        times.append((time.perf_counter() - start) / steps)
    return 1e3 * min(times[1:])


for build in (mlp, tiny, lstm):
    print(f"Keras {keras.__version__:6} {build.__name__:6} {measure(build):8.3f} ms")
