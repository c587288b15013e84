"""update: a change of a variable."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import check

families.update(K.update, "new_x", lambda start, change: np.asarray(change))


@check
def by_its_own_value():
    v = K.variable([1.0, -2.0])
    f = K.function([], [K.identity(v)], updates=[K.update(v, v * 10)])
    for factor in (1, 10, 100):
        np.testing.assert_array_equal(f([])[0], np.array([1.0, -2.0]) * factor)
