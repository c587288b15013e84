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
families.does_not_broadcast(operator.floordiv, "floordiv")
families.by_zero(operator.floordiv)


@check
def of_sizes_rounds_down():
    """Arithmetic on shapes is done while a plan is made, and rounds as it does at run time."""
    x = K.placeholder((None, 2))
    n = K.shape(x)[0]
    f = K.function([x], [(n - 7) // 2, (7 - n) // -2, K.zeros_like(x)])
    for rows in (0, 3, 4, 7, 10):
        low, high, _ = f([np.zeros((rows, 2))])
        assert low == (rows - 7) // 2 and high == (7 - rows) // -2
