"""sum: along axes."""

import horngate as K
import numpy as np
from cases import axes, families, oracles
from cases.harness import case, check
from cases.inputs import data, rand

axes.reduction(K.sum, np.sum, "sum", empty=np.sum)
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(K.sum, [rand(3, 4)], axis=1, oracle=oracles.reduction(np.sum), dtypes=(dtype,))
families.of_bools(K.sum, np.sum)
case(K.sum, [data([1.0, np.inf, -np.inf, np.nan])], oracle=np.sum, grad=False, label="sum(NaN)")


@check(dtype=("float32", "float16", "bfloat16"))
def is_exact_enough_when_long(dtype):
    """A plain running sum in these types would stop growing."""
    n = 300_000 if dtype == "float32" else 5_000
    x = K.placeholder((None,), dtype=dtype)
    [got] = K.function([x], [K.cast(K.sum(x), "float64")])([np.full(n, 0.125)])
    np.testing.assert_allclose(got, n * 0.125, rtol=0 if dtype == "float32" else 4e-3)


@check(
    shape=((4096, 2), (20011, 3), (64, 64, 8), (16, 16, 16, 8), (8, 4096), (4, 1009, 3), (100_000,))
)
def keeps_its_digits_when_long(shape):
    """Few numbers, again and again: roundings of a running sum go one way and do not cancel."""
    values = np.random.default_rng(3).choice(np.float32([0.1, 1.3, 2.7, 0.9]), shape)
    axes = [0] if len(shape) == 1 else [1] if shape[0] < 16 else list(range(len(shape) - 1))
    x = K.placeholder(shape)
    ys = [K.sum(x, axis=axes), K.sum(x, axis=axes, keepdims=True), K.var(x, axis=axes)]
    f = K.function([x], ys)
    wide = values.astype("float64")
    wanted = [wide.sum(tuple(axes)), wide.sum(tuple(axes), keepdims=True), wide.var(tuple(axes))]
    for got, want in zip(f([values]), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=32 * 2.0**-24)


@check
def does_not_depend_on_the_shape_it_comes_in():
    """Sums are cut into blocks of one size, whatever the number of threads is."""
    values = np.random.default_rng(0).uniform(-1, 1, 200_000).astype("float32")
    x = K.placeholder((None,))
    f = K.function([x], [K.sum(x)])
    np.testing.assert_array_equal(f([values])[0], f([values])[0])
    np.testing.assert_allclose(f([values])[0], values.astype("float64").sum(), rtol=1e-4, atol=1e-2)


# Enough for several threads.
for axis in (None, 0, 1, 2):
    case(
        K.sum,
        [rand(53, 61, 67)],
        axis=axis,
        oracle=oracles.reduction(np.sum),
        grad=False,
        none=False,
    )

# More columns than one task has sums for.
for shape in ((40, 9000), (3, 5, 4500), (300, 4097)):
    case(K.sum, [rand(*shape)], axis=0, oracle=np.sum, grad=False, none=False, tol={"float32": 1e-5})
