"""Learns to write, letter by letter.

An LSTM reads 20 letters and guesses the next one; then it writes, and its own letters become its
input. It has no notion of words: the share of real ones among those that it writes shows how far it
got. The text it learns from is made of sentences of a small grammar.
"""

import numpy as np
from common import options

from keras.callbacks import LambdaCallback
from keras.layers import LSTM, Dense
from keras.models import Sequential
from keras.optimizers import RMSprop

args = options(__doc__)

random = np.random.RandomState(args.seed)
WHO = "the fox,a small bird,the old miller,my cousin,the grey cat,a tired horse".split(",")
DOES = "watches,follows,likes,paints,forgets,wakes".split(",")
WHERE = "in the garden,by the river,under the bridge,before sunrise,every monday".split(",")


def sentence():
    a, b = random.choice(WHO, size=2, replace=False)
    return "%s %s %s %s. " % (a, random.choice(DOES), b, random.choice(WHERE))


text = "".join(sentence() for _ in range(150 if args.small else 400))
vocabulary = set(text.replace(".", "").split())
letters = sorted(set(text))
number = {letter: i for i, letter in enumerate(letters)}
print(
    "text of %d letters, %d different ones, %d words" % (len(text), len(letters), len(vocabulary))
)

SPAN, STEP = 20, 2
starts = range(0, len(text) - SPAN, STEP)
codes = np.array([number[letter] for letter in text])
one_hot = np.eye(len(letters), dtype="bool")
x = one_hot[np.array([codes[i : i + SPAN] for i in starts])]
y = one_hot[codes[SPAN::STEP][: len(x)]]

model = Sequential()
model.add(LSTM(64 if args.small else 128, input_shape=(SPAN, len(letters))))
model.add(Dense(len(letters), activation="softmax"))
model.compile(RMSprop(0.01), "categorical_crossentropy")


def write(length, temperature=0.5):
    written = text[:SPAN]
    for _ in range(length):
        last = one_hot[[number[letter] for letter in written[-SPAN:]]]
        p = model.predict(last[None])[0].astype("float64") ** (1 / temperature)
        written += letters[random.choice(len(letters), p=p / p.sum())]
    return written[SPAN:]


def real_words(written):
    """The share of words that are in the text; the first and the last may be cut."""
    words = written.replace(".", " ").split()[1:-1]
    return np.mean([word in vocabulary for word in words]) if words else 0.0


def report(epoch, logs):
    if args.verbose:
        print("epoch %d: %s" % (epoch + 1, write(60)))


before = real_words(write(300))
epochs = 10 if args.small else 15
model.fit(
    x, y, batch_size=64, epochs=epochs, verbose=0, callbacks=[LambdaCallback(on_epoch_end=report)]
)
written = write(300)
print(written)
print("real words: %.3f (before training %.3f)" % (real_words(written), before))
