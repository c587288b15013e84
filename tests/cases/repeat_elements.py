"""repeat_elements: each element along an axis, again and again."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, rep, axis in [
    ((3,), 2, 0),
    ((2, 3), 3, 0),
    ((2, 3), 2, 1),
    ((2, 3), 2, -1),
    ((2, 3, 4), 2, 1),
    ((2, 1, 4), 3, 1),
    ((2, 3), 1, 1),
    ((2, 3), 0, 1),
    ((0, 3), 2, 0),
    ((31, 17), 5, 0),
]:
    case(
        K.repeat_elements,
        [rand(*shape)],
        rep=rep,
        axis=axis,
        oracle=oracles.repeat_elements,
        tol=0,
        second=rep == 3,
    )
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        K.repeat_elements,
        [rand(2, 3)],
        rep=2,
        axis=1,
        oracle=oracles.repeat_elements,
        dtypes=(dtype,),
        tol=0,
    )
case(
    K.repeat_elements,
    [rand(2, 3).known(1)],
    rep=2,
    axis=1,
    oracle=oracles.repeat_elements,
    none=(None, 6),
)
case(
    K.repeat_elements,
    [rand(2, 3).known(1)],
    rep=2,
    axis=0,
    oracle=oracles.repeat_elements,
    none=(None, 3),
)
error(
    K.repeat_elements,
    [rand(2, 3)],
    rep=2,
    axis=2,
    text="repeat_elements: axis must be in [-2, 2) for x of shape (2, 3); got axis=2.",
)
error(
    K.repeat_elements,
    [rand(2, 3)],
    rep=-2,
    axis=1,
    text="repeat_elements: rep must be at least 0; got -2.",
)
families.edges(
    K.repeat_elements,
    oracles.repeat_elements,
    [rand(101, 103)],
    [rand(1, 1)],
    rep=3,
    axis=-1,
    tol=0,
)
