"""lesser_equal: the old name of less_equal."""

import horngate as K
import numpy as np
from cases import families

families.comparison(K.lesser_equal, np.less_equal, "less_equal")
