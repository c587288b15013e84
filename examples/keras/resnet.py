"""A residual net with batch normalization and dropout, on digits that shift about.

Blocks with shortcuts in the functional API, a keras.utils.Sequence that moves each picture at
random, fit_generator, a schedule of the learning rate, and the two phases: dropout in training
only, and the moving averages of the batch normalization in prediction.
"""

import numpy as np
from common import load_digits, options

import keras
from keras.callbacks import LearningRateScheduler
from keras.layers import (
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    GlobalAveragePooling2D,
)
from keras.layers import Input, add
from keras.models import Model
from keras.optimizers import SGD
from keras.regularizers import l2

args = options(__doc__)

SIZE, CLASSES = 12, 10
random = np.random.RandomState(args.seed)


def moved(images):
    """Each picture at a random place of a larger one."""
    large = np.zeros((len(images), SIZE, SIZE, 1), "float32")
    for target, image in zip(large, images):
        row, column = random.randint(0, SIZE - 8 + 1, size=2)
        target[row : row + 8, column : column + 8] = image
    return large


class MovedDigits(keras.utils.Sequence):
    def __init__(self, x, y, batch):
        self.x, self.y, self.batch = x, y, batch

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, i):
        part = slice(i * self.batch, (i + 1) * self.batch)
        return moved(self.x[part]), self.y[part]

    def on_epoch_end(self):
        order = random.permutation(len(self.x))
        self.x, self.y = self.x[order], self.y[order]


def convolve(x, filters, strides=1, size=3):
    return Conv2D(
        filters,
        size,
        strides=strides,
        padding="same",
        kernel_initializer="he_normal",
        kernel_regularizer=l2(1e-4),
    )(x)


def block(x, filters, strides=1):
    h = Activation("relu")(BatchNormalization()(x))
    shortcut = x if strides == 1 else convolve(h, filters, strides, size=1)
    h = convolve(h, filters, strides)
    h = Activation("relu")(BatchNormalization()(h))
    h = Dropout(0.1)(h)
    return add([shortcut, convolve(h, filters)])


image = Input(shape=(SIZE, SIZE, 1))
h = convolve(image, 16)
for filters, strides in (
    ((16, 1), (32, 2), (32, 1), (48, 2)) if not args.small else ((16, 1), (32, 2))
):
    h = block(h, filters, strides)
h = GlobalAveragePooling2D()(Activation("relu")(BatchNormalization()(h)))
model = Model(image, Dense(CLASSES, activation="softmax")(h))
model.compile(SGD(momentum=0.9, nesterov=True), "categorical_crossentropy", metrics=["accuracy"])

(x_train, y_train), (x_test, y_test) = load_digits()
y_train, y_test = (keras.utils.to_categorical(y, CLASSES) for y in (y_train, y_test))
epochs = 8 if args.small else 24
model.fit_generator(
    MovedDigits(x_train, y_train, batch=32),
    epochs=epochs,
    verbose=args.verbose,
    callbacks=[LearningRateScheduler(lambda epoch: 0.05 if epoch < epochs * 0.6 else 0.005)],
)
accuracy = model.evaluate(moved(x_test), y_test, verbose=0)[1]
print("%d layers, %d parameters" % (len(model.layers), model.count_params()))
print("accuracy on moved digits of other writers: %.3f (chance 0.100)" % accuracy)
