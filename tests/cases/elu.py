"""elu: x where it is positive, alpha * (exp(x) - 1) elsewhere."""

import horngate as K
from cases import families, oracles
from cases.harness import case
from cases.inputs import away, data

families.unary(K.elu, oracles.elu, kinks=(0.0,))
families.special(K.elu, oracles.elu)
for alpha in (0.3, 2.0, 0.0):
    case(K.elu, [away(3, 4)], alpha=alpha, oracle=oracles.elu)
# exp of a large x would overflow, and 0 * inf in the gradient would be NaN.
case(K.elu, [data([800.0, -800.0, 90.0])], oracle=oracles.elu, label="elu(large)")
