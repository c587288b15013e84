"""Reads rows of digits of unknown length with CTC, as in OCR.

The pictures are 3 to 5 handwritten digits side by side with gaps of random width, and the labels do
not say where a digit stands: convolutions over the row, a bidirectional GRU over its columns,
K.ctc_batch_cost inside a Lambda layer as the loss, K.ctc_decode to read.
"""

import numpy as np
from common import load_digits, options, show

from keras import backend as K
from keras.layers import (
    GRU,
    Activation,
    BatchNormalization,
    Bidirectional,
    Conv2D,
    Dense,
    Input,
    Lambda,
)
from keras.layers import MaxPooling2D, Reshape
from keras.models import Model
from keras.optimizers import Adam

args = options(__doc__)

WIDTH, LONGEST, CLASSES = 56, 5, 11  # the eleventh class is CTC's blank
random = np.random.RandomState(args.seed)


def rows(x, y, n):
    """n pictures, labels padded with -1, and the labels' lengths."""
    pictures = np.zeros((n, 8, WIDTH, 1), "float32")
    labels = -np.ones((n, LONGEST), "int32")
    lengths = random.randint(3, LONGEST + 1, size=(n, 1))
    for i in range(n):
        at = random.randint(0, 4)
        for k in range(lengths[i, 0]):
            j = random.randint(len(x))
            pictures[i, :, at : at + 8] += x[j]
            labels[i, k] = y[j]
            at += 8 + random.randint(0, 3)
    return pictures, labels, lengths


image = Input(shape=(8, WIDTH, 1), name="image")
h = Conv2D(24, (3, 3), padding="same")(image)
h = Activation("relu")(BatchNormalization()(h))
h = Conv2D(32, (3, 3), padding="same", activation="relu")(h)
h = MaxPooling2D((2, 2))(h)  # (4, WIDTH / 2, 32): two columns of the picture are one step in time
h = Lambda(lambda t: K.permute_dimensions(t, (0, 2, 1, 3)))(h)
h = Reshape((WIDTH // 2, 4 * 32))(h)
h = Dense(48, activation="relu")(h)
h = Bidirectional(GRU(48, return_sequences=True))(h)
characters = Dense(CLASSES, activation="softmax")(h)
reader = Model(image, characters)

labels = Input(shape=(LONGEST,), name="labels")
steps = Input(shape=(1,), dtype="int64", name="steps")
length = Input(shape=(1,), dtype="int64", name="length")
cost = Lambda(lambda t: K.ctc_batch_cost(*t), output_shape=(1,), name="ctc")(
    [labels, characters, steps, length]
)
trainer = Model([image, labels, steps, length], cost)
# The cost is an output of the net, so the loss only hands it on.
trainer.compile(Adam(0.003), loss={"ctc": lambda y_true, y_pred: y_pred})

time = characters._keras_shape[1]
decoded = K.ctc_decode(
    characters, K.tile(K.constant([time], dtype="int32"), K.shape(characters)[:1]), greedy=True
)[0][0]
read = K.function([image, K.learning_phase()], [decoded])

train, test = load_digits()
for epoch in range(6 if args.small else 20):
    x, y, n = rows(*train, n=1500)  # new rows each time
    inputs = [x, y, np.full_like(n, time), n]
    history = trainer.fit(inputs, np.zeros(len(x)), batch_size=16, verbose=0)
    if args.verbose:
        print("epoch %d: ctc cost %.2f" % (epoch + 1, history.history["loss"][0]))

x, y, n = rows(*test, n=300)
got = [[int(c) for c in row if c >= 0] for row in read([x, 0])[0]]
want = [list(row[:k]) for row, k in zip(y, n[:, 0])]
show(x[0, :, :, 0])
print("    is read as " + "".join(map(str, got[0])))
right = np.mean([a == b for a, b in zip(got, want)])
lengths_right = np.mean([len(a) == len(b) for a, b in zip(got, want)])
print("rows with the right number of digits: %.3f" % lengths_right)
print("rows read without any mistake: %.3f (chance below 0.001)" % right)
