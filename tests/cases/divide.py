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
case(
    operator.truediv,
    [data([1.0, -1.0, 0.0, -np.inf]), data([-0.0] * 4)],
    oracle=np.true_divide,
    grad=False,
    label="truediv(by -0)",
)
families.does_not_broadcast(operator.truediv, "divide")
# Below the normal numbers, and near the largest.
EXTREMES = [1e-40, 3e-42, -1e-44, 3e38, -2e38, 1e-38, 7e-39, 1e-20, 1.0, 1e20]
for dtype, values in [
    ("float32", EXTREMES),
    ("float64", [1e-310, 5e-324, -1e308, 3e-308, 1e-320, 1.0, 1e-300]),
]:
    case(
        operator.truediv,
        [data([[v] for v in values]), data([values])],
        oracle=lambda x, y, dtype=dtype: np.true_divide(x.astype(dtype), y.astype(dtype)),
        dtypes=(dtype,),
        grad=False,
        label="truediv(extremes)",
    )
