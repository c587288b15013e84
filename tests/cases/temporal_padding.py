"""temporal_padding: zeros before and after the middle axis."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, padding in [
    ((2, 4, 3), (1, 1)),
    ((2, 4, 3), (2, 0)),
    ((2, 4, 3), (0, 3)),
    ((1, 1, 1), (0, 0)),
    ((2, 0, 3), (1, 2)),
]:
    case(
        K.temporal_padding,
        [rand(*shape)],
        padding=padding,
        oracle=oracles.temporal_padding,
        tol=0,
        second=True,
    )
case(K.temporal_padding, [rand(2, 4, 3)], oracle=oracles.temporal_padding)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        K.temporal_padding,
        [rand(2, 4, 3)],
        padding=(1, 2),
        oracle=oracles.temporal_padding,
        dtypes=(dtype,),
        tol=0,
    )
case(
    K.temporal_padding,
    [rand(2, 4, 3).known(1, 2)],
    padding=(1, 2),
    oracle=oracles.temporal_padding,
    none=(None, 7, 3),
)
error(
    K.temporal_padding,
    [rand(2, 4)],
    text="temporal_padding: x must have 3 dimensions; got shape (2, 4).",
)
error(
    K.temporal_padding,
    [rand(2, 4, 3)],
    padding=(-1, 1),
    text="temporal_padding: padding must have entries of at least 0; got (-1, 1).",
)
families.edges(
    K.temporal_padding, oracles.temporal_padding, [rand(11, 31, 37)], padding=(3, 5), tol=0
)
