"""switch: one of two expressions."""

import horngate as K
import numpy as np
import pytest
from cases import families
from cases.harness import case, check, error
from cases.inputs import bools, data, ints, rand


def switch(condition, a, b):
    return K.switch(condition, a, b)


def select(condition, a, b):
    """The condition gets axes at the end until it can be repeated."""
    condition = condition.reshape(condition.shape + (1,) * (max(a.ndim, b.ndim) - condition.ndim))
    return np.where(condition, a, b)


for condition, shape in [
    ((), (3, 4)),
    ((3, 4), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (2, 3, 4)),
    ((2, 1), (2, 3)),
    ((2,), (2, 3, 4)),
    ((), ()),
    ((0,), (0, 3)),
    ((67,), (67, 31)),
]:
    case(
        switch,
        [bools(*condition), rand(*shape), rand(*shape)],
        oracle=select,
        second=shape == (3, 4),
    )
case(
    switch,
    [ints(3, 4, low=-1, high=2), rand(3, 4), rand(3, 4)],
    oracle=lambda c, a, b: np.where(c != 0, a, b),
)
case(
    switch,
    [data([0.0, -2.0, 0.5]).no_grad(), rand(3), rand(3)],
    oracle=lambda c, a, b: np.where(c != 0, a, b),
)
for dtype in ("float16", "bfloat16", "int8", "int64", "bool"):
    case(switch, [bools(3, 4), rand(3, 4), rand(3, 4)], oracle=select, dtypes=(dtype,))
case(
    lambda c, a: K.switch(c, a, 0),
    [bools(3, 4), rand(3, 4)],
    oracle=lambda c, a: np.where(c, a, 0),
    label="switch(number)",
)
case(
    lambda c, a: K.switch(c, 1.5, a),
    [bools(3, 4), rand(3, 4)],
    oracle=lambda c, a: np.where(c, 1.5, a),
    label="switch(1.5)",
)


def of_callables(condition, x, y):
    return K.switch(condition, lambda: K.exp(x) * y, lambda: K.dot(x, K.transpose(y))[:, :3])


def of_callables_oracle(condition, x, y):
    return np.exp(x) * y if condition else x @ y.T


for value in (False, True):
    case(
        of_callables,
        [data(value, "bool"), rand(3, 3).known(), rand(3, 3).known()],
        oracle=of_callables_oracle,
        second=True,
        label=f"switch(callables, {value})",
    )


def on_elements(condition, x):
    return K.switch(condition, lambda: x * 2, lambda: x - 1)


case(on_elements, [bools(3, 4), rand(3, 4)], oracle=lambda c, x: np.where(c, x * 2, x - 1))
error(
    switch,
    [bools(3, 4), rand(3), rand(3)],
    text="switch: condition must not have more dimensions than the expressions; got shapes (3, 4) and (3,).",
)
error(
    lambda c, a, b: K.switch(c, lambda: a, lambda: K.cast(b, "float64")),
    [bools(), rand(3), rand(3)],
    raises=TypeError,
    label="switch(dtypes)",
    text="switch: both expressions must have the same dtype; got float32 and float64.",
)

error(
    switch,
    [bools(), rand(2), rand(3)],
    text="switch: both branches must give the same shape; got (2,) and (3,).",
)


@check
def updates_in_a_branch_are_refused():
    v = K.variable(0.0, name="total")
    with pytest.raises(
        ValueError, match='switch: a branch updates variable "total"; updates belong outside'
    ):
        K.switch(K.placeholder((), dtype="bool"), lambda: K.update_add(v, 1.0), lambda: v * 1)


@check
def only_the_chosen_callable_runs():
    """The other one would fail: there is no such entry."""
    condition, i = K.placeholder((), dtype="bool"), K.placeholder((), dtype="int32")
    table = K.constant([1.0, 2.0])
    y = K.switch(condition, lambda: K.gather(table, i), lambda: K.constant(7.0))
    f = K.function([condition, i], [y])
    assert f([False, 99])[0] == 7 and f([True, 1])[0] == 2


