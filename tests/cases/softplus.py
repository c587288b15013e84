"""softplus: log(1 + exp(x)), without overflow."""

import horngate as K
from cases import families, oracles
from cases.harness import case
from cases.inputs import data

families.unary(K.softplus, oracles.softplus, low=-6.0, high=6.0)
families.special(K.softplus, oracles.softplus)
case(
    K.softplus,
    [data([0.0, 1e-3, -1e-3])],
    oracle=oracles.softplus,
    second=True,
    label="softplus(near 0)",
)
