"""Cases that random functions share."""

import horngate as K
import numpy as np
from cases.harness import check, error
from scipy import stats

DRAWS = 40_000


def draws(function, name, **options):
    """What all random tensors share; `options` make numbers that differ from call to call."""

    def draw(shape=(DRAWS,), **more):
        """A function that draws at each call."""
        return K.function([], [function(shape, **options, **more)])

    @check
    def neighbours_and_calls_are_independent():
        f = draw(seed=3)
        a, b = f([])[0], f([])[0]
        pairs = [(a[:-1], a[1:]), (a, b), (a[::2], a[1::2]), (a[:-7], a[7:])]
        if len(np.unique(a)) > 2:
            pairs.append((a[::2] ** 2, a[1::2] ** 2))
        for one, other in pairs:
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
        y = function(shape, seed=1, **options)
        assert K.int_shape(y) == shape
        assert K.eval(y).shape == shape

    @check
    def a_shape_that_a_call_knows():
        x = K.placeholder((None, 3))
        f = K.function([x], [function(K.shape(x), seed=1, **options)])
        for n in (0, 1, 5):
            assert f([np.zeros((n, 3))])[0].shape == (n, 3)

    @check
    def longer_shapes_begin_alike():
        """Number i of a draw depends on the seed and on i alone."""
        short, long = (K.eval(function((n,), seed=9, **options)) for n in (100, 10_000))
        np.testing.assert_array_equal(long[:100], short)

    @check(needs_numbers=False)
    def nothing_flows_back():
        x = K.placeholder((None, 3))
        assert K.gradients(function(K.shape(x), seed=1, **options), [x]) == [None]

    error(
        function,
        [(2, None)],
        text=f"{name}: shape must have entries of at least 0, and no None; got (2, None).",
    )


def random_variable(function, name, cdf):
    """A variable that starts with random numbers; `cdf` is that of function(.., -2, 3)."""

    @check(dtype=("float32", "float64"))
    def distribution(dtype):
        v = function((200, 100), -2.0, 3.0, dtype=dtype, seed=1)
        assert K.is_variable(v) and K.dtype(v) == dtype and K.int_shape(v) == (200, 100)
        assert stats.kstest(K.get_value(v).ravel(), cdf).pvalue > 1e-3

    @check
    def keeps_its_numbers():
        v = function((10,), -2.0, 3.0, seed=1)
        np.testing.assert_array_equal(K.eval(v), K.eval(v))

    @check
    def a_seed_fixes_the_numbers():
        one, two, other = (K.get_value(function((10,), -2.0, 3.0, seed=s)) for s in (5, 5, 6))
        np.testing.assert_array_equal(one, two)
        assert np.all(one != other)

    @check
    def numpy_gives_the_seed_that_is_left_open():
        values = []
        for seed in (3, 3, 4):
            np.random.seed(seed)
            values.append(K.get_value(function((10,), -2.0, 3.0)))
        np.testing.assert_array_equal(values[0], values[1])
        assert np.all(values[0] != values[2])

    @check(shape=[(), (0,), (1,), (7,), (2, 0, 3)])
    def shapes(shape):
        v = function(shape, -2.0, 3.0, seed=1)
        assert K.int_shape(v) == shape == K.get_value(v).shape

    error(
        function,
        [(2,), -2.0, 3.0],
        dtype="int32",
        raises=TypeError,
        text=f"{name}: dtype must be a float type; got int32.",
    )
