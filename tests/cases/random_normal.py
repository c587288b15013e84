"""random_normal: normal numbers."""

import horngate as K
import numpy as np
from cases.harness import check, error
from scipy import stats

N = 40_000


def draw(shape=(N,), **options):
    """A function that draws at each call."""
    return K.function([], [K.random_normal(shape, **options)])


@check(
    dtype=("float32", "float64", "float16", "bfloat16"),
    moments=[(0.0, 1.0), (-3.0, 0.5), (100.0, 10.0)],
)
def distribution(dtype, moments):
    mean, stddev = moments
    y = K.random_normal((N,), mean, stddev, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = (K.eval(K.cast(y, "float64")) - mean) / stddev
    if dtype in ("float32", "float64"):
        assert stats.kstest(got, stats.norm.cdf).pvalue > 1e-3
    assert abs(got.mean()) < 0.03 and abs(got.std() - 1) < 0.03
    assert abs(stats.skew(got)) < 0.1 and abs(stats.kurtosis(got)) < 0.2


@check
def the_tails_are_there():
    got = draw((400_000,), seed=2)([])[0]
    assert np.all(np.isfinite(got))
    for limit in (3.0, 4.0):
        wanted = 2 * stats.norm.sf(limit) * got.size
        assert abs(np.sum(np.abs(got) > limit) - wanted) < 6 * np.sqrt(wanted)


@check
def neighbours_and_calls_are_independent():
    f = draw(seed=3)
    a, b = f([])[0], f([])[0]
    for one, other in [(a[:-1], a[1:]), (a, b), (a[::2], a[1::2]), (a[::2] ** 2, a[1::2] ** 2)]:
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(len(one))


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
    y = K.random_normal(shape, seed=1)
    assert K.int_shape(y) == shape
    assert K.eval(y).shape == shape


@check
def a_shape_that_a_call_knows():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.random_normal(K.shape(x), seed=1)])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0].shape == (n, 3)


@check
def longer_shapes_begin_alike():
    """Number i of a draw depends on the seed and on i alone."""
    short, long = (K.eval(K.random_normal((n,), seed=9)) for n in (100, 10_000))
    np.testing.assert_array_equal(long[:100], short)


@check(needs_numbers=False)
def nothing_flows_back():
    x = K.placeholder((None, 3))
    assert K.gradients(K.random_normal(K.shape(x), seed=1), [x]) == [None]


error(
    K.random_normal,
    [(2, None)],
    text="random_normal: shape must have entries of at least 0, and no None; got (2, None).",
)
