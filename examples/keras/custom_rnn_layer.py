"""A recurrent layer of one's own, made of K.rnn.

The layer keeps a moving average of its input in each unit, each with a speed that is learnt, and
obeys masks. The task: a sequence of noisy numbers in which some steps are marked; answer
the mean of the marked ones. Sequences have different lengths and are masked.
"""

import numpy as np
from common import options

from keras import backend as K
from keras.engine.base_layer import InputSpec, Layer
from keras.layers import Dense, Masking
from keras.models import Sequential, model_from_json
from keras.optimizers import Adam

args = options(__doc__)


class GatedAverage(Layer):
    """h_t = g tanh(x_t W + b) + (1 - g) h_(t-1), where g = sigmoid(x_t V + h_(t-1) U + c)."""

    def __init__(self, units, go_backwards=False, **kwargs):
        super(GatedAverage, self).__init__(**kwargs)
        self.units = units
        self.go_backwards = go_backwards
        self.supports_masking = True

    def build(self, input_shape):
        features = input_shape[-1]
        self.w = self.add_weight("w", (features, self.units), initializer="glorot_uniform")
        self.b = self.add_weight("b", (self.units,), initializer="zeros")
        self.v = self.add_weight("v", (features, self.units), initializer="glorot_uniform")
        self.u = self.add_weight("u", (self.units, self.units), initializer="orthogonal")
        # Different speeds to begin with: the gates stand between 0.05 and 0.5.
        speeds = np.linspace(-3, 0, self.units)
        self.c = self.add_weight(
            "c", (self.units,), initializer=lambda shape, dtype=None: K.constant(speeds)
        )
        self.input_spec = InputSpec(ndim=3, axes={2: features})
        super(GatedAverage, self).build(input_shape)

    def call(self, x, mask=None):
        def step(x_t, states):
            h = states[0]
            gate = K.sigmoid(K.dot(x_t, self.v) + K.dot(h, self.u) + self.c)
            h = gate * K.tanh(K.dot(x_t, self.w) + self.b) + (1 - gate) * h
            return h, [h]

        start = K.tile(K.sum(K.zeros_like(x), axis=(1, 2))[:, None], (1, self.units))
        last, _, _ = K.rnn(step, x, [start], mask=mask, go_backwards=self.go_backwards)
        return last

    def compute_mask(self, x, mask=None):
        return None  # the last output has no time axis

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        config = {"units": self.units, "go_backwards": self.go_backwards}
        config.update(super(GatedAverage, self).get_config())
        return config


def samples(n, longest=20):
    random = np.random.RandomState(args.seed + n)
    x = np.zeros((n, longest, 2), "float32")
    y = np.zeros((n, 1), "float32")
    for i in range(n):
        length = random.randint(10, longest + 1)
        marked = random.rand(length) < 0.3
        marked[random.randint(length)] = True
        numbers = random.uniform(-1, 1, length)
        x[i, :length] = np.stack([numbers, np.where(marked, 1.0, -1.0)], axis=1)
        y[i] = numbers[marked].mean()
    return x, y


model = Sequential()
model.add(Masking(0.0, input_shape=(None, 2)))
model.add(GatedAverage(48))
model.add(Dense(1))
model.compile(Adam(0.005), "mse")
x, y = samples(1500 if args.small else 4000)
model.fit(x, y, batch_size=32, epochs=8 if args.small else 20, verbose=args.verbose)

# The layer goes through JSON as those of Keras do.
again = model_from_json(model.to_json(), custom_objects={"GatedAverage": GatedAverage})
again.set_weights(model.get_weights())
x, y = samples(500)
guess = again.predict(x)
for i in range(3):
    print("mean of the marked numbers %+.2f, answer %+.2f" % (y[i, 0], guess[i, 0]))
print(
    "squared error: %.3f of that of always answering the mean (chance 1.000)"
    % (np.mean((guess - y) ** 2) / np.var(y))
)
