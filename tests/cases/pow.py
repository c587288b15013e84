"""pow: x to the power of a."""

import operator

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, error, ulps
from cases.inputs import away, data, ints, positive, rand


def power(x, a):
    return np.power(x, a)


families.binary(K.pow, power, first=positive, second=rand, tol=ulps(8))
for a in (2, 3, 1, 0, 0.5, -1, -2, 2.5, 7):
    case(K.pow, [positive(3, 4)], a=a, oracle=power, tol=ulps(8), second=True)
# Whole exponents take negative numbers too.
for a in (2, 3, -1, 0, 1, 4.0):
    case(K.pow, [away(3, 4, distance=0.3)], a=a, oracle=power, tol=ulps(8), second=True)
case(
    K.pow,
    [
        data([0.0, 0.0, 1.0, np.inf, -np.inf, -8.0, np.nan, 2.0]),
        data([0.0, 2.0, np.inf, -1.0, 3.0, 0.5, 0.0, 1e4]),
    ],
    oracle=power,
    grad=False,
    label="pow(special values)",
)
families.special_pairs(K.pow, power, tol=ulps(8), zeros=(0.0,))
case(
    K.pow,
    [data([-0.0] * 6), data([-1, -7, 3, -2, 0, 2.5])],
    oracle=power,
    grad=False,
    label="pow(-0)",
)
for a in (2, 3, 0, 2.5, -1, -2, -0.5, 1e10):
    case(
        K.pow,
        [data([0.0, 1, -1, 0.5, -0.5, 2.5, -7, np.inf, -np.inf, np.nan])],
        a=a,
        oracle=power,
        grad=False,
        tol=ulps(8),
        dtypes=("float32", "float64"),
        label=f"pow(special values, {a})",
    )
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint32"):
    case(K.pow, [rand(3, 4, high=0.4, low=-0.4)], a=2, oracle=power, dtypes=(dtype,))
    case(
        K.pow,
        [rand(3, 4, high=0.4, low=0), rand(4, low=0, high=0.3)],
        oracle=power,
        dtypes=(dtype,),
    )
case(operator.pow, [positive(2, 3), 3], oracle=power, tol=ulps(8))
case(operator.pow, [2.0, rand(2, 3)], oracle=power, tol=ulps(8))
error(K.pow, [ints(2)], a=-1, text="pow: a must be at least 0 for x of dtype int32; got a=-1.")
families.does_not_broadcast(K.pow, "pow")


@check
def slope_of_a_square_at_zero_is_zero():
    x = K.variable([0.0, 3.0])
    np.testing.assert_array_equal(K.eval(K.gradients(K.pow(x, 2), x)[0]), [0, 6])


@check
def slope_by_a_where_x_is_zero_is_zero():
    a = K.variable([2.0, 1.0])
    gradient = K.eval(K.gradients(K.pow(K.constant([0.0, 1.0]), a), a)[0])
    np.testing.assert_array_equal(gradient, [0, 0])


@check(exponent=(-3, -2, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2, 3, 4))
def by_numbers_that_have_forms_of_their_own(exponent):
    x = K.placeholder((2, 150))
    feed = np.random.default_rng(16).uniform(0.1, 3, (2, 150))
    y = K.pow(x, exponent)
    got, slope = K.function([x], [y, *K.gradients(y, [x])])([feed])
    np.testing.assert_allclose(got, feed**exponent, rtol=1e-5)
    np.testing.assert_allclose(slope, exponent * feed ** (exponent - 1.0), rtol=1e-4, atol=1e-6)
