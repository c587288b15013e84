"""Gradient ascent on the input: what does a net believe that a 3 looks like?

A net is trained on digits. Then its weights stay, and the input moves: K.gradients of a class's
score with respect to the input, K.function to compute both, and a loop in NumPy. Writes
gradient_ascent.png; a second net, trained apart, judges the pictures.
"""

import os

import numpy as np
from common import load_digits, options, show, write_png

import keras
from keras import backend as K
from keras.layers import Activation, Conv2D, Dense, Dropout, Flatten
from keras.models import Sequential

args = options(__doc__)

(x_train, y_train), (x_test, y_test) = load_digits()


def trained_net():
    model = Sequential()
    model.add(Conv2D(32, (3, 3), activation="relu", padding="same", input_shape=(8, 8, 1)))
    model.add(Conv2D(32, (3, 3), activation="relu"))
    model.add(Flatten())
    model.add(Dropout(0.5))
    model.add(Dense(10, name="score"))
    model.add(Activation("softmax"))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    y = keras.utils.to_categorical(y_train)
    model.fit(x_train, y, batch_size=64, epochs=5 if args.small else 15, verbose=args.verbose)
    return model


model, judge = trained_net(), trained_net()
print(
    "accuracy of the nets: %.3f"
    % model.evaluate(x_test, keras.utils.to_categorical(y_test), verbose=0)[1]
)

# Ten pictures at once, each climbs the score of its own class. Neighbouring pixels shall not differ
# much, ink costs, and no pixel shall leave 0 .. 1, else the net is pleased by noise.
image = model.input
score = model.get_layer("score").output
wanted = K.variable(np.eye(10))
roughness = K.mean(K.square(image[:, 1:] - image[:, :-1])) + K.mean(
    K.square(image[:, :, 1:] - image[:, :, :-1])
)
outside = K.mean(K.square(image - K.clip(image, 0, 1)))
goal = (
    K.mean(K.sum(score * wanted, axis=-1))
    - 10 * roughness
    - 12 * K.mean(K.abs(image))
    - 100 * outside
)
gradient = K.gradients(goal, image)[0]
gradient /= K.sqrt(K.mean(K.square(gradient))) + K.epsilon()
# The learning phase 0 switches the dropout off.
climb = K.function([image, K.learning_phase()], [goal, gradient])

pictures = 0.3 + 0.05 * np.random.RandomState(args.seed).normal(size=(10, 8, 8, 1))
for step in range(150 if args.small else 600):
    value, direction = climb([pictures, 0])
    pictures += 0.02 * direction
    if step % 150 == 0:
        print("step %3d: goal %.2f" % (step, value))
print("last step: goal %.2f" % value)

row = np.concatenate([np.pad(p[:, :, 0], 1) for p in pictures], axis=1)
path = os.path.join(args.out, "gradient_ascent.png")
write_png(path, np.kron(row, np.ones((12, 12))))  # twelve times as large
print("What the net believes 0 to 4 look like (all ten are in %s):" % path)
show(np.clip(row[:, :50], 0, 1))

agree = np.sum(judge.predict(pictures).argmax(axis=1) == np.arange(10))
print("a net that was trained apart reads %d of 10 as meant (chance 1)" % agree)
