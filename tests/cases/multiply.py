"""x * y."""

import operator

import numpy as np
from cases import families
from cases.harness import case, ulps
from cases.inputs import data, rand

families.binary(operator.mul, np.multiply, first=rand, second=rand, tol=ulps(1))
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(operator.mul, [rand(3, 4), rand(4)], oracle=np.multiply, dtypes=(dtype,))
# Integers wrap around.
case(
    operator.mul,
    [data([200, 100, 7], "uint8"), data([100, 3, 250], "uint8")],
    oracle=np.multiply,
    dtypes=("uint8",),
)
case(
    operator.mul,
    [data([np.inf, np.inf, np.nan]), data([np.inf, -np.inf, 1.0])],
    oracle=np.multiply,
    grad=False,
)
families.does_not_broadcast(operator.mul, "multiply")
