"""cumprod: the running product along an axis."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import away, data, rand


def cumprod(x, axis=0):
    return np.cumprod(x, axis=axis)


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
        K.cumprod,
        [away(*shape, distance=0.5)],
        axis=axis,
        oracle=cumprod,
        second=True,
        tol={"float32": 2e-5},
    )
case(K.cumprod, [away(3, 4, distance=0.5)], oracle=cumprod)
for shape, axis in [
    ((0,), 0),
    ((0, 3), 1),
    ((2, 0, 3), 1),
    ((1009,), 0),
    ((67, 31), 0),
    ((3, 257), 1),
]:
    case(
        K.cumprod,
        [rand(*shape, low=0.9, high=1.1)],
        axis=axis,
        oracle=cumprod,
        grad=False,
        tol={"float32": 1e-5},
    )
case(K.cumprod, [rand(4, 5)], axis=1, oracle=cumprod, dtypes=("float16", "bfloat16"))
for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
    case(K.cumprod, [rand(3, 4, low=0.1, high=0.3)], axis=1, oracle=cumprod, dtypes=(dtype,))
families.axis_errors(K.cumprod, "cumprod", several=False)

ZEROS = [[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0]]
case(K.cumprod, [data(ZEROS)], axis=1, oracle=cumprod, second=True, label="cumprod(zeros)")
