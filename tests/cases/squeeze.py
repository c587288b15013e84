"""squeeze: without an axis of size 1."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, error
from cases.inputs import rand


def squeeze(x, axis):
    return np.squeeze(x, axis)


for shape, axis in [
    ((2, 1, 3), 1),
    ((2, 1, 3), -2),
    ((1,), 0),
    ((1, 1), 0),
    ((2, 1), -1),
    ((0, 1), 1),
]:
    case(K.squeeze, [rand(*shape)], axis=axis, oracle=squeeze, tol=0, second=axis == -2)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.squeeze, [rand(2, 1, 3)], axis=1, oracle=squeeze, dtypes=(dtype,), tol=0)
error(
    K.squeeze, [rand(2, 3)], axis=0, text="squeeze: axis 0 of x must have size 1; got shape (2, 3)."
)
error(
    K.squeeze,
    [rand(2, 1)],
    axis=2,
    text="squeeze: axis must be in [-2, 2) for x of shape (2, 1); got axis=2.",
)
error(
    K.squeeze,
    [rand(2, 3)],
    axis=0,
    run=True,
    text="squeeze: removed axes must have size 1; got axis 0 of (2, 3).",
)
families.edges(K.squeeze, squeeze, [rand(101, 1, 103)], [rand(1, 1, 1)], axis=1, tol=0)
