"""A generative adversarial net learns a ring of points.

Two nets play against each other with train_on_batch; the `trainable` flag keeps the judge still
while the painter learns. The points are 2D, so that the result can be seen in characters.
"""

import warnings

import numpy as np
from common import options

from keras.layers import Dense, Input, LeakyReLU
from keras.models import Model, Sequential
from keras.optimizers import Adam

args = options(__doc__)

# Keras suspects a mistake when it meets a flag other than it was compiled with; here it is meant.
warnings.filterwarnings("ignore", "Discrepancy between trainable weights")
NOISE, BATCH = 8, 64
random = np.random.RandomState(args.seed)


def ring(n):
    angle, radius = random.uniform(0, 2 * np.pi, n), random.normal(1, 0.03, n)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def dense(inputs, outputs, activation):
    model = Sequential()
    model.add(Dense(64, input_dim=inputs))
    model.add(LeakyReLU(0.2))
    model.add(Dense(64))
    model.add(LeakyReLU(0.2))
    model.add(Dense(outputs, activation=activation))
    return model


judge = dense(2, 1, "sigmoid")
judge.compile(Adam(0.001, beta_1=0.5), "binary_crossentropy", metrics=["accuracy"])
painter = dense(NOISE, 2, "linear")
judge.trainable = False  # as it stands when the joint model is compiled
noise = Input(shape=(NOISE,))
joint = Model(noise, judge(painter(noise)))
joint.compile(Adam(0.001, beta_1=0.5), "binary_crossentropy")


def paint(n):
    return painter.predict(random.normal(size=(n, NOISE)))


def far(points):
    """The mean distance from the ring."""
    return np.abs(np.linalg.norm(points, axis=1) - 1).mean()


def sectors(points):
    """The share of twelve directions that get at least a third of their due."""
    angle = np.arctan2(points[:, 1], points[:, 0])
    count = np.histogram(angle, bins=12, range=(-np.pi, np.pi))[0]
    return np.mean(count > len(points) / 36)


before = far(paint(2000))
true, false = np.ones((BATCH, 1)), np.zeros((BATCH, 1))
for step in range(2500 if args.small else 8000):
    # One-sided label smoothing keeps the judge from being too sure.
    judge.train_on_batch(ring(BATCH), 0.9 * true)
    judge.train_on_batch(paint(BATCH), false)
    loss = joint.train_on_batch(random.normal(size=(BATCH, NOISE)), true)
    if args.verbose and step % 1000 == 0:
        print("step %d: loss of the painter %.3f" % (step, loss))

points = paint(2000)
picture = np.histogram2d(points[:, 1], points[:, 0], bins=22, range=[[-1.4, 1.4]] * 2)[0]
for row in picture:
    print("    " + "".join(" .o#"[int(n > 1) + int(n > 5) + int(n > 15)] * 2 for n in row))
print("directions covered: %.2f" % sectors(points))
print("distance from the ring: %.3f (before training %.3f)" % (far(points), before))
