"""min: the smallest along axes."""

import horngate as K
import numpy as np
from cases import axes, oracles

axes.extreme(K.min, np.min, "min", empty=oracles.min_or_highest, unequal=3.0)
