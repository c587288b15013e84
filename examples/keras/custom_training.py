"""A training loop of one's own: losses and updates with K, no compile and no fit.

K.gradients of gradients (a penalty on the slope of the net at the data), an optimizer of Keras used
by get_updates, one of our own written with K.update, and K.function that does it all in a call.
"""

import numpy as np
from common import options

from keras import backend as K
from keras.layers import Dense
from keras.models import Sequential
from keras.optimizers import Adam, Optimizer

args = options(__doc__)

random = np.random.RandomState(args.seed)


class SignDescent(Optimizer):
    """A fixed step in the direction of the sign of an averaged gradient."""

    def __init__(self, rate=0.003, decay=0.9, **kwargs):
        super(SignDescent, self).__init__(**kwargs)
        self.rate, self.decay = K.variable(rate), decay

    def get_updates(self, loss, params):
        self.updates = []
        for p, g in zip(params, self.get_gradients(loss, params)):
            average = K.zeros(K.int_shape(p))
            new = self.decay * average + (1 - self.decay) * g
            self.updates += [K.update(average, new), K.update_sub(p, self.rate * K.sign(new))]
        return self.updates


def noisy_sine(n, noise):
    x = random.uniform(-3, 3, size=(n, 1))
    return x, np.sin(2 * x) + noise * random.normal(size=x.shape)


x_train, y_train = noisy_sine(60, 0.3)
x_test, y_test = noisy_sine(1000, 0.0)


def train(optimizer, smooth):
    """The error on the true curve, after training with a weight on the squared slope's change."""
    model = Sequential(
        [Dense(64, activation="tanh", input_dim=1), Dense(64, activation="tanh"), Dense(1)]
    )
    x, y = model.input, K.placeholder((None, 1))
    error = K.mean(K.square(model.output - y))
    slope = K.gradients(K.sum(model.output), x)[0]
    bend = K.gradients(K.sum(slope), x)[0]  # the second derivative at each point
    loss = error + smooth * K.mean(K.square(bend))
    step = K.function(
        [x, y],
        [error, loss],
        updates=optimizer.get_updates(loss=loss, params=model.trainable_weights),
    )
    for _ in range(800 if args.small else 4000):
        values = step([x_train, y_train])
    return values[0], np.mean((model.predict(x_test) - y_test) ** 2)


print("                                      error: training   true curve")
for name, optimizer, smooth in (
    ("Adam", Adam(0.01), 0.0),
    ("Adam, penalty on the bend", Adam(0.01), 0.001),
    ("our SignDescent, the same penalty", SignDescent(), 0.001),
):
    fitted, true = train(optimizer, smooth)
    print("%-38s %14.3f %12.3f" % (name, fitted, true))
print(
    "error of our optimizer: %.3f of that of a flat line (chance 1.000)" % (true / np.var(y_test))
)
