"""minimum: the smaller of two at each place."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, ulps
from cases.inputs import away, data, rand

families.binary(
    K.minimum, np.minimum, first=rand, second=away, tol=ulps(0), numbers=(2.0, 0.75, 0.0)
)
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(K.minimum, [rand(3, 4), rand(4)], oracle=np.minimum, dtypes=(dtype,))
NAN = [np.nan, 1.0, np.inf, -np.inf, np.nan]
case(K.minimum, [data(NAN), data(NAN[::-1])], oracle=np.minimum, grad=False, label="minimum(NaN)")
families.does_not_broadcast(K.minimum, "minimum")


@check
def equal_elements_share_the_slope_or_one_has_it():
    x, y = K.variable([1.0, 2.0]), K.variable([1.0, 2.0])
    dx, dy = (K.eval(g) for g in K.gradients(K.minimum(x, y), [x, y]))
    np.testing.assert_array_equal(dx + dy, [1, 1])


@check
def two_numbers_are_constants():
    assert K.eval(K.minimum(1, 2)) == 1
    y = K.minimum(np.float32(1), 0.5)
    assert y.dtype == "float32" and K.eval(y) == 0.5
