"""Two pictures and a word go in, two answers come out.

A functional model: the pictures of two digits go through one shared net, a word says "plus" or
"minus", and the model answers with the result and whether it is even. Two losses with weights,
layers that are shared, inputs and targets by name.
"""

import numpy as np
from common import load_digits, options

from keras.layers import Conv2D, Dense, Dropout, Embedding, Flatten, Input, concatenate, multiply
from keras.models import Model

args = options(__doc__)

random = np.random.RandomState(args.seed)
WORDS = ["plus", "minus"]
LOWEST, RESULTS = -9, 28  # -9 .. 18


def tasks(x, y, n):
    i, j, word = (random.randint(k, size=n) for k in (len(x), len(x), 2))
    result = np.where(word == 0, y[i] + y[j], y[i] - y[j])
    inputs = {"first": x[i], "second": x[j], "word": word[:, None]}
    targets = {
        "result": (result - LOWEST)[:, None],
        "even": (result % 2 == 0)[:, None].astype("float32"),
    }
    return inputs, targets


first = Input(shape=(8, 8, 1), name="first")
second = Input(shape=(8, 8, 1), name="second")
word = Input(shape=(1,), dtype="int32", name="word")

picture = Input(shape=(8, 8, 1))
h = Conv2D(16, (3, 3), activation="relu")(picture)
h = Conv2D(32, (3, 3), activation="relu")(h)
h = Dropout(0.3)(Flatten()(h))
eye = Model(picture, Dense(48, activation="relu")(h), name="eye")

both = concatenate([eye(first), eye(second)])
# The word opens and closes channels.
gate = Flatten()(Embedding(len(WORDS), 128)(word))
h = multiply([Dense(128)(both), gate])
h = concatenate([h, both])
h = Dense(128, activation="relu")(h)
result = Dense(RESULTS, activation="softmax", name="result")(h)
even = Dense(1, activation="sigmoid", name="even")(concatenate([h, result]))

model = Model(inputs=[first, second, word], outputs=[result, even])
model.compile(
    optimizer="adam",
    loss={"result": "sparse_categorical_crossentropy", "even": "binary_crossentropy"},
    loss_weights={"result": 1.0, "even": 0.5},
    metrics=["accuracy"],
)
train, test = load_digits()
inputs, targets = tasks(*train, n=8000 if args.small else 40000)
model.fit(inputs, targets, batch_size=64, epochs=5 if args.small else 8, verbose=args.verbose)

inputs, targets = tasks(*test, n=1000)
figures = dict(zip(model.metrics_names, model.evaluate(inputs, targets, verbose=0)))
answers, parity = model.predict({name: value[:4] for name, value in inputs.items()})
for i in range(4):
    print(
        "?? %-5s ?? is %3d; the model says %3d, even: %.2f"
        % (
            WORDS[inputs["word"][i, 0]],
            targets["result"][i, 0] + LOWEST,
            answers[i].argmax() + LOWEST,
            parity[i, 0],
        )
    )
print("parity right: %.3f (chance 0.500)" % figures["even_accuracy"])
print("result right: %.3f (chance 0.054)" % figures["result_accuracy"])
