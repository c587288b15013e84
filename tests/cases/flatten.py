"""flatten: all elements on one axis."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import rand

for shape in [(2, 3), (), (5,), (2, 3, 4), (0, 3), (1, 1), (7, 11, 13)]:
    case(K.flatten, [rand(*shape)], oracle=np.ravel, tol=0, second=shape == (2, 3))
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.flatten, [rand(2, 3)], oracle=np.ravel, dtypes=(dtype,), tol=0)
families.edges(K.flatten, np.ravel, [rand(101, 103)], [rand(1, 1, 1)], tol=0)
