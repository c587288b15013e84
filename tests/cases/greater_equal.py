"""greater_equal: where x >= y."""

import horngate as K
import numpy as np
from cases import families

families.comparison(K.greater_equal, np.greater_equal, "greater_equal")
