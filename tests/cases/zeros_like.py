"""zeros_like: zeros in the shape of a tensor."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import rand

for shape in [(2, 3), (), (0, 2), (7, 1, 3)]:
    case(K.zeros_like, [rand(*shape)], oracle=np.zeros_like, grad=False)
for dtype in ("int8", "int64", "uint16", "bool", "float16"):
    case(K.zeros_like, [rand(2, 3)], oracle=np.zeros_like, dtypes=(dtype,), grad=False)
case(K.zeros_like, [rand(2, 3)], dtype="int32", oracle=np.zeros_like, out="int32")
case(K.zeros_like, [rand(2, 3).known(1)], oracle=np.zeros_like, grad="none", none=(None, 3))
families.edges(K.zeros_like, np.zeros_like, [rand(1, 1)], [rand(*families.LARGE)])
