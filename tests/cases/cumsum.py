"""cumsum: the running sum along an axis."""

import horngate as K
import numpy as np
from cases import families


def cumsum(x, axis=0):
    return np.cumsum(x, axis=axis)


families.scan(K.cumsum, cumsum, "cumsum")
