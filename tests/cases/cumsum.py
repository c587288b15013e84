"""cumsum: the running sum along an axis."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import away, rand


def cumsum(x, axis=0):
    return np.cumsum(x, axis=axis)


for shape, axis in [
    ((5,), 0),
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), -1),
    ((2, 3, 5), 1),
    ((2, 3, 5), -3),
    ((1, 1), 1),
]:
    case(
        K.cumsum,
        [away(*shape, distance=0.5)],
        axis=axis,
        oracle=cumsum,
        second=True,
        tol={"float32": 2e-5},
    )
case(K.cumsum, [away(3, 4, distance=0.5)], oracle=cumsum)
for shape, axis in [
    ((0,), 0),
    ((0, 3), 1),
    ((2, 0, 3), 1),
    ((1009,), 0),
    ((67, 31), 0),
    ((3, 257), 1),
]:
    case(
        K.cumsum,
        [rand(*shape, low=0.9, high=1.1)],
        axis=axis,
        oracle=cumsum,
        grad=False,
        tol={"float32": 1e-5},
    )
case(K.cumsum, [rand(4, 5)], axis=1, oracle=cumsum, dtypes=("float16", "bfloat16"))
for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
    case(K.cumsum, [rand(3, 4, low=0.1, high=0.3)], axis=1, oracle=cumsum, dtypes=(dtype,))
families.axis_errors(K.cumsum, "cumsum", several=False)
for axis in (0, 1, 2):
    case(
        K.cumsum,
        [rand(53, 61, 67)],
        axis=axis,
        oracle=cumsum,
        grad=False,
        none=False,
        tol={"float32": 2e-5},
    )
