"""identity: a new tensor with the value of another."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import rand

for shape in [(2, 3), (), (0, 2)]:
    case(K.identity, [rand(*shape)], oracle=np.array, tol=0, second=True)
for dtype in ("int8", "uint64", "bool", "float16", "bfloat16"):
    case(K.identity, [rand(2, 3)], oracle=np.array, dtypes=(dtype,), tol=0)
families.edges(K.identity, np.array, [rand(1, 1)], [rand(*families.LARGE)], tol=0)
