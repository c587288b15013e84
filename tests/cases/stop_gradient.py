"""stop_gradient: the same value, a constant for gradients."""

import horngate as K
import numpy as np
from cases.harness import case, check
from cases.inputs import rand

for shape in [(2, 3), (), (0, 2)]:
    case(K.stop_gradient, [rand(*shape)], oracle=np.array, tol=0, grad="none")


def beside(x):
    """x times a constant that happens to have the value of x."""
    return x * K.stop_gradient(x)


@check
def only_the_other_factor_counts():
    x = K.variable([2.0, -3.0])
    np.testing.assert_array_equal(K.eval(K.gradients(beside(x), x)[0]), [2, -3])


@check
def of_a_list():
    x = K.variable([2.0, -3.0])
    made = K.stop_gradient([x, x * 2])
    assert isinstance(made, list)
    assert [K.eval(y).tolist() for y in made] == [[2, -3], [4, -6]]
    assert K.gradients(made[1], [x]) == [None]
