"""float16 and bfloat16: what is stored is rounded, what is computed is float32."""

import horngate as K
import numpy as np
from cases.harness import check

HALF = ("float16", "bfloat16")
BITS = {"float16": 11, "bfloat16": 8}  # of the mantissa
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}


def value_of(tensor):
    return K.eval(K.cast(tensor, "float64"))


@check(dtype=HALF)
def rounds_to_nearest_even(dtype):
    step = 2.0 ** (1 - BITS[dtype])
    x = K.placeholder((None,), dtype="float64")
    values = 1 + step * np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 3.5])
    [got] = K.function([x], [K.cast(K.cast(x, dtype), "float64")])([values])
    np.testing.assert_array_equal(got, 1 + step * np.array([0, 0, 0, 1, 1, 2, 2, 4]))


@check(dtype=HALF)
def too_large_is_infinite(dtype):
    top = LARGEST[dtype]
    x = K.constant([top, top, -top], dtype=dtype)
    np.testing.assert_array_equal(value_of(x), [top, top, -top])
    np.testing.assert_array_equal(
        value_of(x * K.constant([1.0, 2.0, 2.0], dtype=dtype)), [top, np.inf, -np.inf]
    )


@check(dtype=HALF)
def small_numbers_stay(dtype):
    smallest = 2.0**-24 if dtype == "float16" else 2.0**-133
    x = K.constant(np.array([smallest, 3 * smallest]), dtype=dtype)
    np.testing.assert_array_equal(value_of(x), [smallest, 3 * smallest])


@check(dtype=HALF)
def products_add_up_in_float32(dtype):
    """In half precision the sum of so many ones would stop early."""
    n = 4096
    x, y = K.placeholder((1, n), dtype=dtype), K.placeholder((n, 1), dtype=dtype)
    [got] = K.function([x, y], [K.cast(K.dot(x, y), "float32")])([np.ones((1, n)), np.ones((n, 1))])
    assert got == n


@check(dtype=HALF)
def convolutions_add_up_in_float32(dtype):
    x, w = K.placeholder((1, 64, 64, 1), dtype=dtype), K.placeholder((64, 64, 1, 1), dtype=dtype)
    f = K.function([x, w], [K.cast(K.conv2d(x, w), "float32")])
    assert f([np.ones((1, 64, 64, 1)), np.ones((64, 64, 1, 1))])[0] == 4096


MANY = 70000  # infinite in float16


def many(rng, shape, dtype):
    """Numbers of the dtype, as they are in float64, around 2."""
    return value_of(K.constant(rng.normal(2, 1, shape), dtype=dtype))


@check(dtype=HALF, name=("mean", "var", "std", "logsumexp"), open_dims=(False, True))
def more_elements_than_float16_can_count(dtype, name, open_dims):
    x = K.placeholder((None if open_dims else 2, MANY), dtype=dtype)
    data = many(np.random.default_rng(1), (2, MANY), dtype)
    want = {
        "mean": np.mean(data, axis=1),
        "var": np.var(data, axis=1),
        "std": np.std(data, axis=1),
        "logsumexp": np.log(np.sum(np.exp(data), axis=1)),
    }[name]
    y = getattr(K, name)(x, axis=1)
    assert K.dtype(y) == dtype
    [got] = K.function([x], [K.cast(y, "float64")])([data])
    np.testing.assert_allclose(got, want, rtol=2.0 ** -BITS[dtype])


@check(dtype=HALF, name=("max", "min"))
def more_equal_elements_than_float16_can_count(dtype, name):
    x = K.placeholder((MANY,), dtype=dtype)
    [dx] = K.gradients(getattr(K, name)(x), [x])
    [got] = K.function([x], [K.cast(dx, "float64")])([np.ones(MANY)])
    np.testing.assert_allclose(got, 1 / MANY, rtol=2e-3)


@check(dtype=HALF)
def sums_beyond_the_largest_number(dtype):
    """The mean of numbers is among them, whatever their sum."""
    top = LARGEST[dtype]
    x = K.placeholder((None, 3), dtype=dtype)
    data = np.array([[top, top, top], [top, -top, top]]) * (1 if dtype == "float16" else 2.0**-100)
    [got] = K.function([x], [K.cast(K.mean(x, axis=1), "float64")])([data])
    np.testing.assert_allclose(got, data.mean(axis=1), rtol=2.0 ** -BITS[dtype])


