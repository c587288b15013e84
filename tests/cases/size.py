"""size: the number of elements as a tensor."""

import horngate as K
import numpy as np
from cases.harness import case
from cases.inputs import rand


def size(x):
    return np.array(x.size, "int32")


for dims in [(2, 3), (), (0, 2), (5,), (2, 1, 3)]:
    case(K.size, [rand(*dims)], oracle=size, dtypes=("float32", "int64"), out="int32", none=())