@check
def an_infinite_slope_of_the_other_branch_does_not_matter():
    x = K.variable([-1.0, 4.0, -9.0])
    y = K.switch(K.greater(x, 0), K.pow(x, 0.5), K.zeros_like(x))
    gradient = K.eval(K.gradients(y, x)[0])
    assert gradient[1] == 0.25


families.edges(
    switch, select, [bools(101, 103), rand(101, 103), rand(101, 103)], [bools(1), rand(1), rand(1)]
)


@check
def two_of_them_with_the_same_operands():
    condition, x = K.placeholder((), dtype="bool"), K.placeholder((3,))
    first = K.switch(condition, lambda: x * 2, lambda: x * 3)
    second = K.switch(condition, lambda: x + 2, lambda: x + 3)
    f = K.function([condition, x], [first, second])
    for chosen, n in ((True, 2), (False, 3)):
        got = f([chosen, [1.0, 2.0, 5.0]])
        np.testing.assert_array_equal(got[0], np.array([1.0, 2.0, 5.0]) * n)
        np.testing.assert_array_equal(got[1], np.array([1.0, 2.0, 5.0]) + n)


@check
def of_floats_of_two_widths_by_one_condition():
    """Both read the condition, and so are one step; float32 and float64 have no common vectors."""
    rng = np.random.default_rng(9)
    mask, a, b = rng.integers(0, 2, 300).astype(bool), rng.normal(size=300), rng.normal(size=300)
    condition = K.placeholder((300,), dtype="bool")
    x, y = K.placeholder((300,), dtype="float32"), K.placeholder((300,), dtype="float64")
    outputs = [K.switch(condition, x * 2 + 1, -x), K.switch(condition, y * 2 + 1, -y)]
    got = K.function([condition, x, y], outputs)([mask, a, b])
    for result, v in zip(got, (a.astype("float32"), b)):
        np.testing.assert_allclose(result, np.where(mask, v * 2 + 1, -v), rtol=1e-6)


@check(chosen=(True, False))
def by_a_constant(chosen):
    """What is known while a plan is made: a scalar, and a scalar in every place."""
    x = K.placeholder((3, 2))
    alone = K.constant(chosen, dtype="bool", shape=())
    everywhere = K.not_equal(K.zeros_like(x), 0 if not chosen else 1)
    outputs = [K.switch(c, x * 2, x - 1) for c in (alone, everywhere)]
    outputs.append(K.switch(alone, lambda: x * 2, lambda: x - 1))
    feed = np.arange(6.0).reshape(3, 2)
    for got in K.function([x], outputs)([feed]):
        np.testing.assert_array_equal(got, feed * 2 if chosen else feed - 1)


@check
def expressions_of_other_ranks_are_not_spread():
    condition = K.placeholder((), dtype="bool")
    with pytest.raises(ValueError, match="same number of dimensions"):
        K.switch(condition, K.ones((3,)), K.ones((2, 3)))
    with pytest.raises(ValueError, match="same number of dimensions"):
        K.in_train_phase(K.ones((3,)), K.ones((2, 3)), training=condition)
    f = K.function([condition], [K.switch(condition, K.constant(5.0), K.ones((2, 3)))])
    assert f([True])[0].shape == (2, 3)


@check(chosen=(True, False), callables=(False, True), rows=(1, 5))
def one_of_two_that_turn_out_to_differ(chosen, callables, rows):
    """Taken whole: a row is not spread over what the other one has, nor may a fed size differ from the declared one."""
    c, x = K.placeholder((), dtype="bool"), K.placeholder((None, 3))
    y = K.switch(c, lambda: x[:1], lambda: x) if callables else K.switch(c, x[:1], x)
    [g] = K.gradients(K.sum(y * y), [x])
    feed = np.arange(1.0, 1.0 + 3 * rows).reshape(rows, 3)
    got = K.function([c, x], [y, K.sum(y), g])([chosen, feed])
    taken = feed[:1] if chosen else feed
    np.testing.assert_array_equal(got[0], taken)
    assert got[1] == taken.sum()
    wanted = np.zeros_like(feed)
    wanted[: len(taken)] = 2 * taken
    np.testing.assert_array_equal(got[2], wanted)


