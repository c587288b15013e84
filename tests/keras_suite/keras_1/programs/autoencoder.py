"""A convolutional autoencoder in the manner of 2016."""

from common_parts import optimizer, picture, random, train
from keras.layers import Convolution2D, Input, MaxPooling2D, UpSampling2D
from keras.models import Model

x = random.rand(24, *picture(8, 8, 1)).astype("float32")

image = Input(shape=picture(8, 8, 1))
code = Convolution2D(8, 3, 3, activation="relu", border_mode="same")(image)
code = MaxPooling2D((2, 2), border_mode="same")(code)
code = Convolution2D(4, 3, 3, activation="relu", border_mode="same")(code)
code = MaxPooling2D((2, 2), border_mode="same")(code)
back = Convolution2D(4, 3, 3, activation="relu", border_mode="same")(code)
back = UpSampling2D((2, 2))(back)
back = Convolution2D(8, 3, 3, activation="relu", border_mode="same")(back)
back = UpSampling2D((2, 2))(back)
back = Convolution2D(1, 3, 3, activation="sigmoid", border_mode="same")(back)
model = Model(image, back)
model.compile(loss="binary_crossentropy", optimizer=optimizer())
train(model, x, x)
