"""argmax: the position of the largest element, the first of equals."""

import horngate as K
import numpy as np
from cases import axes

axes.position(K.argmax, np.argmax, "argmax")
