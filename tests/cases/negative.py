"""-x."""

import operator

import numpy as np
from cases import families
from cases.harness import ulps

families.unary(operator.neg, np.negative, tol=ulps(0))
families.special(operator.neg, np.negative, tol=ulps(0))
families.of_integers(
    operator.neg, np.negative, out=None, dtypes=("int8", "int32", "int64", "uint8"), low=-0.9
)
