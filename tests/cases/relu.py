"""relu: x above the threshold, up to max_value; alpha * (x - threshold) below."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, ulps
from cases.inputs import away, rand

families.unary(K.relu, oracles.relu, kinks=(0.0,), tol=ulps(0))
families.special(K.relu, oracles.relu, tol=ulps(0))
for alpha in (0.0, 0.1, 1.5):
    for max_value in (None, 1.0, 6):
        for threshold in (0.0, 0.5, -0.5):
            case(
                K.relu,
                [away(4, 5, kinks=(0.0, 0.5, -0.5, 1.0, 6.0), low=-3.0, high=8.0)],
                alpha=alpha,
                max_value=max_value,
                threshold=threshold,
                oracle=oracles.relu,
            )
case(K.relu, [rand(3, 4)], oracle=oracles.relu, dtypes=("int32", "uint8"))


@check
def slope_at_zero_is_zero():
    x = K.variable([-2.0, 0.0, 3.0])
    np.testing.assert_array_equal(K.eval(K.gradients(K.relu(x), x)[0]), [0, 0, 1])
