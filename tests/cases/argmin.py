"""argmin: the position of the smallest element, the first of equals."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, error
from cases.inputs import data, distinct, rand


def argmin(x, axis=-1):
    return np.argmin(x, axis=axis)


for shape, axis in [
    ((5,), 0),
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), -1),
    ((2, 3, 5), 1),
    ((2, 3, 5), -3),
    ((1, 1), 1),
]:
    case(K.argmin, [distinct(*shape)], axis=axis, oracle=argmin, grad="none")
case(K.argmin, [distinct(3, 4)], oracle=argmin, grad=False)
for shape, axis in [((0, 3), 1), ((1009,), 0), ((67, 131), 0), ((67, 131), 1), ((3, 257, 2), 1)]:
    case(K.argmin, [rand(*shape)], axis=axis, oracle=argmin, grad=False)
for dtype in ("float16", "int8", "int32", "int64", "uint8", "uint64"):
    case(K.argmin, [rand(4, 9)], axis=1, oracle=argmin, dtypes=(dtype,), out="int64")
TIES = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 3.0], [np.inf, -np.inf, np.inf, -np.inf]]
case(K.argmin, [data(TIES)], axis=1, oracle=argmin, grad=False, label="argmin(ties)")
case(K.argmin, [data(TIES)], axis=0, oracle=argmin, grad=False, label="argmin(ties, axis=0)")
families.axis_errors(K.argmin, "argmin", several=False)
error(
    K.argmin,
    [rand(2, 0)],
    axis=1,
    text="argmin: axis 1 of x must not be empty; got shape (2, 0).",
)
