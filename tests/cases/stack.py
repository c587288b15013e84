"""stack: tensors side by side along a new axis."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, count, axis in [
    ((2, 3), 2, 0),
    ((2, 3), 3, 1),
    ((2, 3), 2, 2),
    ((2, 3), 2, -1),
    ((2, 3), 2, -3),
    ((), 3, 0),
    ((4,), 1, 1),
    ((0, 2), 2, 1),
]:
    case(
        K.stack,
        [[rand(*shape) for _ in range(count)]],
        axis=axis,
        oracle=oracles.stack,
        tol=0,
        second=axis == 2,
    )
case(K.stack, [[rand(2, 3), rand(2, 3)]], oracle=oracles.stack)
case(K.stack, [[rand(67, 31), rand(67, 31)]], axis=2, oracle=oracles.stack, grad=False)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.stack, [[rand(2, 3), rand(2, 3)]], axis=1, oracle=oracles.stack, dtypes=(dtype,), tol=0)
error(K.stack, [[]], text="stack: x must hold at least one tensor.")
error(
    K.stack,
    [[rand(2, 3), rand(2, 4)]],
    text="stack: shapes must agree; got (2, 3) and (2, 4), which differ on axis 1.",
)
error(
    K.stack,
    [[rand(2, 3), rand(2, 3)]],
    axis=3,
    text="stack: axis must be in [-3, 3) for x of shape (2, 3); got axis=3.",
)
families.edges(
    K.stack, oracles.stack, [[rand(101, 103), rand(101, 103)]], [[rand(1, 1)]], axis=1, tol=0
)
