"""argmax: the position of the largest element, the first of equals."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, error
from cases.inputs import data, distinct, rand


def argmax(x, axis=-1):
    return np.argmax(x, axis=axis)


for shape, axis in [
    ((5,), 0),
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), -1),
    ((2, 3, 5), 1),
    ((2, 3, 5), -3),
    ((1, 1), 1),
]:
    case(K.argmax, [distinct(*shape)], axis=axis, oracle=argmax, grad="none")
case(K.argmax, [distinct(3, 4)], oracle=argmax, grad=False)
for shape, axis in [((0, 3), 1), ((1009,), 0), ((67, 131), 0), ((67, 131), 1), ((3, 257, 2), 1)]:
    case(K.argmax, [rand(*shape)], axis=axis, oracle=argmax, grad=False)
for dtype in ("float16", "int8", "int32", "int64", "uint8", "uint64"):
    case(K.argmax, [rand(4, 9)], axis=1, oracle=argmax, dtypes=(dtype,), out="int64")
TIES = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 3.0], [np.inf, -np.inf, np.inf, -np.inf]]
case(K.argmax, [data(TIES)], axis=1, oracle=argmax, grad=False, label="argmax(ties)")
case(K.argmax, [data(TIES)], axis=0, oracle=argmax, grad=False, label="argmax(ties, axis=0)")
families.axis_errors(K.argmax, "argmax", several=False)
error(
    K.argmax,
    [rand(2, 0)],
    axis=1,
    text="argmax: axis 1 of x must not be empty; got shape (2, 0).",
)
for axis in (0, 1, 2):
    case(K.argmax, [rand(53, 61, 67)], axis=axis, oracle=argmax, grad=False, none=False)
