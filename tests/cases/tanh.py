"""tanh: the hyperbolic tangent."""

import horngate as K
import numpy as np
from cases import families

families.unary(K.tanh, np.tanh, low=-3.0, high=3.0)
families.special(K.tanh, np.tanh)
families.of_integers(K.tanh, np.tanh)
