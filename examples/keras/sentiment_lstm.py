"""An LSTM tells good reviews from bad ones.

As the IMDB example, on generated reviews: words become numbers with Tokenizer, reviews of different
length are padded and the padding is masked. Praise may be negated ("not at all dull"), so
the order of the words counts; a bag of words is trained beside it for comparison.
"""

import numpy as np
from common import options

from keras.layers import LSTM, Dense, Embedding, GlobalAveragePooling1D
from keras.models import Sequential
from keras.optimizers import Adam
from keras.preprocessing.sequence import pad_sequences
from keras.preprocessing.text import Tokenizer

args = options(__doc__)

random = np.random.RandomState(args.seed)
GOOD = "brilliant moving witty charming gripping fresh superb warm".split()
BAD = "dull clumsy tedious shallow noisy stale awful cold".split()
THINGS = "plot cast music ending camera script hero villain dialogue pace".split()
FILLER = "I watched it on a rainy day with my sister and we talked about it for a while".split()


def review():
    """A text and whether it is praise: the sum of its two or three opinions decides."""
    while True:
        words, score = [], 0
        for _ in range(random.randint(2, 4)):
            good, negated = random.randint(2), random.rand() < 0.4
            score += 1 if good != negated else -1
            start = random.randint(len(FILLER) - 4)
            words += FILLER[start : start + random.randint(1, 5)]
            words += ["the", random.choice(THINGS), "was"] + ["not", "at", "all"] * int(negated)
            words += [random.choice(GOOD if good else BAD)]
        if score:
            return " ".join(words), float(score > 0)


texts, labels = zip(*[review() for _ in range(1800 if args.small else 5000)])
tokenizer = Tokenizer(num_words=200)
tokenizer.fit_on_texts(texts)
x = pad_sequences(tokenizer.texts_to_sequences(texts), maxlen=30)
y = np.array(labels)
cut = len(x) * 4 // 5


def train(model):
    model.compile(Adam(0.005), "binary_crossentropy", metrics=["accuracy"])
    epochs = 8 if args.small else 10
    model.fit(x[:cut], y[:cut], batch_size=32, epochs=epochs, verbose=args.verbose)
    return model.evaluate(x[cut:], y[cut:], verbose=0)[1]


bag = Sequential([Embedding(200, 16), GlobalAveragePooling1D(), Dense(1, activation="sigmoid")])
print("bag of words: %.3f" % train(bag))

lstm = Sequential()
lstm.add(Embedding(200, 24, mask_zero=True))
lstm.add(LSTM(32, dropout=0.1, recurrent_dropout=0.1))
lstm.add(Dense(1, activation="sigmoid"))
accuracy = train(lstm)

for text in (
    "the music was superb and we talked about it the plot was not at all shallow",
    "I watched it the cast was not at all charming the pace was tedious",
):
    score = lstm.predict(pad_sequences(tokenizer.texts_to_sequences([text]), maxlen=30))[0, 0]
    print("%.2f  %s" % (score, text))
print("accuracy of the LSTM: %.3f (chance 0.500)" % accuracy)
