"""An encoder and a decoder LSTM learn to add: "27+58" is read, "85" is written.

Trained with the right answer as the decoder's input (teacher forcing). For writing, the same layers
make two other models, an encoder that gives its states and a decoder that does one step.
"""

import numpy as np
from common import options

from keras.layers import LSTM, Dense, Input
from keras.models import Model
from keras.optimizers import Adam

args = options(__doc__)

random = np.random.RandomState(args.seed)
SIGNS = "0123456789+ <>"  # < starts an answer, > ends it
TOP = 30 if args.small else 100
UNITS, LENGTH = 96, 5
one_hot = np.eye(len(SIGNS), dtype="float32")


def encode(text):
    return one_hot[[SIGNS.index(c) for c in text]]


pairs = [(a, b) for a in range(TOP) for b in range(TOP)]
random.shuffle(pairs)
# Read from right to left: the last digits, which decide the carry, come first.
questions = [("%d+%d" % pair).rjust(LENGTH)[::-1] for pair in pairs]
answers = [("<%d>" % sum(pair)).ljust(LENGTH) for pair in pairs]
x = np.array([encode(q) for q in questions])
y_in = np.array([encode(a[:-1]) for a in answers])
y_out = np.array([encode(a[1:]) for a in answers])
cut = len(pairs) * 9 // 10  # the last tenth are sums that it has never seen

encoder_in = Input(shape=(None, len(SIGNS)))
_, h, c = LSTM(UNITS, return_state=True)(encoder_in)
decoder_in = Input(shape=(None, len(SIGNS)))
decoder = LSTM(UNITS, return_sequences=True, return_state=True)
output = Dense(len(SIGNS), activation="softmax")
sequence, _, _ = decoder(decoder_in, initial_state=[h, c])
model = Model([encoder_in, decoder_in], output(sequence))
model.compile(Adam(0.004), "categorical_crossentropy")
epochs = 50 if args.small else 30
model.fit(
    [x[:cut], y_in[:cut]],
    y_out[:cut],
    batch_size=32 if args.small else 64,
    epochs=epochs,
    verbose=args.verbose,
)

reader = Model(encoder_in, [h, c])
h_in, c_in = Input(shape=(UNITS,)), Input(shape=(UNITS,))
sequence, h_out, c_out = decoder(decoder_in, initial_state=[h_in, c_in])
writer = Model([decoder_in, h_in, c_in], [output(sequence), h_out, c_out])


def write(x):
    """The answers to all questions at once, a sign a step."""
    states = reader.predict(x)
    signs = np.repeat(encode("<")[None], len(x), axis=0)
    written = [""] * len(x)
    for _ in range(LENGTH - 1):
        p, *states = writer.predict([signs] + states)
        best = p[:, -1].argmax(axis=-1)
        written = [w + SIGNS[i] for w, i in zip(written, best)]
        signs = one_hot[best][:, None]
    return [w.split(">")[0] for w in written]


got = write(x[cut:])
want = [str(sum(pair)) for pair in pairs[cut:]]
for pair, g in list(zip(pairs[cut:], got))[:5]:
    print("%d + %d = %s" % (pair + (g,)))
right = np.mean([g == w for g, w in zip(got, want)])
print("sums never seen that are right: %.3f (chance %.3f)" % (right, 0.75 / TOP))
