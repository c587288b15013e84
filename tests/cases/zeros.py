"""zeros: a variable full of zeros."""

import horngate as K
import numpy as np
from cases import families

families.filled(K.zeros, np.zeros, "zeros")
