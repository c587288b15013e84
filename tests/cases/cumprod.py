"""cumprod: the running product along an axis."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import data


def cumprod(x, axis=0):
    return np.cumprod(x, axis=axis)


families.scan(K.cumprod, cumprod, "cumprod")

ZEROS = [[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0]]
case(K.cumprod, [data(ZEROS)], axis=1, oracle=cumprod, second=True, label="cumprod(zeros)")
