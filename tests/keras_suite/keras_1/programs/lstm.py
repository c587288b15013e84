"""Sentiments in the manner of 2016: words, an embedding that masks, an LSTM, one number."""

from common_parts import optimizer, random, train
from keras.layers import LSTM, Dense, Embedding
from keras.models import Sequential

words = random.randint(1, 20, (32, 10))
words[::3, 6:] = 0
y = (words[:, 0] > 10).astype("float32").reshape(-1, 1)

model = Sequential()
model.add(Embedding(20, 8, input_length=10, mask_zero=True))
model.add(LSTM(12, inner_activation="hard_sigmoid", return_sequences=True))
model.add(LSTM(6, inner_activation="hard_sigmoid"))
model.add(Dense(1, activation="sigmoid"))
model.compile(loss="binary_crossentropy", optimizer=optimizer())
train(model, words, y)
