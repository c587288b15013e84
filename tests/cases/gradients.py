"""gradients: derivatives of a loss."""

import horngate as K
import numpy as np
from cases.harness import check


@check
def one_by_one_or_in_a_list():
    x, y = K.variable([1.0, 2.0]), K.variable(3.0)
    loss = K.sum(K.square(x)) * y
    [dx, dy] = K.gradients(loss, [x, y])
    np.testing.assert_array_equal(K.eval(dx), [6, 12])
    assert K.eval(dy) == 5
    np.testing.assert_array_equal(K.eval(K.gradients(loss, x)[0]), [6, 12])


@check
def a_loss_with_axes_counts_as_its_sum():
    x = K.variable([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(K.eval(K.gradients(x * x, x)[0]), [[2, 4], [6, 8]])


@check(needs_numbers=False)
def none_where_nothing_connects():
    x, y = K.variable([1.0]), K.variable([1.0])
    dx, dy = K.gradients(K.sum(x), [x, y])
    assert dx is not None and dy is None


@check
def by_what_lies_between():
    x = K.variable([1.0, 2.0])
    middle = K.exp(x)
    np.testing.assert_allclose(
        K.eval(K.gradients(K.sum(middle * middle), middle)[0]), 2 * np.exp([1, 2]), rtol=1e-6
    )


@check
def of_what_is_used_often():
    x = K.variable(2.0)
    y = x
    for _ in range(20):
        y = y + x * y * 0.01
    # y = x (1 + 0.01 x)^20, so dy/dx = (1 + 0.01 x)^20 + 20 * 0.01 x (1 + 0.01 x)^19
    np.testing.assert_allclose(K.eval(K.gradients(y, x)[0]), 1.02**20 + 0.4 * 1.02**19, rtol=1e-5)


@check
def a_dead_path_beside_a_live_one():
    x = K.variable([1.4, 2.6])
    loss = K.sum(K.round(x) * x) + K.sum(K.cast(K.argmax(x), "float32"))
    np.testing.assert_array_equal(K.eval(K.gradients(loss, x)[0]), [1, 3])


@check
def third_derivative():
    x = K.variable(1.5)
    y = K.pow(x, 4)
    for _ in range(3):
        [y] = K.gradients(y, [x])
    np.testing.assert_allclose(K.eval(y), 24 * 1.5, rtol=1e-6)
