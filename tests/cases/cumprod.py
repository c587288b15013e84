"""cumprod: the running product along an axis."""

import horngate as K
import numpy as np
from cases import axes
from cases.harness import case
from cases.inputs import data


def cumprod(x, axis=0):
    return np.cumprod(x, axis=axis)


axes.scan(K.cumprod, cumprod, "cumprod")

ZEROS = [[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0]]
case(K.cumprod, [data(ZEROS)], axis=1, oracle=cumprod, second=True, label="cumprod(zeros)")
for zeros in ([0], [4], [1, 2], [0, 4], [0, 2, 4], [1, 2, 3]):
    column = np.array([1.5, -0.5, 2.0, -1.0, 0.75])
    column[zeros] = 0
    x = np.stack([column, [0.5, 2.0, 1.0, 3.0, -1.5]], axis=1)
    case(K.cumprod, [data(x)], oracle=cumprod, second=True, label=f"cumprod(zeros at {zeros})")
