"""x - y."""

import operator

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, ulps
from cases.inputs import data, rand

families.binary(operator.sub, np.subtract, first=rand, second=rand, tol=ulps(1))
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(operator.sub, [rand(3, 4), rand(4)], oracle=np.subtract, dtypes=(dtype,))
# Integers wrap around.
case(
    operator.sub,
    [data([200, 100, 7], "uint8"), data([100, 3, 250], "uint8")],
    oracle=np.subtract,
    dtypes=("uint8",),
)
case(
    operator.sub,
    [data([np.inf, np.inf, np.nan]), data([np.inf, -np.inf, 1.0])],
    oracle=np.subtract,
    grad=False,
)
families.does_not_broadcast(operator.sub, "subtract")


@check
def nothing_of_a_larger_shape_is_still_subtracted():
    x, larger = K.placeholder((3,)), K.placeholder((None, 3))
    for y in (x - K.zeros_like(larger), x + K.zeros_like(larger), x * K.ones_like(larger)):
        assert K.int_shape(y) == (None, 3)
        given = np.array([1.0, -2.0, 3.0])
        (got,) = K.function([x, larger], [y])([given, np.zeros((2, 3))])
        np.testing.assert_array_equal(got, [given, given])
