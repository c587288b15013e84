"""mean: along axes; whole numbers give floats."""

import horngate as K
import numpy as np
from cases import axes, families, oracles
from cases.harness import case
from cases.inputs import rand

axes.reduction(K.mean, np.mean, "mean", empty=np.mean)
for dtype in ("int8", "int32", "int64", "uint8"):
    case(
        K.mean,
        [rand(3, 4)],
        axis=1,
        oracle=oracles.reduction(np.mean),
        dtypes=(dtype,),
        out="float32",
    )
families.of_bools(K.mean, np.mean)
