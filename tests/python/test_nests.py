"""Loops, branches and gradients inside of each other, with a seed of its own in every run; see tests/reliability/nests.py.
And what makes gradients with respect to results possible: each is a tensor of its own."""

import sys

import horngate as K
import numpy as np
import pytest
import reliability_program

SEED = int(np.random.SeedSequence().entropy % 2**31)
COUNT = 400


def test_random_nests(record_property):
    record_property("seed", SEED)
    print(f"nests.py --count {COUNT} --seed {SEED}", file=sys.__stderr__)
    nests = reliability_program.load("nests")
    assert nests.run(COUNT, SEED)["faults"] == []


# Calls whose result equals x.
EQUAL = {
    "x + 0": lambda x: x + 0,
    "0 + x": lambda x: 0 + x,
    "x - 0": lambda x: x - 0,
    "x * 1": lambda x: x * 1,
    "x / 1": lambda x: x / 1,
    "x ** 1": lambda x: x**1,
    "-(-x)": lambda x: -(-x),
    "x[:]": lambda x: x[:],
    "slice": lambda x: K.slice(x, [0, 0], [2, 3]),
    "reshape": lambda x: K.reshape(x, (2, 3)),
    "permute_dimensions": lambda x: K.permute_dimensions(x, (0, 1)),
    "transpose twice": lambda x: K.transpose(K.transpose(x)),
    "batch_flatten": K.batch_flatten,
    "squeeze": lambda x: K.squeeze(K.expand_dims(x, 0), 0),
    "tile": lambda x: K.tile(x, [1, 1]),
    "repeat_elements": lambda x: K.repeat_elements(x, 1, 0),
    "concatenate": lambda x: K.concatenate([x]),
    "reverse": lambda x: K.reverse(x, []),
    "sum": lambda x: K.sum(x, axis=[]),
    "mean": lambda x: K.mean(x, axis=[]),
    "max": lambda x: K.max(x, axis=[]),
    "clip": lambda x: K.clip(x, -np.inf, np.inf),
    "dropout": lambda x: K.dropout(x, 0.0),
    "bias_add": lambda x: K.bias_add(x, K.constant(np.zeros(3))),
    "identity": K.identity,
}


@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("kind", ["placeholder", "variable", "constant", "product"])
def test_results_are_tensors_of_their_own(name, kind):
    """d(y * tanh(x)) / dy is tanh(x), also where y equals x; and whoever feeds y does not feed x."""
    value = np.linspace(0.1, 0.6, 6).reshape(2, 3)
    fed = K.placeholder((2, 3))
    x = {
        "placeholder": fed,
        "variable": K.variable(value),
        "constant": K.constant(value),
        "product": fed * 2,
    }[kind]
    y = EQUAL[name](x)
    assert not K.is_variable(y)
    (slope,) = K.gradients(K.sum(y * K.tanh(x)), [y])
    at = value * 2 if kind == "product" else value
    np.testing.assert_allclose(K.function([fed], [slope])([value])[0], np.tanh(at), rtol=1e-5)
    got = K.function([fed, y], [y + x])([value, np.ones((2, 3))])[0]
    np.testing.assert_allclose(got, at + 1, rtol=1e-6)
