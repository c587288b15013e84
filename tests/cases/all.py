"""all: whether every element is not 0."""

import horngate as K
import numpy as np
from cases import axes

axes.truth(K.all, np.all, "all")
