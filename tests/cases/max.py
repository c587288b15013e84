"""max: the largest along axes."""

import horngate as K
import numpy as np
from cases import axes, oracles
from cases.harness import case
from cases.inputs import rand

axes.extreme(K.max, np.max, "max", empty=oracles.max_or_lowest, unequal=1.0)
for axis in (None, 0, 1, 2):
    case(
        K.max,
        [rand(53, 61, 67)],
        axis=axis,
        oracle=oracles.reduction(np.max),
        grad=False,
        none=False,
        tol=0,
    )

# More columns than one task has sums for.
for shape in ((40, 9000), (3, 5, 4500), (300, 4097)):
    case(K.max, [rand(*shape)], axis=0, oracle=np.max, grad=False, none=False, tol={"float32": 1e-5})
