"""x % y: what is left, with the sign of y."""

import operator

import numpy as np
from cases import families
from cases.harness import case, ulps
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
families.by_zero(operator.mod)
families.special_pairs(operator.mod, np.mod)
