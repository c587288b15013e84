"""What the programs share: weights that both editions begin with, and the record of a training."""

import os
import sys

import keras
import numpy as np
from keras import backend as K
from keras.optimizers import Adam

WEIGHTS, RESULT, ORDERING = sys.argv[1:]
if hasattr(K, "set_image_dim_ordering"):
    K.set_image_dim_ordering(ORDERING)
else:
    K.set_image_data_format({"tf": "channels_last", "th": "channels_first"}[ORDERING])
random = np.random.RandomState(7)


def optimizer():
    """With all arguments: defaults differ between editions."""
    return Adam(lr=0.01, beta_1=0.9, beta_2=0.999, epsilon=1e-7)


def picture(rows, cols, channels):
    return (channels, rows, cols) if ORDERING == "th" else (rows, cols, channels)


def train(model, x, y, epochs=5):
    """Trains from the weights in the file, which the first program to run writes."""
    if os.path.exists(WEIGHTS):
        model.load_weights(WEIGHTS)
    else:
        model.save_weights(WEIGHTS)
    first = model.predict(x)
    name = "nb_epoch" if keras.__version__ < "2" else "epochs"
    history = model.fit(x, y, batch_size=8, shuffle=False, verbose=0, **{name: epochs}).history
    last = model.predict(x)
    np.savez(RESULT, keras=keras.__version__, first=first, loss=history["loss"], last=last)
