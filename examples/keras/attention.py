"""Self-attention as a layer of one's own, in the days before Keras had one.

Many-headed attention made of K.batch_dot, K.softmax and K.permute_dimensions. The task needs
looking things up: a row of letters with numbers, some letters twice, and last a letter alone;
answer its most recent number. The printed weights show where the net looks.
"""

import numpy as np
from common import options

from keras import backend as K
from keras.layers import Add, Dense, Embedding, Input, Lambda, Layer
from keras.models import Model
from keras.optimizers import Adam

args = options(__doc__)

LETTERS, NUMBERS, STEPS, WIDTH = 8, 8, 9, 48
random = np.random.RandomState(args.seed)


class Attention(Layer):
    def __init__(self, heads, size, **kwargs):
        super(Attention, self).__init__(**kwargs)
        self.heads, self.size = heads, size

    def build(self, input_shape):
        width = int(input_shape[-1])
        self.kernels = [
            self.add_weight(
                name=name, shape=(width, self.heads * self.size), initializer="glorot_uniform"
            )
            for name in ("query", "key", "value")
        ]
        self.out = self.add_weight(
            name="out", shape=(self.heads * self.size, width), initializer="glorot_uniform"
        )
        super(Attention, self).build(input_shape)

    def split(self, x, kernel):
        """(batch, time, width) to (batch * heads, time, size)."""
        time = K.int_shape(x)[1]
        x = K.reshape(K.dot(x, kernel), (-1, time, self.heads, self.size))
        return K.reshape(K.permute_dimensions(x, (0, 2, 1, 3)), (-1, time, self.size))

    def weights_of(self, x):
        query, key = (self.split(x, kernel) for kernel in self.kernels[:2])
        return K.softmax(K.batch_dot(query, key, axes=(2, 2)) / np.sqrt(self.size))

    def call(self, x):
        time = K.int_shape(x)[1]
        y = K.batch_dot(self.weights_of(x), self.split(x, self.kernels[2]))
        y = K.permute_dimensions(K.reshape(y, (-1, self.heads, time, self.size)), (0, 2, 1, 3))
        return K.dot(K.reshape(y, (-1, time, self.heads * self.size)), self.out)

    def compute_output_shape(self, input_shape):
        return input_shape


def samples(n):
    letters = random.randint(LETTERS, size=(n, STEPS))
    numbers = random.randint(NUMBERS, size=(n, STEPS))
    y = np.zeros((n, 1), "int32")
    for i in range(n):
        asked = random.choice(letters[i, :-1])
        letters[i, -1], numbers[i, -1] = asked, NUMBERS  # a sign for "which number?"
        y[i] = numbers[i, np.flatnonzero(letters[i, :-1] == asked)[-1]]
    return [letters, numbers], y


letters = Input(shape=(STEPS,), dtype="int32")
numbers = Input(shape=(STEPS,), dtype="int32")
place = Lambda(lambda t: K.zeros_like(t) + K.arange(0, STEPS, dtype="int32"))(letters)
h = Add()(
    [
        Embedding(size, WIDTH)(signs)
        for size, signs in ((LETTERS, letters), (NUMBERS + 1, numbers), (STEPS, place))
    ]
)
attention = Attention(heads=4, size=12)
h = Add()([h, attention(h)])
h = Add()([h, Dense(WIDTH)(Dense(2 * WIDTH, activation="relu")(h))])
last = Lambda(lambda t: t[:, -1], output_shape=(WIDTH,))(h)
model = Model([letters, numbers], Dense(NUMBERS, activation="softmax")(last))
model.compile(Adam(0.003), "sparse_categorical_crossentropy", metrics=["accuracy"])

x, y = samples(8000 if args.small else 20000)
model.fit(x, y, batch_size=64, epochs=8 if args.small else 12, verbose=args.verbose)

x, y = samples(1000)
look = K.function(model.inputs, [attention.weights_of(attention.input)])
one = [part[:1] for part in x]
weights = look(one)[0][:, -1].max(axis=0)  # of the last sign, the head that looks hardest
print(
    "    " + "".join("%6s" % ("abcdefgh"[a] + "01234567?"[b]) for a, b in zip(one[0][0], one[1][0]))
)
print("    " + "".join("%6.2f" % w for w in weights))
print("answer: %d, right: %d" % (model.predict(one).argmax(), y[0, 0]))
print("accuracy: %.3f (chance 0.125)" % model.evaluate(x, y, verbose=0)[1])
