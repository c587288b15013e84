"""abs: the absolute value."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import check, ulps

families.unary(K.abs, np.abs, kinks=(0.0,), tol=ulps(0))
families.special(K.abs, np.abs, tol=ulps(0))
families.of_integers(
    K.abs, np.abs, out=None, dtypes=("int8", "int16", "int32", "int64", "uint16"), low=-0.9
)


@check
def slope_at_zero_is_zero():
    x = K.variable([-2.0, 0.0, 3.0])
    np.testing.assert_array_equal(K.eval(K.gradients(K.abs(x), x)[0]), [-1, 0, 1])
