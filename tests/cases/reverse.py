"""reverse: backwards along axes."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, axes in [
    ((5,), 0),
    ((2, 3), 1),
    ((2, 3), -1),
    ((2, 3), [0, 1]),
    ((2, 3, 4), (0, -1)),
    ((1, 3), 0),
    ((0, 3), 1),
    ((31, 67), 1),
    ((31, 67), 0),
]:
    case(K.reverse, [rand(*shape)], axes=axes, oracle=oracles.reverse, tol=0, second=axes == -1)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.reverse, [rand(3, 4)], axes=1, oracle=oracles.reverse, dtypes=(dtype,), tol=0)
error(
    K.reverse,
    [rand(2, 3)],
    axes=2,
    text="reverse: axis must be in [-2, 2) for x of shape (2, 3); got axis=2.",
)
families.edges(K.reverse, oracles.reverse, [rand(101, 103)], [rand(1, 1)], axes=(0, -1), tol=0)
