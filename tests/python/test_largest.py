"""Whoever is largest gets the gradient, with a seed of its own in every run; see tests/reliability/largest.py."""

import sys

import horngate as K
import numpy as np
import pytest
import reliability_program

SEED = int(np.random.SeedSequence().entropy % 2**31)
COUNT = 600


def test_random_maxima(record_property):
    record_property("seed", SEED)
    print(f"largest.py --count {COUNT} --seed {SEED}", file=sys.__stderr__)
    assert reliability_program.load("largest").run(COUNT, SEED)["faults"] == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_product_with_two_readers(dtype):
    """Large enough to be computed anew by each reader."""
    draw = np.random.RandomState(0)
    a, w, b = [draw.randn(*s).astype(dtype) for s in ((200, 300), (300,), (300,))]
    x, scale, shift = [K.placeholder(v.shape, dtype=dtype) for v in (a, w, b)]
    product = x * scale
    loss = K.sum(K.max(product + shift, axis=1)) + 0.5 * K.sum(K.square(product))
    (slope,) = K.function([x, scale, shift], K.gradients(loss, [x]))([a, w, b])
    a, w = a.astype("float64"), w.astype("float64")
    assert ((slope / w - a * w).max(1) > 0.5).all()


def test_global_pooling_of_a_dense_layer_in_float16():
    draw = np.random.RandomState(1)
    data = [draw.randn(*s).astype("float16") for s in ((8, 50, 16), (16, 32), (32,))]
    x, w, b = [K.placeholder(v.shape, dtype="float16") for v in data]
    y = K.max(K.relu(K.dot(x, w) + b), axis=1)
    got = K.function([x, w, b], K.gradients(K.sum(K.cast(y, "float32")), [b]))(data)[0]
    assert got.astype("float64").sum() == 8 * 32


def test_small_reciprocals_in_float16():
    x = K.placeholder((3,), dtype="float16")
    for exponent in (-14, -15, -16, -17, -20, -24):
        (got,) = K.function([x], [x / 2.0**exponent])([[2.0**-16, 0, -(2.0**-12)]])
        with np.errstate(over="ignore"):
            wanted = (np.float64([2.0**-16, 0, -(2.0**-12)]) / 2.0**exponent).astype("float16")
        np.testing.assert_array_equal(got, wanted)
