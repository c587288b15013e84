"""moving_average_update: x * momentum + value * (1 - momentum)."""

import horngate as K
import numpy as np
import pytest
from cases.harness import check


@check(momentum=(0.0, 0.5, 0.99, 1.0), dtype=("float32", "float64"))
def runs_as_a_loop(momentum, dtype):
    start, steps = np.array([1.0, -2.0]), np.array([[3.0, 4.0], [-1.0, 0.5], [2.0, 2.0]])
    v, x = K.variable(start, dtype=dtype), K.placeholder((2,), dtype=dtype)
    f = K.function([x], [], updates=[K.moving_average_update(v, x, momentum)])
    wanted = start
    for step in steps:
        f([step])
        wanted = wanted * momentum + step * (1 - momentum)
    np.testing.assert_allclose(K.get_value(v), wanted, rtol=1e-6 if dtype == "float32" else 1e-14)


@check
def two_averages_of_one_variable_go_in_turn():
    v = K.variable(1.0)
    updates = [K.moving_average_update(v, K.constant(c), 0.5) for c in (3.0, 5.0)]
    K.function([], [], updates=updates)([])
    assert K.get_value(v) == (1 * 0.5 + 3 * 0.5) * 0.5 + 5 * 0.5


@check
def integers_are_refused():
    v = K.variable([10, 20], dtype="int32", name="counts")
    with pytest.raises(TypeError, match='variable "counts" must be of a float dtype; got int32'):
        K.moving_average_update(v, 30, 0.9)
