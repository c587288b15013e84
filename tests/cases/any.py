"""any: whether one element is not 0."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import bools, data, rand


def some_zeros(*shape):
    return rand(*shape, low=-0.1, high=0.2).as_dtype("int32")


families.reduction(
    K.any,
    np.any,
    "any",
    empty=np.any,
    make=some_zeros,
    second=False,
    grad=False,
    dtypes=("float32",),
)
for dtype in ("float16", "float32", "float64", "int8", "int64", "uint8"):
    values = data([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 3.0, 1.0]])
    case(K.any, [values], axis=1, oracle=np.any, dtypes=(dtype,), grad=False)
case(K.any, [bools(4, 5)], axis=-1, oracle=np.any, dtypes=("float32",))
case(K.any, [rand(3, 4)], axis=1, oracle=np.any, grad="none")
