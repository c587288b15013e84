"""var: the mean square distance from the mean."""

import horngate as K
import numpy as np
from cases import axes, families
from cases.harness import case
from cases.inputs import rand

axes.reduction(K.var, np.var, "var", empty=np.var, tol={"float32": 1e-5})
families.of_bools(K.var, np.var)
# A variance by the mean of squares would lose all digits.
case(
    K.var,
    [rand(4, 50, low=1000.0, high=1001.0)],
    axis=1,
    oracle=np.var,
    grad=False,
    tol={"float32": 1e-4},
)
families.of_integers(K.var, np.var)
