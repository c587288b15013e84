"""batch_flatten: the first axis, and one for all others."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, error
from cases.inputs import rand


def batch_flatten(x):
    return x.reshape(x.shape[0], int(np.prod(x.shape[1:])))


for shape in [(2, 3), (5,), (2, 3, 4), (2, 0, 3), (1, 1, 1), (7, 11, 13), (0, 3, 4)]:
    case(K.batch_flatten, [rand(*shape)], oracle=batch_flatten, tol=0, second=shape == (2, 3))
case(K.batch_flatten, [rand(2, 3, 4).known(1, 2)], oracle=batch_flatten, none=(None, 12))
case(K.batch_flatten, [rand(2, 3, 4).known(0)], oracle=batch_flatten, none=(2, None))
error(
    K.batch_flatten, [rand()], text="batch_flatten: x must have at least 1 dimension; got a scalar."
)
families.edges(K.batch_flatten, batch_flatten, [rand(11, 31, 37)], [rand(1, 1, 1)], tol=0)
