"""prod: the product along axes."""

import horngate as K
import numpy as np
from cases import axes, oracles
from cases.harness import case
from cases.inputs import away, data, rand

axes.reduction(
    K.prod, np.prod, "prod", empty=np.prod, make=lambda *s: away(*s, distance=0.5), tol=2e-5
)
for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
    case(
        K.prod,
        [rand(3, 4, low=0.1, high=0.3)],
        axis=1,
        oracle=oracles.reduction(np.prod),
        dtypes=(dtype,),
    )
# One zero, two zeros: the slope is not the product divided by the element.
ZEROS = [[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]]
case(
    K.prod,
    [data(ZEROS)],
    axis=1,
    oracle=oracles.reduction(np.prod),
    second=True,
    label="prod(zeros, axis=1)",
)
case(K.prod, [data(ZEROS[0])], oracle=oracles.reduction(np.prod), second=True, label="prod(zero)")
