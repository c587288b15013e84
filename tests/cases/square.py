"""square: x times x."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import ulps

families.unary(K.square, np.square, tol=ulps(1))
families.special(K.square, np.square, tol=ulps(1))
families.of_integers(K.square, np.square, out=None)
families.of_bools(K.square, np.square)
