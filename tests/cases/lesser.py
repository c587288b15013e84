"""lesser: the old name of less."""

import horngate as K
import numpy as np
from cases import families

families.comparison(K.lesser, np.less, "less")
