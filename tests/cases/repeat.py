"""repeat: each row of a matrix along a new middle axis."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for shape, n in [((2, 3), 4), ((2, 3), 1), ((1, 1), 7), ((0, 3), 2), ((2, 3), 0), ((31, 67), 5)]:
    case(K.repeat, [rand(*shape)], n=n, oracle=oracles.repeat, tol=0, second=n == 4)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.repeat, [rand(2, 3)], n=2, oracle=oracles.repeat, dtypes=(dtype,), tol=0)
case(K.repeat, [rand(2, 3).known(1)], n=5, oracle=oracles.repeat, none=(None, 5, 3))
error(K.repeat, [rand(2, 3, 4)], n=2, text="repeat: x must have 2 dimensions; got shape (2, 3, 4).")
error(K.repeat, [rand(2, 3)], n=-1, text="repeat: n must be at least 0; got -1.")
families.edges(K.repeat, oracles.repeat, [rand(101, 103)], [rand(1, 1)], [rand(0, 3)], n=3, tol=0)
