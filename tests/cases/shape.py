"""shape: the shape as a tensor."""

import horngate as K
import numpy as np
from cases.harness import case, check
from cases.inputs import rand


def shape(x):
    return np.array(x.shape, "int32")


for dims in [(2, 3), (), (0, 2), (5,), (2, 1, 3)]:
    case(
        K.shape,
        [rand(*dims)],
        oracle=shape,
        dtypes=("float32", "int64"),
        out="int32",
        none=(len(dims),),
    )


@check
def of_an_open_axis():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.shape(x)[0] * 2])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0] == 2 * n
