"""x % y: what is left, with the sign of y."""

import operator

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, ulps
from cases.inputs import away, data, rand


def away_from_zero(*shape):
    return away(*shape, distance=0.3)


# The quotient stays away from whole numbers, where the value jumps.
case(
    operator.mod,
    [data([[0.7, 1.7, -0.9]]), data([[0.5], [-0.4]])],
    oracle=np.mod,
    second=True,
    tol=ulps(4),
)
case(operator.mod, [data([5.3, -5.3, 2.1]), 2.0], oracle=np.mod, tol=ulps(4))
families.binary(operator.mod, np.mod, first=rand, second=away_from_zero, grad=False, tol=ulps(4))
for dtype in ("int8", "int16", "int32", "int64"):
    case(
        operator.mod,
        [data([7, -7, 7, -7, 6, -6, 0], dtype), data([2, 2, -2, -2, 3, 3, 5], dtype)],
        oracle=np.mod,
        dtypes=(dtype,),
    )
for dtype in ("uint8", "uint16", "uint32", "uint64"):
    case(operator.mod, [rand(3, 4, high=3), rand(4, low=0.1)], oracle=np.mod, dtypes=(dtype,))
families.does_not_broadcast(operator.mod, "mod")


@check(dtype=("int8", "int32", "int64", "uint8", "uint32"))
def by_zero_does_no_harm(dtype):
    """What comes out is anybody's guess; the process and the other elements must be well."""
    lowest = np.iinfo(dtype).min
    x, y = K.placeholder((4,), dtype=dtype), K.placeholder((4,), dtype=dtype)
    minus_one = np.array(-1).astype(dtype)
    values = np.array([7, 9, lowest, 5], dtype), np.array([0, 2, minus_one, 1], dtype)
    [got] = K.function([x, y], [x % y])(list(values))
    assert got.dtype == dtype and got.shape == (4,)
    assert got[1] == 9 % 2 and got[3] == 5 % 1
