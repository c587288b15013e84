"""cumsum: the running sum along an axis."""

import horngate as K
import numpy as np
from cases import axes


def cumsum(x, axis=0):
    return np.cumsum(x, axis=axis)


axes.scan(K.cumsum, cumsum, "cumsum")
