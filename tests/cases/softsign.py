"""softsign: x / (1 + |x|)."""

import horngate as K
import numpy as np
from cases import families


def softsign(x):
    return x / (1 + np.abs(x))


families.unary(K.softsign, softsign, kinks=(0.0,))
families.special(K.softsign, softsign)
families.of_integers(K.softsign, softsign)
