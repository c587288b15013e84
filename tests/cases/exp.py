"""exp: e to the power of x."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import error, ulps

families.unary(K.exp, np.exp, tol=ulps(2))
families.special(K.exp, np.exp, tol=ulps(2))
families.of_integers(K.exp, np.exp)
families.of_bools(K.exp, lambda x: np.exp(x.astype("float64")))
error(
    K.exp,
    [None],
    raises=TypeError,
    text="exp: expected a tensor, a number or an array of numbers; got NoneType.",
)
