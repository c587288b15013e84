"""sqrt: the square root; what is negative counts as 0."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, ulps
from cases.inputs import data


def sqrt(x):
    return np.sqrt(np.maximum(x, 0))


families.unary(K.sqrt, sqrt, low=0.1, high=9.0, tol=ulps(1))
families.special(K.sqrt, sqrt, tol=ulps(1))
families.of_integers(K.sqrt, sqrt)
# No slope below 0, where the function is flat.
case(K.sqrt, [data([-3.0, -0.5, 4.0])], oracle=sqrt, tol=ulps(1))
