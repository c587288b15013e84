"""expand_dims: one more axis, of size 1."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, axis in [
    ((2, 3), 0),
    ((2, 3), 1),
    ((2, 3), 2),
    ((2, 3), -1),
    ((2, 3), -3),
    ((), 0),
    ((0,), 1),
]:
    case(
        K.expand_dims,
        [rand(*shape)],
        axis=axis,
        oracle=oracles.expand_dims,
        tol=0,
        second=axis == 2,
    )
case(K.expand_dims, [rand(2, 3)], oracle=oracles.expand_dims)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.expand_dims, [rand(2, 3)], axis=1, oracle=oracles.expand_dims, dtypes=(dtype,), tol=0)
case(K.expand_dims, [rand(2, 3)], axis=1, oracle=oracles.expand_dims, none=(None, 1, None))
for axis in (3, -4):
    error(
        K.expand_dims,
        [rand(2, 3)],
        axis=axis,
        text=f"expand_dims: axis must be in [-3, 3) for x of shape (2, 3); got axis={axis}.",
    )
families.edges(K.expand_dims, oracles.expand_dims, [rand(101, 103)], [rand(1, 1)], axis=1, tol=0)
