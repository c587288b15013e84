"""truncated_normal: normal numbers within two standard deviations."""

import horngate as K
import numpy as np
from cases.harness import check, error
from scipy import stats

N = 40_000


def draw(shape=(N,), **options):
    """A function that draws at each call."""
    return K.function([], [K.truncated_normal(shape, **options)])


@check(dtype=("float32", "float64", "float16"), moments=[(0.0, 1.0), (-3.0, 0.5), (100.0, 10.0)])
def distribution(dtype, moments):
    mean, stddev = moments
    y = K.truncated_normal((N,), mean, stddev, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = (K.eval(K.cast(y, "float64")) - mean) / stddev
    assert np.abs(got).max() <= 2.0 + (1e-6 if dtype != "float16" else 0.02)
    if dtype != "float16":
        assert stats.kstest(got, stats.truncnorm(-2, 2).cdf).pvalue > 1e-3
    assert abs(got.mean()) < 0.03 and abs(got.std() - stats.truncnorm(-2, 2).std()) < 0.03


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
    y = K.truncated_normal(shape, seed=1)
    assert K.int_shape(y) == shape
    assert K.eval(y).shape == shape


@check
def a_shape_that_a_call_knows():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.truncated_normal(K.shape(x), seed=1)])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0].shape == (n, 3)


@check
def longer_shapes_begin_alike():
    """Number i of a draw depends on the seed and on i alone."""
    short, long = (K.eval(K.truncated_normal((n,), seed=9)) for n in (100, 10_000))
    np.testing.assert_array_equal(long[:100], short)


@check(needs_numbers=False)
def nothing_flows_back():
    x = K.placeholder((None, 3))
    assert K.gradients(K.truncated_normal(K.shape(x), seed=1), [x]) == [None]


error(
    K.truncated_normal,
    [(2, None)],
    text="truncated_normal: shape must have entries of at least 0, and no None; got (2, None).",
)
