"""A variational autoencoder draws digits.

The code of an image is a normal distribution, sampled with K.random_normal; the loss is a custom
one, of reconstruction and Kullback-Leibler divergence, made of K functions and closed over the
layers' tensors, as was usual with Keras 2.
"""

import numpy as np
from common import load_digits, options, show

from keras import backend as K
from keras.layers import Dense, Input, Lambda
from keras.losses import binary_crossentropy
from keras.models import Model

args = options(__doc__)

LATENT = 4
(x_train, _), (x_test, _) = load_digits()
x_train, x_test = x_train.reshape(-1, 64), x_test.reshape(-1, 64)


def sample(parameters):
    mean, log_variance = parameters
    noise = K.random_normal(shape=K.shape(mean), mean=0.0, stddev=1.0)
    return mean + K.exp(log_variance / 2) * noise


image = Input(shape=(64,))
hidden = Dense(128, activation="relu")(image)
mean = Dense(LATENT, name="mean")(hidden)
log_variance = Dense(LATENT, name="log_variance")(hidden)
code = Lambda(sample, output_shape=(LATENT,))([mean, log_variance])
encoder = Model(image, [mean, log_variance, code])

code_in = Input(shape=(LATENT,))
decoder = Model(code_in, Dense(64, activation="sigmoid")(Dense(128, activation="relu")(code_in)))
autoencoder = Model(image, decoder(code))


def vae_loss(y_true, y_pred):
    reconstruction = 64 * binary_crossentropy(y_true, y_pred)
    divergence = -0.5 * K.sum(1 + log_variance - K.square(mean) - K.exp(log_variance), axis=-1)
    return reconstruction + divergence


autoencoder.compile(optimizer="adam", loss=vae_loss)
epochs = 25 if args.small else 150
history = autoencoder.fit(x_train, x_train, epochs=epochs, batch_size=32, verbose=args.verbose)
print(
    "loss: %.2f at first, %.2f at last" % (history.history["loss"][0], history.history["loss"][-1])
)

print("Digits that nobody wrote:")
drawn = decoder.predict(np.random.RandomState(args.seed).normal(size=(6, LATENT)))
show(np.concatenate([np.pad(d.reshape(8, 8), ((0, 0), (0, 2))) for d in drawn], axis=1))

# The mean image is the best answer of one that has no code.
error = np.mean((decoder.predict(encoder.predict(x_test)[0]) - x_test) ** 2)
without = np.mean((x_train.mean(axis=0) - x_test) ** 2)
print(
    "squared error of unseen digits: %.3f of that of the mean image (chance 1.000)"
    % (error / without)
)
