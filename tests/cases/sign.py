"""sign: -1, 0 or 1."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import ulps

families.unary(K.sign, np.sign, kinks=(0.0,), tol=ulps(0))
families.special(K.sign, np.sign, tol=ulps(0))
families.of_integers(
    K.sign, np.sign, out=None, dtypes=("int8", "int32", "int64", "uint8"), low=-0.3, high=0.3
)
