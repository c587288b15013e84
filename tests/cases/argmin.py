"""argmin: the position of the smallest element, the first of equals."""

import horngate as K
import numpy as np
from cases import axes

axes.position(K.argmin, np.argmin, "argmin")
