"""max: the largest along axes."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check
from cases.inputs import data, distinct, rand

families.reduction(K.max, np.max, "max", empty=oracles.max_or_lowest, make=distinct, tol=0)
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(K.max, [rand(3, 4)], axis=1, oracle=oracles.reduction(np.max), dtypes=(dtype,))
case(
    K.max,
    [data([[1.0, np.nan], [np.inf, -np.inf], [-np.inf, -np.inf]])],
    axis=1,
    oracle=np.max,
    grad=False,
)


@check
def equal_elements_share_the_slope():
    x = K.variable([[2.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
    gradient = K.eval(K.gradients(K.max(x, axis=1), x)[0])
    np.testing.assert_allclose(gradient, [[0.5, 0, 0.5], [1 / 3] * 3], rtol=1e-6)


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
