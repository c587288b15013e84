"""less: where x < y."""

import horngate as K
import numpy as np
from cases import families

families.comparison(K.less, np.less, "less")
