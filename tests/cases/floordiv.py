"""x // y, rounded down."""

import operator

import numpy as np
from cases import families
from cases.harness import case
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
families.does_not_broadcast(operator.floordiv, "floordiv")
families.by_zero(operator.floordiv)
