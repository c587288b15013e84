"""A small convolutional net in the manner of 2016, on bars that stand or lie."""

import numpy as np
from common_parts import optimizer, picture, random, train
from keras.layers import Activation, Convolution2D, Dense, MaxPooling2D, Reshape, ZeroPadding2D
from keras.models import Sequential

lies = random.randint(0, 2, 32)
x = random.rand(32, 8, 8) * 0.5
for image, flat, place in zip(x, lies, random.randint(0, 8, 32)):
    (image if flat else image.T)[place] += 1
x = x.reshape(32, *picture(8, 8, 1)).astype("float32")

model = Sequential()
model.add(ZeroPadding2D((1, 1), input_shape=picture(8, 8, 1)))
model.add(Convolution2D(4, 3, 3, border_mode="valid"))
model.add(Activation("relu"))
model.add(Convolution2D(6, 3, 3, border_mode="same", activation="relu"))
model.add(MaxPooling2D(pool_size=(2, 2)))
model.add(Convolution2D(6, 2, 2, subsample=(2, 2)))
model.add(Reshape((24,)))  # Flatten of Keras 2.3 reorders channels_first
model.add(Dense(2, activation="softmax"))
model.compile(loss="categorical_crossentropy", optimizer=optimizer())
train(model, x, np.eye(2)[lies])
