"""sigmoid: 1 / (1 + exp(-x))."""

import horngate as K
from cases import families, oracles

families.unary(K.sigmoid, oracles.sigmoid, low=-6.0, high=6.0)
families.special(K.sigmoid, oracles.sigmoid)
families.of_integers(K.sigmoid, oracles.sigmoid)
