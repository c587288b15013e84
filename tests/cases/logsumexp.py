"""logsumexp: log(sum(exp(x))), without overflow."""

import horngate as K
import numpy as np
from cases import axes, oracles
from cases.harness import case, check
from cases.inputs import data


def logsumexp(x, axis=None, keepdims=False):
    return oracles.logsumexp(x, axis, keepdims)


axes.reduction(K.logsumexp, logsumexp, "logsumexp", empty=logsumexp)
for values in ([1e4, -1e4, 9999.0], [-1e4, -1e4 - 1], [500.0, 500.0]):
    case(K.logsumexp, [data(values)], oracle=oracles.logsumexp, label=f"logsumexp({values})")
INFINITE = [[-np.inf, 1.0], [-np.inf, -np.inf], [np.inf, 1.0], [np.nan, 1.0]]
case(
    K.logsumexp,
    [data(INFINITE)],
    axis=1,
    oracle=oracles.logsumexp,
    grad=False,
    label="logsumexp(infinite)",
)


@check
def slope_is_finite_where_all_are_minus_infinity():
    x = K.variable([[-np.inf, -np.inf], [-np.inf, 2.0]])
    gradient = K.eval(K.gradients(K.logsumexp(x, axis=1), x)[0])
    np.testing.assert_array_equal(gradient, [[0, 0], [0, 1]])
