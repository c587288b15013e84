"""x // y, rounded down."""

import operator

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check
from cases.inputs import away, data, rand


def away_from_zero(*shape):
    return away(*shape, distance=0.3)


families.binary(
    operator.floordiv, np.floor_divide, first=rand, second=away_from_zero, grad="none", tol=0
)
for dtype in ("int8", "int16", "int32", "int64"):
    case(
        operator.floordiv,
        [data([7, -7, 7, -7, 6, -6, 0], dtype), data([2, 2, -2, -2, 3, 3, 5], dtype)],
        oracle=np.floor_divide,
        dtypes=(dtype,),
    )
for dtype in ("uint8", "uint16", "uint32", "uint64"):
    case(
        operator.floordiv,
        [rand(3, 4, high=3), rand(4, low=0.1)],
        oracle=np.floor_divide,
        dtypes=(dtype,),
    )
case(operator.floordiv, [rand(3, 4, high=3), 3], oracle=np.floor_divide, dtypes=("int32", "uint8"))


def numpy_floordiv(x, y):
    with np.errstate(all="ignore"):
        return np.floor_divide(x, y)


def compare_with_numpy(a, b, dtype):
    x, y = K.placeholder((None,), dtype=dtype), K.placeholder((None,), dtype=dtype)
    [got] = K.function([x, y], [x // y])([a, b])
    np.testing.assert_array_equal(got, numpy_floordiv(a, b))


@check(dtype=("float16", "float32", "float64"))
def is_not_the_floor_of_a_rounded_quotient(dtype):
    """1 // 0.1 is 9 where 0.1 is a little more than a tenth; inf // 1 is NaN."""
    rng = np.random.default_rng(5)
    odd = [0.0, 1.0, -1.0, 0.1, -0.1, 0.3, 3.0, -7.5, np.inf, -np.inf, np.nan]
    pairs = np.array([(a, b) for a in odd for b in odd if b and np.isfinite(b)])
    tenths = np.round(np.stack([rng.uniform(-9, 9, 500), rng.uniform(0.1, 3, 500)], 1), 1)
    compare_with_numpy(*np.concatenate([pairs, tenths]).astype(dtype).T, dtype)


@check(dtype=("float16", "float32", "float64"))
def by_infinity_rounds_down(dtype):
    """-1 // inf is -1."""
    odd = [0.0, 1.0, -1.0, 0.1, -7.5, np.inf, -np.inf, np.nan]
    pairs = np.array([(a, b) for a in odd for b in (np.inf, -np.inf, np.nan)])
    compare_with_numpy(*pairs.astype(dtype).T, dtype)


families.does_not_broadcast(operator.floordiv, "floordiv")
families.by_zero(operator.floordiv)
families.special_pairs(operator.floordiv, np.floor_divide)


@check
def of_sizes_rounds_down():
    """Arithmetic on shapes is done while a plan is made, and rounds as it does at run time."""
    x = K.placeholder((None, 2))
    n = K.shape(x)[0]
    f = K.function([x], [(n - 7) // 2, (7 - n) // -2, K.zeros_like(x)])
    for rows in (0, 3, 4, 7, 10):
        low, high, _ = f([np.zeros((rows, 2))])
        assert low == (rows - 7) // 2 and high == (7 - rows) // -2
