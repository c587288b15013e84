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


@check
def of_many_variables_at_once_an_empty_one_among_them():
    """Equal updates are one step; a variable without elements has no part in it."""
    rng = np.random.default_rng(5)
    starts = [rng.uniform(-1, 1, shape) for shape in ((3,), (0, 4), (2, 5), (0,), (7,))]
    changes = [rng.uniform(-1, 1, start.shape) for start in starts]
    variables = [K.variable(start) for start in starts]
    fed = [K.placeholder(start.shape) for start in starts]
    f = K.function(fed, [], updates=[K.update(v, v * 0.5 + x) for v, x in zip(variables, fed)])
    f(changes)
    for v, start, change in zip(variables, starts, changes):
        np.testing.assert_allclose(K.get_value(v), start * 0.5 + change, rtol=1e-5, atol=1e-6)
