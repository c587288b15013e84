"""dropout: random entries become 0, the others grow."""

import horngate as K
import numpy as np
import pytest
from cases.harness import check, error
from cases.inputs import rand
from scipy import stats


def drop(level, shape=(200, 300), **options):
    x = K.placeholder(shape)
    return K.function([x], [K.dropout(x, level, **options)])


@check(level=(0.1, 0.5, 0.9), dtype=("float32", "float64", "float16"))
def keeps_its_share(level, dtype):
    x = K.placeholder((200, 300), dtype=dtype)
    [got] = K.function([x], [K.dropout(x, level, seed=1)])([np.full((200, 300), 3.0)])
    assert got.dtype == dtype
    kept = got != 0
    np.testing.assert_allclose(
        got[kept], 3 / (1 - level), rtol=2e-3 if dtype == "float16" else 1e-6
    )
    # Binomial: five standard deviations.
    spread = np.sqrt(level * (1 - level) / got.size)
    assert abs(kept.mean() - (1 - level)) < 5 * spread
    # Rows and columns are no different from one another.
    assert stats.chisquare(kept.sum(0)).pvalue > 1e-4 and stats.chisquare(kept.sum(1)).pvalue > 1e-4


@check
def nothing_is_dropped_at_level_0():
    values = np.random.default_rng(0).uniform(-1, 1, (200, 300)).astype("float32")
    np.testing.assert_array_equal(drop(0.0)([values])[0], values)


@check
def a_seed_fixes_the_numbers():
    values = np.ones((200, 300))
    one, two = drop(0.5, seed=7), drop(0.5, seed=7)
    first = one([values])[0]
    np.testing.assert_array_equal(two([values])[0], first)
    second = one([values])[0]
    assert np.any(first != second), "each call draws anew"
    np.testing.assert_array_equal(two([values])[0], second)
    assert np.any(drop(0.5, seed=8)([values])[0] != first)


@check
def numpy_gives_the_seed_that_is_left_open():
    values = np.ones((200, 300))
    results = []
    for seed in (3, 3, 4):
        np.random.seed(seed)
        results.append(drop(0.5)([values])[0])
    np.testing.assert_array_equal(results[0], results[1])
    assert np.any(results[0] != results[2])


@check(noise_shape=[(200, 1), (1, 300), (None, 1), (1, 1)])
def axes_share_flags(noise_shape):
    [got] = drop(0.5, noise_shape=noise_shape, seed=1)([np.ones((200, 300))])
    for axis, n in enumerate(noise_shape):
        if n == 1:
            first = np.take(got, [0], axis)
            np.testing.assert_array_equal(got, np.broadcast_to(first, got.shape))
    if noise_shape != (1, 1):
        assert 0 < np.count_nonzero(got) < got.size


@check
def open_dimensions():
    f = drop(0.5, shape=(None, None), seed=1)
    for shape in [(3, 4), (0, 4), (50, 60)]:
        assert f([np.ones(shape)])[0].shape == shape


@check
def the_gradient_has_the_flags_of_the_value():
    x = K.placeholder((100,))
    y = K.dropout(x, 0.4, seed=1)
    [g] = K.gradients(y, [x])
    value, gradient = K.function([x], [y, g])([np.ones(100)])
    np.testing.assert_array_equal(gradient, value)


for level in (1.0, -0.1, 1.5):
    error(
        K.dropout, [rand(3)], level=level, text=f"dropout: level must be in [0, 1); got {level:g}."
    )
error(
    K.dropout,
    [rand(3, 4)],
    level=0.5,
    noise_shape=(3,),
    text="dropout: noise_shape must have 2 entries for x of shape (3, 4); got 1.",
)
error(
    K.dropout,
    [rand(3, 4)],
    level=0.5,
    noise_shape=(2, 1),
    text="dropout: noise_shape must have 1, None or the dimension of x of shape (3, 4) on each axis; got 2 on axis 0.",
)


@check(dtype=("float16", "float32"))
def a_level_that_only_a_call_knows(dtype):
    x, level = K.ones((1000,), dtype=dtype), K.placeholder((), dtype="float32")
    f = K.function([level], [K.cast(K.dropout(x, level, seed=3), "float32")])
    np.testing.assert_array_equal(f([0.0])[0], np.ones(1000))
    np.testing.assert_array_equal(f([1.0])[0], np.zeros(1000))
    some = f([0.75])[0]
    assert set(np.unique(some)) == {0.0, 4.0} and 150 < np.count_nonzero(some) < 350
    assert np.isfinite(f([0.9999])[0]).all()


@check(level=("number", "tensor"))
def noise_of_an_open_size_is_not_for_more(level):
    def fitting(shape, noise_shape, feeds):
        x, p = K.placeholder(shape), K.placeholder(())
        sizes = K.placeholder((2,), dtype="int32") if noise_shape is None else None
        rate, is_open = p if level == "tensor" else 0.5, noise_shape is None
        y = K.dropout(x, rate, sizes if is_open else noise_shape)
        f = K.function([x, p] + ([sizes] if is_open else []), [y])
        for rows, noise, fits in feeds:
            values = [np.ones((rows, 4)), 0.5] + ([noise] if is_open else [])
            if fits:
                assert f(values)[0].shape == (rows, 4)
            else:
                with pytest.raises(ValueError, match="dropout"):
                    f(values)

    fitting((None, 4), (3, 4), [(3, 0, True), (1, 0, False), (6, 0, False)])
    fitting((None, 4), (1, 4), [(3, 0, True), (1, 0, True)])
    open_noise = [((3, 4), True), ((3, 1), True), ((1, 4), True), ((6, 4), False), ((0, 4), False)]
    fitting((None, 4), None, [(3, *case) for case in open_noise] + [(1, (3, 4), False)])
    fitting((3, 4), None, [(3, *case) for case in open_noise])
    fitting((1, 4), None, [(1, (1, 4), True), (1, (3, 4), False)])


@check(dtype=("float16", "bfloat16", "float32"), level=(0.99998, 0.99999, 1 - 1e-9))
def a_level_next_to_one_gives_no_nan(dtype, level):
    """1 / (1 - level) is infinite in float16."""
    assert K.eval(K.cast(K.dropout(K.ones((8,), dtype=dtype), level, seed=1), "float32")).tolist() == [0] * 8