@check(dtype=HALF)
def outputs_whose_sum_is_beyond_the_largest_number(dtype):
    """categorical_crossentropy makes probabilities of them."""
    target, output = np.eye(4)[:2], np.array([[4e4, 2e4, 1e4, 1e4], [1e4, 4e4, 4e4, 4e4]])
    t, o = K.placeholder((2, 4), dtype=dtype), K.placeholder((2, 4), dtype=dtype)
    [got] = K.function([t, o], [K.cast(K.categorical_crossentropy(t, o), "float64")])(
        [target, output]
    )
    want = -np.log((output / output.sum(axis=1, keepdims=True))[[0, 1], [0, 1]])
    np.testing.assert_allclose(got, want, rtol=2.0 ** (3 - BITS[dtype]))


@check(dtype=HALF)
def gradients_of_many_elements(dtype):
    x = K.placeholder((MANY,), dtype=dtype)
    data = many(np.random.default_rng(2), (MANY,), dtype)
    [g] = K.gradients(K.mean(x) * 1000.0, [x])
    assert K.dtype(g) == dtype
    [got] = K.function([x], [K.cast(g, "float64")])([data])
    np.testing.assert_allclose(got, 1000 / MANY, rtol=2.0 ** -BITS[dtype])


@check(dtype=HALF)
def batch_norm_of_many_elements(dtype):
    x = K.placeholder((None, 3), dtype=dtype)
    data = many(np.random.default_rng(3), (MANY, 3), dtype)
    y, mean, var = K.normalize_batch_in_training(x, None, None, [0], epsilon=1e-3)
    g = K.gradients(K.sum(K.square(y) * y * 0.001), [x])
    f = K.function([x], [K.cast(t, "float64") for t in (y, mean, var, *g)])
    y, mean, var, g = f([data])
    m, v = data.mean(axis=0), data.var(axis=0)
    tol = 2.0 ** -BITS[dtype]
    np.testing.assert_allclose(mean, m, rtol=tol)
    np.testing.assert_allclose(var, v, rtol=tol)
    z = (data - m) / np.sqrt(v + 1e-3)
    np.testing.assert_allclose(y, z, atol=8 * tol)
    dy = 0.003 * z * z
    xhat = (data - m) / np.sqrt(v + 1e-3)
    want = (dy - dy.mean(0) - xhat * (dy * xhat).mean(0)) / np.sqrt(v + 1e-3)
    np.testing.assert_allclose(g, want, atol=0.05 * np.abs(want).max())


@check(dtype=HALF, name=("sum", "mean", "cumsum"))
def reductions_add_up_in_float32(dtype, name):
    n = 4096
    x = K.placeholder((n,), dtype=dtype)
    [got] = K.function([x], [K.cast(getattr(K, name)(x), "float32")])([np.ones(n)])
    wanted = {"sum": n, "mean": 1, "cumsum": n}[name]
    assert np.ravel(got)[-1] == wanted


@check(dtype=HALF)
def batch_norm_adds_up_in_float32(dtype):
    x = K.placeholder((8192, 1), dtype=dtype)
    _, mean, var = K.normalize_batch_in_training(x, None, None, [0])
    values = np.tile([[1.0], [3.0]], (4096, 1))
    got = K.function([x], [K.cast(mean, "float32"), K.cast(var, "float32")])([values])
    np.testing.assert_array_equal(np.ravel(got), [2, 1])


@check(dtype=HALF)
def gradients_have_the_dtype(dtype):
    x = K.placeholder((3,), dtype=dtype)
    [g] = K.gradients(K.sum(K.exp(x) * 2), [x])
    assert K.dtype(g) == dtype
    [got] = K.function([x], [K.cast(g, "float64")])([np.array([0.0, 1.0, -1.0])])
    np.testing.assert_allclose(got, 2 * np.exp([0.0, 1.0, -1.0]), rtol=2.0 ** (1 - BITS[dtype]))


@check(dtype=HALF)
def variables_and_updates(dtype):
    v = K.variable(np.ones(3), dtype=dtype)
    step = 2.0 ** (1 - BITS[dtype])
    f = K.function([], [], updates=[K.update_add(v, K.constant(np.full(3, step), dtype=dtype))])
    for _ in range(3):
        f([])
    np.testing.assert_array_equal(value_of(v), np.full(3, 1 + 3 * step))


@check
def floatx_may_be_float16():
    K.set_floatx("float16")
    x = K.placeholder((2,))
    y = K.dot(K.reshape(x, (1, 2)), K.ones((2, 3)))
    assert K.dtype(x) == K.dtype(y) == "float16"
    [got] = K.function([x], [y])([[1.5, 2.0]])
    assert got.dtype == "float16"
    np.testing.assert_array_equal(got, [[3.5] * 3])