@check(chosen=(True, False))
def an_open_size_beside_a_known_one(chosen):
    c, x = K.placeholder((), dtype="bool"), K.placeholder((None, 2))
    y = K.switch(c, x, K.ones((4, 2)))
    assert K.int_shape(y) == (None, 2)
    f = K.function([c, x], [y, K.shape(y), *K.gradients(K.sum(y), [x])])
    for rows in (1, 3, 4):
        y, shape, g = f([chosen, np.zeros((rows, 2))])
        assert y.shape == tuple(shape) == ((rows, 2) if chosen else (4, 2))
        np.testing.assert_array_equal(g, np.full((rows, 2), float(chosen)))


@check(chosen=(True, False))
def computed_conditions_choose_shapes_one_after_the_other(chosen):
    x = K.placeholder((None,))
    y = K.switch(K.sum(x) > 0, x[:2], x)
    z = K.switch(K.sum(y) > 100, y, y[:1] * 3)
    feed = np.array([1.0, 2.0, 4.0]) * (1 if chosen else -1)
    np.testing.assert_array_equal(K.function([x], [z])([feed])[0], feed[:1] * 3)
    np.testing.assert_array_equal(K.function([x], [y])([feed])[0], feed[:2] if chosen else feed)


@check(bigger=(0, 1), compare=("equal", "not_equal", "greater", "less_equal"))
def by_integers_that_no_double_holds(bigger, compare):
    a = K.constant(2**53 + bigger, dtype="int64", shape=())
    b = K.constant(2**53, dtype="int64", shape=())
    y = K.switch(getattr(K, compare)(a, b), lambda: K.constant(1.0), lambda: K.constant(0.0))
    wanted = getattr(np, compare)(np.int64(2**53 + bigger), np.int64(2**53))
    assert K.eval(y) == wanted
    large = [K.constant(2**64 - 1 - n, dtype="uint64", shape=()) for n in (0, 1)]
    assert K.eval(K.switch(K.equal(*large), lambda: K.ones(()), lambda: K.zeros(()))) == 0
    assert K.eval(K.switch(K.greater(*large), lambda: K.ones(()), lambda: K.zeros(()))) == 1


@check(chosen=(True, False))
def what_is_certain_gives_a_tensor_of_its_own(chosen):
    x = K.placeholder(())
    branches = [lambda: x, lambda: 2 * x]
    y = K.switch(K.constant(chosen, dtype="bool", shape=()), *branches[:: 1 if chosen else -1])
    [g] = K.gradients(y * y + 3 * x, [y])
    assert K.function([x], [g])([3.0])[0] == 6


@check
def a_result_that_nothing_needs_costs_nothing():
    """Gradients of a branch are made for all that it reads; of these only one is asked for."""
    c, x, w = K.placeholder((), dtype="bool"), K.placeholder((2, 2)), K.variable(np.eye(2) * 3)
    y = K.sum(K.switch(c, lambda: K.dot(x, w), lambda: K.exp(x)))
    f = K.function([c, x], K.gradients(y, [w]))
    feed = np.array([[1.0, 2.0], [3.0, 5.0]])
    np.testing.assert_array_equal(f([True, feed])[0], [[4, 4], [7, 7]])
    np.testing.assert_array_equal(f([False, feed])[0], np.zeros((2, 2)))


@check(where=("step", "branch"))
def sizes_in_a_loop_or_branch_cannot_wait_for_the_condition(where):
    c, x = K.placeholder((), dtype="bool"), K.placeholder((None, None))
    if where == "step":
        y = K.map_fn(lambda row: K.switch(c, row[:1], row), x)
    else:
        y = K.switch(K.sum(x) > 0, lambda: K.switch(c, x[:1], x) * 2, lambda: x)
    f = K.function([c, x], [y])
    np.testing.assert_array_equal(f([True, [[3.0]]])[0], [[3.0 if where == "step" else 6.0]])
    with pytest.raises(
        ValueError, match="both branches must give the same shape in a step function or branch"
    ):
        f([True, np.ones((4, 4))])
