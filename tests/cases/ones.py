"""ones: a variable full of ones."""

import horngate as K
import numpy as np
from cases import families

families.filled(K.ones, np.ones, "ones")
