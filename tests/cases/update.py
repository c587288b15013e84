"""update: a change of a variable."""

import horngate as K
import numpy as np
import pytest
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


@check
def those_that_outputs_reach_run_in_the_order_of_their_making():
    v = K.variable([1.0, 2.0])
    first, second = K.update(v, K.constant([10.0, 20.0])), K.update_add(v, K.constant([1.0, 1.0]))
    K.function([], [second + first])([])
    np.testing.assert_array_equal(K.get_value(v), [11.0, 21.0])


@check
def one_after_another_of_the_same_form():
    """Equal updates are one step, but not where one reads what another makes."""
    a, b, c = (K.variable(np.zeros(shape)) for shape in ((1, 3000), (20, 3000), (2, 20, 3000)))
    x = K.placeholder((1, 3000))
    new_a = a * 0.5 + x
    new_b = b * 0.5 + new_a
    new_c = c * 0.5 + new_b
    f = K.function([x], [], updates=[(a, new_a), (b, new_b), (c, new_c)])
    wanted = [np.zeros(v) for v in ((1, 3000), (20, 3000), (2, 20, 3000))]
    rng = np.random.default_rng(19)
    for _ in range(20):
        last = rng.uniform(-1, 1, (1, 3000))
        f([last])
        for k, v in enumerate((a, b, c)):
            last = wanted[k] = wanted[k] * 0.5 + last
            np.testing.assert_allclose(K.get_value(v), wanted[k], rtol=1e-4, atol=1e-5)


@check(n=(3, 5000))
def crosswise_in_the_same_form(n):
    """Equal updates are one step; each reads the old value of the other."""
    rng = np.random.default_rng(22)
    starts = [rng.uniform(-1, 1, n) for _ in range(3)]
    a, b, c = variables = [K.variable(start) for start in starts]
    x, y, z = fed = [K.placeholder((n,)) for _ in range(3)]
    f = K.function(fed, [], updates=[(a, b * 0.5 + x), (b, c * 0.5 + y), (c, a * 0.5 + z)])
    for _ in range(3):
        feeds = [rng.uniform(-1, 1, n) for _ in range(3)]
        f(feeds)
        starts = [starts[k] * 0.5 + feed for k, feed in zip((1, 2, 0), feeds)]
        for v, wanted in zip(variables, starts):
            np.testing.assert_allclose(K.get_value(v), wanted, rtol=1e-5, atol=1e-6)


@check
def integers_of_a_list_must_fit():
    v = K.variable([1, 2], dtype="int8")
    for value in ([300, 1], K.constant([1, -129], dtype="int32"), K.constant(300, dtype="int32")):
        with pytest.raises(ValueError, match="is int8, which cannot hold (300|-129)"):
            K.update(v, value)
    for dtype, fits, not_fits in [
        ("uint64", [2**64 - 1, 0], [-1, 0]),
        ("int64", [-(2**63), 2**63 - 1], np.array([2**63, 0], np.uint64)),
        ("uint8", [255, 0], [0, 256]),
        ("int8", [127, -128], [127, -129]),
    ]:
        v = K.variable([1, 2], dtype=dtype)
        assert K.function([], [K.identity(v)], updates=[K.update(v, fits)])([]) is not None
        assert K.get_value(v).tolist() == fits
        with pytest.raises(ValueError, match="cannot hold"):
            K.update(v, not_fits)
