"""A siamese net learns which pictures show the same thing.

Two inputs go through one shared net; a Lambda layer measures the distance of the two codes, and a
contrastive loss pulls pairs of one class together and pushes others apart. It is trained on the
digits 0 to 6 alone and then asked about 7, 8 and 9, which it has never seen.
"""

import numpy as np
from common import load_digits, options

from keras import backend as K
from keras.layers import Conv2D, Dense, Dropout, Flatten, Input, Lambda
from keras.models import Model, Sequential
from keras.optimizers import RMSprop

args = options(__doc__)

random = np.random.RandomState(args.seed)
(x_train, y_train), (x_test, y_test) = load_digits()
MARGIN = 1.0


def pairs(x, y, classes, n):
    """n pairs of pictures, half of them of one class; 1 where they are."""
    places = [np.flatnonzero(y == c) for c in classes]
    first, second, same = [], [], []
    for i in range(n):
        a = random.randint(len(classes))
        b = a if i % 2 else (a + random.randint(1, len(classes))) % len(classes)
        first.append(x[random.choice(places[a])])
        second.append(x[random.choice(places[b])])
        same.append(float(a == b))
    return [np.array(first), np.array(second)], np.array(same)


def distance(codes):
    a, b = codes
    return K.sqrt(K.maximum(K.sum(K.square(a - b), axis=1, keepdims=True), K.epsilon()))


def contrastive_loss(same, d):
    return K.mean(same * K.square(d) + (1 - same) * K.square(K.maximum(MARGIN - d, 0)))


def accuracy(same, d):
    return K.mean(K.equal(same, K.cast(d < MARGIN / 2, same.dtype)))


base = Sequential(name="base")
base.add(Conv2D(16, (3, 3), activation="relu", input_shape=(8, 8, 1)))
base.add(Conv2D(32, (3, 3), activation="relu"))
base.add(Flatten())
base.add(Dropout(0.2))
base.add(Dense(16))

left, right = Input(shape=(8, 8, 1)), Input(shape=(8, 8, 1))
output = Lambda(distance, output_shape=lambda shapes: (shapes[0][0], 1))([base(left), base(right)])
model = Model([left, right], output)
model.compile(loss=contrastive_loss, optimizer=RMSprop(0.001), metrics=[accuracy])

x, y = pairs(x_train, y_train, range(7), 3000 if args.small else 10000)
model.fit(x, y, batch_size=64, epochs=4 if args.small else 12, verbose=args.verbose)

seen = model.evaluate(*pairs(x_test, y_test, range(7), 2000), verbose=0)[1]
new = model.evaluate(*pairs(x_test, y_test, [7, 8, 9], 2000), verbose=0)[1]
print("same or different, digits 0 to 6: %.3f (chance 0.500)" % seen)
print("same or different, digits 7 to 9, never seen: %.3f (chance 0.500)" % new)
