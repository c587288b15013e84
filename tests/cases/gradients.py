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


def steps_of(x):
    """A sequence for rnn: one sample, a value per time step."""
    return K.reshape(x, (1, -1, 1))


# All of them sum up to (1 + 2 + 3) * c.
USES = {
    "map_fn": lambda x, c: K.map_fn(lambda e: e * c, x),
    "foldl": lambda x, c: K.foldl(lambda total, e: total + e * c, x, K.constant(0.0)),
    "foldr": lambda x, c: K.foldr(lambda total, e: total + e * c, x, K.constant(0.0)),
    "rnn": lambda x, c: K.rnn(lambda e, states: (e * c, states), steps_of(x), [])[1],
    "rnn constants": lambda x, c: K.rnn(
        lambda e, states: (e * states[-1], states[:-1]), steps_of(x), [], constants=[c]
    )[1],
    "switch": lambda x, c: K.switch(K.sum(x) > 0, lambda: x * c, lambda: x),
    "else": lambda x, c: K.switch(K.sum(x) < 0, lambda: x, lambda: x * c),
    "both": lambda x, c: K.switch(K.sum(x) > 0, lambda: x * c, lambda: x - c),
    "switch in map_fn": lambda x, c: K.map_fn(
        lambda e: K.switch(e > 0, lambda: e * c, lambda: e), x
    ),
    "map_fn in switch": lambda x, c: K.switch(
        K.sum(x) > 0, lambda: K.map_fn(lambda e: e * c, x), lambda: x
    ),
    "map_fn in map_fn": lambda x, c: K.map_fn(
        lambda row: K.map_fn(lambda e: e * c, row), K.reshape(x, (3, 1))
    ),
    "nothing but the constant": lambda x, c: K.map_fn(lambda e: 1.0 * c, x) * x,
    "the branch is the constant": lambda x, c: K.switch(
        K.sum(x) > 0, lambda: c, lambda: K.sum(x)
    ) * K.sum(x),
}


@check(use=list(USES), shape=(None, 1), size=(None, 3))
def of_constants_in_loops_and_branches(use, shape, size):
    """The loss is (6 c)^2 + 3 c, with what it is outside of the loop."""
    x = K.placeholder((size,))
    c = K.constant(2.0, shape=() if shape is None else (1,))
    if shape is not None:  # a constant with an axis
        values = USES[use](x, K.reshape(c, ()))
    else:
        values = USES[use](x, c)
    loss = K.square(K.sum(values)) + 3 * K.sum(c)
    [first] = K.gradients(loss, [c])
    [second] = K.gradients(first, [c])
    got = K.function([x], [loss, first, second])([[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(got[0], 150)
    np.testing.assert_allclose(np.ravel(got[1]), [2 * 36 * 2 + 3])
    np.testing.assert_allclose(np.ravel(got[2]), [72])


@check
def of_ones_in_a_loop():
    """ones_like of a number is a constant too; so is one of several elements."""
    x, number = K.placeholder((3,)), K.placeholder(())
    one, row = K.ones_like(number), K.constant([1.0, 2.0])
    loss = K.sum(K.map_fn(lambda e: e * one, x)) + K.sum(K.map_fn(lambda e: e * e * row, x)) + one
    got = K.function([x, number], K.gradients(loss, [one, row]))([[1.0, 2.0, 3.0], 5.0])
    np.testing.assert_array_equal(got[0], 7)
    np.testing.assert_array_equal(got[1], [14, 14])


@check
def of_a_constant_that_several_loops_use():
    x, c = K.placeholder((3,)), K.constant(2.0)
    y = K.map_fn(lambda e: K.exp(e * c), x)
    z = K.foldl(lambda total, e: total * c + e, y)  # (y0 c + y1) c + y2
    [g] = K.gradients(z, [c])
    f = K.function([x], [g])
    feed = np.array([0.1, 0.2, -0.3])

    def value(at):
        y = np.exp(feed * at)
        return (y[0] * at + y[1]) * at + y[2]

    wanted = (value(2 + 1e-5) - value(2 - 1e-5)) / 2e-5
    np.testing.assert_allclose(f([feed])[0], wanted, rtol=1e-5)
