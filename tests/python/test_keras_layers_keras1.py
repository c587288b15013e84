"""Layers of Keras 1 that files have: MaxoutDense and Highway, which Keras 2.3.1 kept; ParametricSoftplus, SReLU, and Merge with
mode "cos", which it did not."""

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from draws_recurrent import CONSTRAINTS, REGULARIZERS, Draw, randomised  # noqa: E402
from keras import layers, models  # noqa: E402


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def maxout(x, weights, options):
    kernel, *bias = weights
    y = np.einsum("ni,fio->nfo", x, kernel)
    return (y + bias[0] if bias else y).max(axis=1)


def highway(x, weights, options):
    kernel, carry, *biases = weights
    bias, carry_bias = biases or (0, 0)
    share = sigmoid(x @ carry + carry_bias)
    y = x @ kernel + bias
    y = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0)}.get(
        options["activation"], lambda v: v
    )(y)
    return y * share + (1 - share) * x


ORACLES = {"MaxoutDense": maxout, "Highway": highway}


def case(name, seed):
    d = Draw(seed)
    options = {
        "init": d.of(["glorot_uniform", "he_normal", "uniform"]),
        "bias": d.flag(0.7),
        "W_regularizer": d.of(REGULARIZERS),
        "b_regularizer": d.of(REGULARIZERS),
        "activity_regularizer": d.of(REGULARIZERS),
        "W_constraint": d.of(CONSTRAINTS),
        "b_constraint": d.of(CONSTRAINTS),
    }
    if name == "MaxoutDense":
        options.update(output_dim=d.size(1, 5), nb_feature=d.size(1, 4))
    else:
        options.update(activation=d.of(["tanh", "relu", "linear", None]))
    width, samples = d.size(1, 6), d.size(1, 5)
    x = layers.Input((width,))
    model = randomised(models.Model(x, getattr(layers, name)(**options)(x)), d)
    return model, d.numbers(samples, width), options


@pytest.mark.parametrize("name", ORACLES)
def test_as_in_keras_and_by_the_formula(name):
    cases = [case(name, seed) for seed in range(30)]
    keras_cases.check([(model, x, False) for model, x, _ in cases])
    for model, x, options in cases:
        weights = [w.astype("float64") for w in model.get_weights()]
        wanted = ORACLES[name](x.astype("float64"), weights, options)
        np.testing.assert_allclose(model.predict(x), wanted, rtol=2e-5, atol=1e-6)


def run_layer(name, config, batch, weights=()):
    """What the C++ library computes for a layer of a file of Keras 1; what it writes it must read."""
    names = [f"in_{i}" for i in range(len(batch))]
    inputs = [
        {
            "name": n,
            "class_name": "InputLayer",
            "config": {"batch_input_shape": [None, *x.shape[1:]], "dtype": "float32", "name": n},
            "inbound_nodes": [],
        }
        for n, x in zip(names, batch)
    ]
    layer = {
        "name": "m",
        "class_name": name,
        "config": config,
        "inbound_nodes": [[[n, 0, 0] for n in names]],
    }
    net = {
        "name": "net",
        "layers": [*inputs, layer],
        "input_layers": [[n, 0, 0] for n in names],
        "output_layers": [["m", 0, 0]],
    }
    written = {
        "model": {"class_name": "Model", "config": net},
        "weights": [keras_cases.described(w) for w in weights],
        "batches": [[keras_cases.described(x) for x in batch]],
        "training": False,
        "seed": None,
        "floatx": "float32",
    }
    (got,) = keras_cases.run([written])
    assert "error" not in got, got
    written["model"]["config"] = got["config"]
    (again,) = keras_cases.run([written])
    assert again["outputs"] == got["outputs"] and again["config"] == got["config"]
    return keras_cases.array_of(got["outputs"][0])


def cosine(a, b, axis):
    """As Keras 1.2.2 computes it, in float64: products of pairs, also of different steps, and a new axis."""
    if a.ndim == 2:
        products = [np.sum(p * q, axis=1, keepdims=True) for p, q in ((a, b), (a, a), (b, b))]
    else:
        a, b = (np.moveaxis(v, axis, -1) for v in (a, b))
        products = [np.einsum("nik,njk->nij", p, q) for p, q in ((a, b), (a, a), (b, b))]
    ab, aa, bb = products
    return (ab / np.maximum(np.sqrt(aa * bb), 1e-7))[:, None]


@pytest.mark.parametrize(
    "shape, axes", [((5,), 1), ((5,), -1), ((1,), [1, 1]), ((3, 4), 2), ((3, 4), [1, 1])]
)
def test_merge_by_the_cosine(shape, axes):
    random = np.random.RandomState(7)
    a, b = (random.uniform(0.1, 1, (6, *shape)).astype("float32") for _ in range(2))
    a[0] = 0  # nothing is divided by 0
    merge = {"name": "m", "mode": "cos", "mode_type": "raw", "concat_axis": -1, "dot_axes": axes}
    got = run_layer("Merge", merge, [a, b])
    axis = axes if isinstance(axes, int) else axes[0]
    wanted = cosine(a.astype("float64"), b.astype("float64"), axis)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def softplus_of(x, alphas, betas):
    return alphas * np.logaddexp(0, betas * x)


def three_pieces(x, t_left, a_left, t_right, a_right):
    """As its page has it: by the piece in which x lies."""
    right = t_left + np.abs(t_right)
    below, above = t_left + a_left * (x - t_left), right + a_right * (x - right)
    return np.where(x <= t_left, below, np.where(x >= right, above, x))


@pytest.mark.parametrize(
    "name, formula, options",
    [
        ("ParametricSoftplus", softplus_of, {"alpha_init": 0.3, "beta_init": 4.0}),
        ("SReLU", three_pieces, {"t_left_init": "zero", "a_right_init": "one"}),
    ],
)
@pytest.mark.parametrize("shape", [(5,), (1,), (3, 4), (2, 3, 4)])
def test_activations_with_weights(name, formula, options, shape):
    random = np.random.RandomState(sum(shape))
    count = len(inspect.signature(formula).parameters) - 1
    weights = [random.uniform(-1, 1, shape).astype("float32") for _ in range(count)]
    x = (2 * random.randn(7, *shape)).astype("float32")
    got = run_layer(name, {"name": "m", "trainable": True, **options}, [x], weights)
    wanted = formula(*(v.astype("float64") for v in (x, *weights)))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
