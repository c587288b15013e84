"""Saves models in every way that Keras has, and loads them again.

A whole model with its optimizer in HDF5 (with a layer, a loss and an activation of our own), the
architecture as JSON with the weights apart, the best weights by ModelCheckpoint, weights by name.
Training that goes on from a file gives the same numbers as training that was never interrupted.
"""

import os
import shutil
import tempfile

import numpy as np
from common import load_digits, options

import keras
from keras import backend as K
from keras.callbacks import CSVLogger, ModelCheckpoint
from keras.layers import Activation, Conv2D, Dense, Flatten, Layer
from keras.models import Sequential, load_model, model_from_json

args = options(__doc__)

(x_train, y_train), (x_test, y_test) = load_digits()
y_train, y_test = (keras.utils.to_categorical(y, 10) for y in (y_train, y_test))
folder = tempfile.mkdtemp()


class Scale(Layer):
    """One learnt factor per channel."""

    def build(self, input_shape):
        self.factor = self.add_weight(name="factor", shape=input_shape[-1:], initializer="ones")
        super(Scale, self).build(input_shape)

    def call(self, x):
        return x * self.factor


def swish(x):
    return x * K.sigmoid(x)


def smoothed(y_true, y_pred):
    return K.categorical_crossentropy(0.9 * y_true + 0.01, y_pred)


own = {"Scale": Scale, "swish": swish, "smoothed": smoothed}


def make(classes=10):
    model = Sequential()
    model.add(Conv2D(16, (3, 3), input_shape=(8, 8, 1), name="convolution"))
    model.add(Scale(name="scale"))
    model.add(Activation(swish))
    model.add(Flatten())
    model.add(Dense(classes, activation="softmax", name="classes_%d" % classes))
    model.compile("adam", smoothed, metrics=["accuracy"])
    return model


def train(model, epochs, callbacks=()):
    model.fit(
        x_train,
        y_train,
        batch_size=64,
        epochs=epochs,
        shuffle=False,
        verbose=0,
        callbacks=list(callbacks),
        validation_data=(x_test, y_test),
    )


def difference(a, b):
    return np.abs(a.predict(x_test) - b.predict(x_test)).max()


half = 2 if args.small else 6
model = make()
best, log = os.path.join(folder, "best.h5"), os.path.join(folder, "log.csv")
train(
    model,
    half,
    [ModelCheckpoint(best, save_best_only=True, save_weights_only=True), CSVLogger(log)],
)

# The whole model. Its optimizer's state is in the file too, so both go on alike.
path = os.path.join(folder, "model.h5")
model.save(path)
loaded = load_model(path, custom_objects=own)
print("whole model: largest difference %.1e" % difference(model, loaded))
train(model, half)
train(loaded, half)
went_on = difference(model, loaded)
print("after further training of both: %.1e" % went_on)

# Architecture and weights apart.
weights = os.path.join(folder, "weights.h5")
model.save_weights(weights)
from_json = model_from_json(model.to_json(), custom_objects=own)
print("JSON without the weights: %.1e" % difference(model, from_json))
from_json.load_weights(weights)
print("JSON with the weights: %.1e" % difference(model, from_json))

# By name, into a model with another last layer.
other = make(classes=4)
other.load_weights(weights, by_name=True)
same = np.array_equal(
    other.get_layer("convolution").get_weights()[0], model.get_layer("convolution").get_weights()[0]
)
print("weights by name: the convolution is %s" % ("the same" if same else "another"))

made = make()
made.load_weights(best)
print(
    "best of the first %d epochs: accuracy %.3f"
    % (half, made.evaluate(x_test, y_test, verbose=0)[1])
)
with open(log) as f:
    print("columns of the log: " + f.readline().strip())
print("file of %d bytes" % os.path.getsize(path))
shutil.rmtree(folder)

ok = same and went_on < 1e-5 and difference(model, from_json) == 0
print(
    "accuracy of the loaded model: %.3f (chance 0.100), files %s"
    % (loaded.evaluate(x_test, y_test, verbose=0)[1], "agree" if ok else "DISAGREE")
)
