"""tile: all of a tensor, again and again along its axes."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import data, rand

for shape, n in [
    ((3,), [2]),
    ((3,), 3),
    ((2, 3), (2, 3)),
    ((2, 3), (1, 1)),
    ((2, 3), (3, 1)),
    ((2, 3), [2]),
    ((1, 3), (4, 2)),
    ((2, 1, 3), (1, 5, 2)),
    ((2, 3), (0, 2)),
    ((0, 3), (2, 2)),
    ((37, 29), (2, 3)),
]:
    case(K.tile, [rand(*shape)], n=n, oracle=oracles.tile, tol=0, second=shape == (1, 3))
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.tile, [rand(2, 3)], n=(2, 2), oracle=oracles.tile, dtypes=(dtype,), tol=0)
case(K.tile, [rand(2, 3).known(1)], n=(2, 2), oracle=oracles.tile, none=(None, 6))


def by_tensor(x, n):
    return K.tile(x, n)


case(by_tensor, [rand(2, 3), data([2, 3], "int32").known()], oracle=np.tile, tol=0, open=True)
error(
    K.tile,
    [rand(2)],
    n=(1, 2),
    raises=NotImplementedError,
    text="tile: n must have at most one entry per axis of x; got 2 for shape (2,).",
)
error(
    K.tile,
    [rand(2, 3)],
    n=(-1, 2),
    text="tile: n must have entries of at least 0, and no None; got (None, 2).",
)
families.edges(K.tile, oracles.tile, [rand(101, 103)], [rand(1, 1)], [rand(0, 3)], n=(2, 3), tol=0)
