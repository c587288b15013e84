"""x / y; whole numbers give floats."""

import operator

import numpy as np
from cases import families
from cases.harness import case, ulps
from cases.inputs import away, data, rand


def away_from_zero(*shape):
    return away(*shape, distance=0.3)


families.binary(operator.truediv, np.true_divide, first=rand, second=away_from_zero, tol=ulps(1))
for dtype in ("int8", "int32", "int64", "uint8"):
    case(
        operator.truediv,
        [rand(3, 4), rand(4, low=0.1)],
        oracle=lambda x, y: x.astype("float64") / y,
        dtypes=(dtype,),
        out="float32",
    )
case(
    operator.truediv,
    [data([1.0, -1.0, 0.0, np.inf, 5.0]), data([0.0, 0.0, 0.0, np.inf, -np.inf])],
    oracle=np.true_divide,
    grad=False,
    label="truediv(by zero)",
)
families.does_not_broadcast(operator.truediv, "divide")
