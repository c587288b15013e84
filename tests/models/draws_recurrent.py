"""Random options of recurrent layers."""

import numpy as np

ACTIVATIONS = ["tanh", "relu", "sigmoid", "hard_sigmoid", "linear", None, "softsign", "elu"]
INITIALIZERS = ["glorot_uniform", "he_normal", "orthogonal", "ones", "random_uniform"]
REGULARIZERS = [None, None, "l1", "l2", "l1_l2"]
CONSTRAINTS = [None, None, "max_norm", "non_neg", "unit_norm"]


class Draw:
    """Choices from a seed."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def of(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def flag(self, chance=0.5):
        return bool(self.rng.random() < chance)

    def size(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def numbers(self, *shape, dtype="float32"):
        return self.rng.normal(size=shape).astype(dtype)


def weight_options(d):
    """What all cells can be told, but for dropout."""
    options = {
        "activation": d.of(ACTIVATIONS[:5] if d.flag() else ACTIVATIONS),
        "use_bias": d.flag(0.7),
        "kernel_initializer": d.of(INITIALIZERS),
        "recurrent_initializer": d.of(INITIALIZERS),
        "bias_initializer": d.of(["zeros", "ones", "random_normal"]),
    }
    for what in ("kernel", "recurrent", "bias"):
        options[what + "_regularizer"] = d.of(REGULARIZERS)
        options[what + "_constraint"] = d.of(CONSTRAINTS)
    return options


def cell_options(d, kind):
    options = weight_options(d)
    if kind in ("GRU", "LSTM"):
        options["recurrent_activation"] = d.of(["sigmoid", "hard_sigmoid", "tanh"])
        options["implementation"] = d.size(1, 2)
    if kind == "GRU":
        options["reset_after"] = d.flag()
    if kind == "LSTM":
        options["unit_forget_bias"] = d.flag()
    if d.flag(0.3):  # without effect while predicting
        options["dropout"] = d.of([0.2, 1.5, 1.0])
        options["recurrent_dropout"] = d.of([0.5, -1.0, 0.0])
    return options


def layer_flags(d):
    return {"return_sequences": d.flag(), "return_state": d.flag(), "go_backwards": d.flag()}


def randomised(model, d):
    """Weights that differ from their first values, so that all count."""
    model.set_weights([0.5 * d.numbers(*w.shape, dtype=w.dtype) for w in model.get_weights()])
    return model


def masked(x, d):
    """Some time steps become 0, which Masking leaves out."""
    x = np.array(x)
    for sample in x:
        for t in range(x.shape[1]):
            if d.flag(0.3):
                sample[t] = 0
    return x


def quiet_options(d, kind):
    """Options whose initializers draw no random numbers."""
    options = cell_options(d, kind)
    for name in ("kernel_initializer", "recurrent_initializer", "bias_initializer"):
        options[name] = "zeros"
    options["dropout"], options["recurrent_dropout"] = d.of([0.0, 0.3, 0.6]), d.of([0.0, 0.4])
    return options
