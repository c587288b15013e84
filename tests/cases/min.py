"""min: the smallest along axes."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check
from cases.inputs import data, distinct, rand

families.reduction(K.min, np.min, "min", empty=oracles.min_or_highest, make=distinct, tol=0)
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(K.min, [rand(3, 4)], axis=1, oracle=oracles.reduction(np.min), dtypes=(dtype,))
case(
    K.min,
    [data([[1.0, np.nan], [np.inf, -np.inf], [np.inf, np.inf]])],
    axis=1,
    oracle=np.min,
    grad=False,
)


@check
def equal_elements_share_the_slope():
    x = K.variable([[2.0, 3.0, 2.0], [0.0, 0.0, 0.0]])
    gradient = K.eval(K.gradients(K.min(x, axis=1), x)[0])
    np.testing.assert_allclose(gradient, [[0.5, 0, 0.5], [1 / 3] * 3], rtol=1e-6)
