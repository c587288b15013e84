"""sin: the sine of an angle."""

import horngate as K
import numpy as np
from cases import families

families.unary(K.sin, np.sin, low=-7.0, high=7.0)
families.special(K.sin, np.sin)
families.near_multiples_of_pi(K.sin, np.sin)
families.of_integers(K.sin, np.sin)
