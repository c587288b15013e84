"""x + y."""

import operator

import numpy as np
from cases import families
from cases.harness import case, error, ulps
from cases.inputs import data, rand

families.binary(operator.add, np.add, first=rand, second=rand, tol=ulps(1))
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(operator.add, [rand(3, 4), rand(4)], oracle=np.add, dtypes=(dtype,))
# Integers wrap around.
case(
    operator.add,
    [data([200, 100, 7], "uint8"), data([100, 3, 250], "uint8")],
    oracle=np.add,
    dtypes=("uint8",),
)
case(
    operator.add,
    [data([np.inf, np.inf, np.nan]), data([np.inf, -np.inf, 1.0])],
    oracle=np.add,
    grad=False,
)
families.does_not_broadcast(operator.add, "add")
error(
    operator.add,
    [rand(2, 3), rand(4, 3)],
    run=True,
    text="add: shapes (2, 3) and (4, 3) do not broadcast together.",
)
