"""log: the natural logarithm."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import ulps

families.unary(K.log, np.log, low=0.1, high=9.0, tol=ulps(2))
families.special(K.log, np.log, tol=ulps(2))
families.of_integers(K.log, np.log, low=0.1)
