"""random_binomial: 1 with probability p, else 0."""

import horngate as K
import numpy as np
from cases.harness import check, error

N = 40_000


def draw(shape=(N,), **options):
    """A function that draws at each call."""
    return K.function([], [K.random_binomial(shape, **options)])


@check(p=(0.0, 0.1, 0.5, 0.999, 1.0), dtype=("float32", "float64", "float16", "int32"))
def distribution(p, dtype):
    y = K.random_binomial((N,), p, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = K.eval(y)
    assert set(np.unique(got)) <= {0, 1}
    assert abs(got.astype("float64").mean() - p) <= 5 * np.sqrt(p * (1 - p) / N)


@check
def neighbours_and_calls_are_independent():
    f = draw(p=0.5, seed=3)
    a, b = f([])[0], f([])[0]
    for one, other in [(a[:-1], a[1:]), (a, b), (a[::2], a[1::2])]:
        assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(len(one))


for p in (-0.1, 1.5):
    error(K.random_binomial, [(2,)], p=p, text=f"random_binomial: p must be in [0, 1]; got {p:g}.")


@check
def a_seed_fixes_the_numbers():
    one, two, other = (draw(p=0.5, seed=s) for s in (5, 5, 6))
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
        results.append(draw(p=0.5)([])[0])
    np.testing.assert_array_equal(results[0], results[1])
    assert np.any(results[0] != results[2])


@check
def two_draws_with_open_seeds_differ():
    assert np.any(draw(p=0.5)([])[0] != draw(p=0.5)([])[0])


@check(shape=[(), (0,), (1,), (7,), (2, 0, 3), (3, 5)])
def shapes(shape):
    y = K.random_binomial(shape, seed=1, p=0.5)
    assert K.int_shape(y) == shape
    assert K.eval(y).shape == shape


@check
def a_shape_that_a_call_knows():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.random_binomial(K.shape(x), seed=1, p=0.5)])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0].shape == (n, 3)


@check
def longer_shapes_begin_alike():
    """Number i of a draw depends on the seed and on i alone."""
    short, long = (K.eval(K.random_binomial((n,), seed=9, p=0.5)) for n in (100, 10_000))
    np.testing.assert_array_equal(long[:100], short)


@check(needs_numbers=False)
def nothing_flows_back():
    x = K.placeholder((None, 3))
    assert K.gradients(K.random_binomial(K.shape(x), seed=1, p=0.5), [x]) == [None]


error(
    K.random_binomial,
    [(2, None)],
    text="random_binomial: shape must have entries of at least 0, and no None; got (2, None).",
)
