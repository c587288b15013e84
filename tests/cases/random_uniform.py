"""random_uniform: numbers of [minval, maxval)."""

import os
import subprocess
import sys

import horngate as K
import numpy as np
from cases.harness import check, error
from scipy import stats

N = 40_000


def draw(shape=(N,), **options):
    """A function that draws at each call."""
    return K.function([], [K.random_uniform(shape, **options)])


@check(
    dtype=("float32", "float64", "float16", "bfloat16"),
    bounds=[(0.0, 1.0), (-3.0, 5.0), (10.0, 10.5)],
)
def distribution(dtype, bounds):
    low, high = bounds
    y = K.random_uniform((N,), low, high, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = K.eval(K.cast(y, "float64"))
    assert got.min() >= low and got.max() < high
    if dtype in ("float32", "float64"):
        assert stats.kstest(got, stats.uniform(low, high - low).cdf).pvalue > 1e-3
    np.testing.assert_allclose(got.mean(), (low + high) / 2, atol=(high - low) * 0.02)


@check
def neighbours_and_calls_are_independent():
    f = draw(seed=3)
    a, b = f([])[0], f([])[0]
    for one, other in [(a[:-1], a[1:]), (a, b), (a[::2], a[1::2]), (a[:-7], a[7:])]:
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(len(one))


@check
def fine_bits_are_even():
    """The last bits of a float32 are as random as the first."""
    got = draw(seed=4)([])[0]
    parts = np.floor(got.astype("float64") * 2**20).astype("int64") % 16
    assert stats.chisquare(np.bincount(parts, minlength=16)).pvalue > 1e-3


@check(dtype=("int32", "int64", "uint8"))
def whole_numbers(dtype):
    y = K.random_uniform((N,), 2, 9, dtype=dtype, seed=1)
    got = K.eval(y)
    assert got.dtype == dtype and got.min() == 2 and got.max() == 8
    assert stats.chisquare(np.bincount(got)[2:]).pvalue > 1e-3


@check(threads=("1", "2", "3"))
def threads_do_not_matter(threads):
    code = (
        "import horngate as K; print(K.eval(K.random_uniform((100000,), seed=8)).tobytes().hex())"
    )
    environment = dict(os.environ, HORNGATE_NUM_THREADS=threads)
    made = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    got = np.frombuffer(bytes.fromhex(made.stdout), "float32")
    np.testing.assert_array_equal(got, draw((100_000,), seed=8)([])[0])


error(
    K.random_uniform,
    [(2,)],
    minval=3.0,
    maxval=1.0,
    text="random_uniform: minval must not be above maxval; got 3 and 1.",
)


@check
def a_seed_fixes_the_numbers():
    one, two, other = (draw(seed=s) for s in (5, 5, 6))
    first = one([])[0]
    np.testing.assert_array_equal(two([])[0], first)
    second = one([])[0]
    assert np.any(first != second), "each call draws anew"
    np.testing.assert_array_equal(two([])[0], second)
    assert np.any(other([])[0] != first)


@check
def numpy_gives_the_seed_that_is_left_open():
    results = []
    for seed in (3, 3, 4):
        np.random.seed(seed)
        results.append(draw()([])[0])
    np.testing.assert_array_equal(results[0], results[1])
    assert np.any(results[0] != results[2])


@check
def two_draws_with_open_seeds_differ():
    assert np.any(draw()([])[0] != draw()([])[0])


@check(shape=[(), (0,), (1,), (7,), (2, 0, 3), (3, 5)])
def shapes(shape):
    y = K.random_uniform(shape, seed=1)
    assert K.int_shape(y) == shape
    assert K.eval(y).shape == shape


@check
def a_shape_that_a_call_knows():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.random_uniform(K.shape(x), seed=1)])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0].shape == (n, 3)


@check
def longer_shapes_begin_alike():
    """Number i of a draw depends on the seed and on i alone."""
    short, long = (K.eval(K.random_uniform((n,), seed=9)) for n in (100, 10_000))
    np.testing.assert_array_equal(long[:100], short)


@check(needs_numbers=False)
def nothing_flows_back():
    x = K.placeholder((None, 3))
    assert K.gradients(K.random_uniform(K.shape(x), seed=1), [x]) == [None]


error(
    K.random_uniform,
    [(2, None)],
    text="random_uniform: shape must have entries of at least 0, and no None; got (2, None).",
)
