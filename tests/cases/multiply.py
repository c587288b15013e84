"""x * y."""

import operator

import horngate as K
import numpy as np
import pytest
from cases import families
from cases.harness import case, check, ulps
from cases.inputs import data, rand

families.binary(operator.mul, np.multiply, first=rand, second=rand, tol=ulps(1))
for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
    case(operator.mul, [rand(3, 4), rand(4)], oracle=np.multiply, dtypes=(dtype,))
# Integers wrap around.
case(
    operator.mul,
    [data([200, 100, 7], "uint8"), data([100, 3, 250], "uint8")],
    oracle=np.multiply,
    dtypes=("uint8",),
)
case(
    operator.mul,
    [data([np.inf, np.inf, np.nan]), data([np.inf, -np.inf, 1.0])],
    oracle=np.multiply,
    grad=False,
)
families.does_not_broadcast(operator.mul, "multiply")


NOTHING_CHANGES = {
    "multiply": lambda x, y: x * K.ones_like(y),
    "divide": lambda x, y: x / K.ones_like(y),
    "add": lambda x, y: x + K.zeros_like(y),
    "subtract": lambda x, y: x - K.zeros_like(y),
}


@check(name=tuple(NOTHING_CHANGES))
def what_changes_nothing_still_has_to_fit(name):
    x, y = K.placeholder((2, 3)), K.placeholder((None, 3))
    f = K.function([x, y], [NOTHING_CHANGES[name](x, y)])
    ones = np.ones((2, 3))
    np.testing.assert_array_equal(f([ones, ones])[0], ones)
    with pytest.raises(ValueError, match=f"{name}: shapes .* do not broadcast together"):
        f([ones, np.ones((5, 3))])
