"""less_equal: where x <= y."""

import horngate as K
import numpy as np
from cases import families

families.comparison(K.less_equal, np.less_equal, "less_equal")
