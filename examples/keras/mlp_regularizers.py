"""Regularizers and constraints find the few inputs that matter.

100 inputs, of which 5 carry the answer, and only 120 samples: a plain MLP learns the noise by
heart. An L1 penalty on the first layer's kernel makes it look at the right inputs; L2, a penalty on
activities and a max-norm constraint stand on the other layers.
"""

import numpy as np
from common import options

from keras import regularizers
from keras.constraints import max_norm
from keras.layers import Activation, Dense
from keras.models import Sequential
from keras.optimizers import Adam

args = options(__doc__)

INPUTS, RELEVANT = 100, 5
random = np.random.RandomState(args.seed)


def samples(n):
    x = random.normal(size=(n, INPUTS))
    return x, (x[:, 0] + x[:, 1] * 0.7 - x[:, 2] + x[:, 3] - x[:, 4] * 0.7 > 0).astype("float32")


x_train, y_train = samples(120)
x_test, y_test = samples(2000)


def train(l1, l2, activity, norm):
    model = Sequential()
    model.add(Dense(16, input_dim=INPUTS, kernel_regularizer=regularizers.l1(l1)))
    model.add(Activation("relu"))
    model.add(
        Dense(
            16,
            activation="relu",
            kernel_regularizer=regularizers.l2(l2),
            activity_regularizer=regularizers.l1_l2(activity, activity),
            kernel_constraint=max_norm(norm),
        )
    )
    model.add(Dense(1, activation="sigmoid", kernel_constraint=max_norm(norm)))
    model.compile(Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    epochs = 120 if args.small else 400
    model.fit(x_train, y_train, epochs=epochs, batch_size=40, verbose=0)
    weight = np.abs(model.layers[0].get_weights()[0]).sum(axis=1)
    share = weight[:RELEVANT].sum() / weight.sum()
    norms = np.linalg.norm(model.layers[2].get_weights()[0], axis=0)
    assert norms.max() < norm * 1.001, "the constraint holds after each batch"
    accuracies = [
        model.evaluate(*data, verbose=0)[1] for data in ((x_train, y_train), (x_test, y_test))
    ]
    return accuracies + [share]


print(
    "                     accuracy: training  test   weight on the %d inputs that matter" % RELEVANT
)
for name, settings in (("plain", (0, 0, 0, 1e6)), ("regularized", (0.02, 1e-3, 1e-4, 3.0))):
    train_accuracy, test_accuracy, share = train(*settings)
    print("%-20s %18.3f %6.3f %8.0f %%" % (name, train_accuracy, test_accuracy, 100 * share))
print("test accuracy: %.3f (chance 0.500)" % test_accuracy)
