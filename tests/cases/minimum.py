"""minimum: the smaller of two at each place."""

import horngate as K
import numpy as np
from cases import families

families.extreme_of_two(K.minimum, np.minimum, "minimum")
