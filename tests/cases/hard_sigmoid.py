"""hard_sigmoid: 0.2 x + 0.5, cut to [0, 1]."""

import horngate as K
from cases import families, oracles
from cases.harness import case
from cases.inputs import data

families.unary(
    K.hard_sigmoid, oracles.hard_sigmoid, low=-4.0, high=4.0, kinks=(-2.5, 2.5), tol=1e-6
)
families.special(K.hard_sigmoid, oracles.hard_sigmoid, tol=1e-6)
case(K.hard_sigmoid, [data([-3.0, -2.4, 0.0, 2.4, 3.0])], oracle=oracles.hard_sigmoid)
