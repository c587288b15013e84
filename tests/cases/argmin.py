"""argmin: the position of the smallest element, the first of equals."""

import horngate as K
import numpy as np
from cases import axes
from cases.harness import case
from cases.inputs import data

axes.position(K.argmin, np.argmin, "argmin")
inf, nan = np.inf, np.nan
ROWS = [
    [-inf] * 3,
    [inf] * 3,
    [nan] * 3,
    [inf, nan, 1],
    [-inf, nan, nan],
    [-inf, inf, -inf],
    [1, -inf, 2],
]
for axis in (0, 1):
    values = ROWS if axis else list(zip(*ROWS))
    case(
        K.argmin,
        [data(values)],
        axis=axis,
        oracle=np.argmin,
        dtypes=("float16", "float32", "float64"),
        out="int64",
        grad=False,
        label=f"argmin(infinities and NaN, axis {axis})",
    )
