"""cos: the cosine of an angle."""

import horngate as K
import numpy as np
from cases import families

families.unary(K.cos, np.cos, low=-7.0, high=7.0)
families.special(K.cos, np.cos)
families.near_multiples_of_pi(K.cos, np.cos)
families.of_integers(K.cos, np.cos)
