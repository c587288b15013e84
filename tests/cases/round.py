"""round: the nearest whole number, the even one of two."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, ulps
from cases.inputs import data

families.unary(K.round, np.round, low=-9.0, high=9.0, tol=ulps(0), grad="none")
families.special(K.round, np.round, tol=ulps(0))
HALVES = np.arange(-8.5, 9.0)
case(
    K.round,
    [data(HALVES)],
    oracle=np.round,
    tol=0,
    grad=False,
    dtypes=("float16", "float32", "float64"),
)
# Beyond these every number is whole; an addition of 2^23 or 2^52 must not change them.
LARGE = [
    2.0**22 + 0.5,
    2.0**23 + 1,
    -(2.0**24) - 2,
    2.0**51 + 0.5,
    2.0**52 + 1,
    2.0**53,
    -(2.0**60),
]
case(K.round, [data(LARGE)], oracle=np.round, tol=0, grad=False, label="round(large)")
families.of_integers(K.round, np.round, out=None, dtypes=("int32", "uint8"))
