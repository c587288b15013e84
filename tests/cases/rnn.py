"""rnn: a step function along the time axis."""

import threading

import horngate as K
import numpy as np
import pytest
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import bools, data, rand


def simple_step(w, u):
    """A plain recurrent cell, for tensors and for arrays."""

    def step(x, states):
        h = tanh(dot(x, w) + dot(states[0], u))
        return h, [h]

    def tanh(x):
        return np.tanh(x) if isinstance(x, np.ndarray) else K.tanh(x)

    def dot(x, y):
        return np.dot(x, y) if isinstance(x, np.ndarray) else K.dot(x, y)

    return step


def simple(x, h, w, u, **options):
    last, outputs, states = K.rnn(simple_step(w, u), x, [h], **options)
    return last, outputs, states[0]


def simple_oracle(x, h, w, u, go_backwards=False, unroll=False):
    last, outputs, states = oracles.rnn(simple_step(w, u), x, [h], go_backwards)
    return last, outputs, states[0]


for samples, time in [(2, 4), (1, 1), (3, 7)]:
    for options in [
        {},
        {"go_backwards": True},
        {"unroll": True},
        {"unroll": True, "go_backwards": True},
    ]:
        unroll = options.get("unroll", False)
        case(
            simple,
            [
                rand(samples, time, 3).known(*(1,) if unroll else ()),
                rand(samples, 2),
                rand(3, 2),
                rand(2, 2),
            ],
            **options,
            oracle=simple_oracle,
            second=(samples, time) == (2, 4),
            tol={"float32": 1e-5},
        )
case(
    simple,
    [rand(5, 67, 3), rand(5, 4), rand(3, 4), rand(4, 4)],
    oracle=simple_oracle,
    grad=False,
    tol={"float32": 1e-4},
)
case(
    simple,
    [rand(2, 4, 3), rand(2, 2), rand(3, 2), rand(2, 2)],
    oracle=simple_oracle,
    dtypes=("float16", "bfloat16"),
    tol=0.05,
)


def masked(x, h, w, u, mask, **options):
    last, outputs, states = K.rnn(simple_step(w, u), x, [h], mask=mask, **options)
    return last, outputs, states[0]


def masked_oracle(x, h, w, u, mask, go_backwards=False, unroll=False):
    last, outputs, states = oracles.rnn(simple_step(w, u), x, [h], go_backwards, mask)
    return last, outputs, states[0]


# A sample that is masked at first, in the middle, at the end, everywhere, nowhere.
MASK = [[0, 0, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
for mask in (data(MASK, "bool"), data(MASK, "int32"), data(np.array(MASK)[..., None], "bool")):
    for options in [{}, {"go_backwards": True}, {"unroll": True}]:
        unroll = options.get("unroll", False)
        case(
            masked,
            [
                rand(5, 4, 3).known(*(1,) if unroll else ()),
                rand(5, 2),
                rand(3, 2),
                rand(2, 2),
                mask.known(*range(1, len(mask.shape))),
            ],
            **options,
            oracle=masked_oracle,
            second=len(mask.shape) == 2,
            tol={"float32": 1e-5},
        )


def two_states(x, h, c):
    """The output is no state, and the states depend on each other."""

    def step(x_t, states):
        h, c = states
        return h * c + x_t, [h * 0.5 + x_t, c + h]

    return K.rnn(step, x, [h, c])


def two_states_oracle(x, h, c):
    return oracles.rnn(lambda x, s: (s[0] * s[1] + x, [s[0] * 0.5 + x, s[1] + s[0]]), x, [h, c])


case(two_states, [rand(2, 4, 3), rand(2, 3), rand(2, 3)], oracle=two_states_oracle, second=True)


def no_states(x, w):
    last, outputs, states = K.rnn(lambda x_t, states: (K.dot(x_t, w), []), x, [])
    assert states == []
    return last, outputs


case(
    no_states, [rand(2, 4, 3), rand(3, 5)], oracle=lambda x, w: ((x @ w)[:, -1], x @ w), second=True
)


def with_constants(x, h, c):
    def step(x_t, states):
        h, c = states
        return x_t * c + h, [x_t * c + h]

    last, outputs, states = K.rnn(step, x, [h], constants=[c])
    assert len(states) == 1
    return last, outputs


def with_constants_oracle(x, h, c):
    return oracles.rnn(lambda x, s: (x * c + s[0], [x * c + s[0]]), x, [h])[:2]


case(
    with_constants, [rand(2, 4, 3), rand(2, 3), rand(3)], oracle=with_constants_oracle, second=True
)


def images(x, h):
    """More axes than (samples, time, features)."""
    last, outputs, _ = K.rnn(lambda x_t, s: (x_t + s[0] * 0.5, [x_t + s[0] * 0.5]), x, [h])
    return last, outputs


case(
    images,
    [rand(2, 3, 4, 2), rand(2, 4, 2)],
    oracle=lambda x, h: oracles.rnn(lambda x, s: (x + s[0] * 0.5, [x + s[0] * 0.5]), x, [h])[:2],
)


def nested(x, h):
    """A loop within the step."""

    def step(x_t, states):
        y = K.foldl(lambda acc, e: acc * 0.5 + e, K.stack([x_t, states[0], x_t]))
        return y, [y]

    return K.rnn(step, x, [h])[0]


def nested_oracle(x, h):
    def step(x, s):
        y = (x * 0.5 + s[0]) * 0.5 + x
        return y, [y]

    return oracles.rnn(step, x, [h])[0]


case(nested, [rand(2, 4, 3), rand(2, 3)], oracle=nested_oracle, second=True)


def identity_step(x_t, states):
    return x_t, states


error(
    lambda x: K.rnn(identity_step, x, []),
    [rand(2, 3)],
    label="rnn(2 axes)",
    text="rnn: inputs must have at least 3 dimensions (samples, time, ..); got shape (2, 3).",
)
error(
    lambda x: K.rnn(identity_step, x, [], unroll=True),
    [rand(2, None, 3)],
    label="rnn(unroll)",
    text="rnn: unroll needs inputs with a fixed number of time steps; got shape (2, None, 3).",
)
error(
    lambda x, mask: K.rnn(identity_step, x, [], mask=mask),
    [rand(2, 4, 3), bools(2, 4)],
    label="rnn(mask without states)",
    text="rnn: a mask needs initial_states; got none.",
)
error(
    lambda x, h: K.rnn(lambda x_t, states: (x_t, []), x, [h]),
    [rand(2, 4, 3), rand(2, 3)],
    label="rnn(states lost)",
    text="rnn: the step function must return 1 states; got 0.",
)


@check
def no_time_steps():
    """States stay what they were."""
    x, h = K.placeholder((None, None, 3)), K.placeholder((None, 3))
    _, outputs, states = K.rnn(lambda x_t, s: (x_t + s[0], [x_t + s[0]]), x, [h])
    got, state = K.function([x, h], [outputs, states[0]])([np.zeros((2, 0, 3)), np.ones((2, 3))])
    assert got.shape == (2, 0, 3)
    np.testing.assert_array_equal(state, np.ones((2, 3)))


@check
def every_length_goes_through_one_function():
    x = K.placeholder((None, None, 2))
    last, _, _ = K.rnn(
        lambda x_t, s: (x_t + s[0], [x_t + s[0]]), x, [K.sum(K.zeros_like(x), axis=1)]
    )
    f = K.function([x], [last])
    for time in (1, 5, 3, 8, 5):
        values = np.random.default_rng(time).uniform(-1, 1, (3, time, 2))
        np.testing.assert_allclose(f([values])[0], values.sum(1), rtol=1e-5, atol=1e-5)


@check(needs_numbers=False)
def the_learning_phase_shows():
    x = K.placeholder((2, 4, 3))
    last, _, _ = K.rnn(lambda x_t, s: (K.in_train_phase(x_t * 2, x_t), s), x, [K.zeros((2, 3))])
    assert last._uses_learning_phase


error(
    lambda x, h, mask: K.rnn(lambda x_t, s: (x_t, s), x, [h], mask=mask)[0],
    [rand(2, 4, 3), rand(2, 3), bools(2, 5)],
    run=True,
    label="rnn(mask of another length)",
    text="rnn: sequences must have the same length; got 4 and 5.",
)
families.edges(
    simple,
    simple_oracle,
    [rand(0, 4, 3), rand(0, 2), rand(3, 2), rand(2, 2)],
    [rand(1, 1, 1), rand(1, 1), rand(1, 1), rand(1, 1)],
    [rand(17, 31, 23), rand(17, 5), rand(23, 5), rand(5, 5)],
    tol={"float32": 1e-5},
)
case(
    simple,
    [rand(2, 5, 3), rand(2, 4), rand(3, 4), rand(4, 4)],
    oracle=simple_oracle,
    dtypes=("float16",),
    tol=1e-2,
    label="rnn(float16)",
)


@check(dtype=("float16", "bfloat16", "float32"))
def gradients_in_a_small_type(dtype):
    """Loops whose products leave them, on operands that are permuted."""
    rng = np.random.default_rng(0)
    w, u = (K.variable(rng.uniform(-0.5, 0.5, s), dtype=dtype) for s in ((3, 4), (4, 4)))
    x = K.placeholder((2, 5, 3), dtype=dtype)
    start = K.constant(np.zeros((2, 4)), dtype=dtype)
    last, _, _ = K.rnn(simple_step(w, u), x, [start])
    grads = K.gradients(K.sum(last), [x, w, u])
    results = K.function([x], [last, *grads])([rng.uniform(-1, 1, (2, 5, 3)).astype(dtype)])
    assert all(np.isfinite(r.astype("float32")).all() for r in results)


def doubled(x, state):
    """A state that each step makes twice as long."""
    return K.rnn(lambda x, s: (x, [K.concatenate([s[0], s[0]], 1)]), x, [state])[0]


error(
    doubled,
    [rand(2, 4, 3), rand(2, 5)],
    label="rnn(a state that grows)",
    text="rnn: the step function must keep the shape of state 0, (2, 5); got (2, 10).",
)


def repeated(x, state):
    """A state of one sample that the first step makes one of all."""
    return K.rnn(lambda x, s: (x + s[0], [x + s[0]]), x, [state])[0]


case(
    repeated,
    [rand(3, 4, 2), rand(1, 2)],
    oracle=lambda x, state: x.sum(1) + state,
    label="rnn(a state that is repeated)",
)


@check
def loops_that_differ_only_in_what_they_return():
    """Two bodies of the same nodes: one gives a and goes on with b, the other the other way round."""
    x, h = K.placeholder((2, 5, 3)), K.placeholder((2, 3))

    def step(swapped):
        def run(x_t, states):
            a = K.tanh(x_t + states[0])
            b = a * 0.5 - 0.25
            return (b, [a]) if swapped else (a, [b])

        return run

    outputs = [K.rnn(step(swapped), x, [h])[1] for swapped in (False, True)]
    rng = np.random.default_rng(3)
    feed, start = rng.uniform(-1, 1, (2, 5, 3)), rng.uniform(-1, 1, (2, 3))
    for got, swapped in zip(K.function([x, h], outputs)([feed, start]), (False, True)):
        state = start
        for t in range(5):
            a = np.tanh(feed[:, t] + state)
            b = a * 0.5 - 0.25
            wanted, state = (b, a) if swapped else (a, b)
            np.testing.assert_allclose(got[:, t], wanted, rtol=1e-5, atol=1e-6)


@check(backwards=(False, True), seen=(False, True))
def a_sum_over_steps_that_begins_elsewhere(backwards, seen):
    """Nothing but a sum is carried: it can be taken after the loop, unless the steps see it."""
    x, h = K.placeholder((2, 6, 3)), K.placeholder((3, 3))

    def step(x_t, states):
        shown = K.dot(x_t, states[0]) if seen else x_t
        return shown, [states[0] + K.dot(K.transpose(x_t), K.sin(x_t))]

    _, outputs, states = K.rnn(step, x, [h], go_backwards=backwards)
    rng = np.random.default_rng(4)
    feed, start = rng.uniform(-1, 1, (2, 6, 3)), rng.uniform(-1, 1, (3, 3))
    shown, got = K.function([x, h], [outputs, states[0]])([feed, start])
    wanted = start
    for k in range(6):
        now = feed[:, 5 - k if backwards else k]
        np.testing.assert_allclose(shown[:, k], now @ wanted if seen else now, rtol=1e-4, atol=1e-5)
        wanted = wanted + now.T @ np.sin(now)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


@check
def second_derivative_of_a_plain_sum():
    """The cotangent of the outputs is constant: the second derivative goes through the loop's tapes alone."""
    rng = np.random.default_rng(10)
    feed, start = rng.uniform(-1, 1, (2, 4, 3)), rng.uniform(-1, 1, (3, 3))
    x, w = K.placeholder((2, 4, 3), dtype="float64"), K.placeholder((3, 3), dtype="float64")

    def step(x_t, states):
        h = K.tanh(x_t + K.dot(states[0], w))
        return h, [h]

    outputs = K.rnn(step, x, [K.constant(np.ones((2, 3)), dtype="float64")])[1]
    [first] = K.gradients(K.sum(outputs), [w])
    total = K.sum(K.square(first))
    f = K.function([x, w], [total, K.gradients(total, [w])[0]])
    second = f([feed, start])[1]
    for place in np.ndindex(3, 3):
        move = np.zeros((3, 3))
        move[place] = 1e-5
        slope = (f([feed, start + move])[0] - f([feed, start - move])[0]) / 2e-5
        np.testing.assert_allclose(second[place], slope, rtol=1e-5, atol=1e-6)


@check(all_steps=(True, False), curved=(True, False))
def states_that_fill_whole_lines(all_steps, curved):
    """A state whose size is a multiple of 64 bytes lives in the stacked result, or in the tape."""
    rng = np.random.default_rng(13)
    feed, start = rng.uniform(-1, 1, (4, 5, 16)), rng.uniform(-1, 1, (4, 16))
    weights = rng.uniform(-0.3, 0.3, (16, 16))
    x, h = K.placeholder((4, 5, 16), dtype="float64"), K.placeholder((4, 16), dtype="float64")
    w = K.placeholder((16, 16), dtype="float64")

    def step(x_t, states):
        new = x_t + K.dot(states[0], w)
        return states[0], [K.tanh(new) if curved else new]

    _, outputs, states = K.rnn(step, x, [h])
    loss = K.sum(K.square(states[0]))
    if all_steps:
        loss = loss + K.sum(outputs * K.sin(outputs))
    first = outputs if all_steps else states[0]
    f = K.function([x, h, w], [first, states[0], loss, *K.gradients(loss, [h, w])])
    got = f([feed, start, weights])
    state = start
    for t in range(5):
        if all_steps:
            np.testing.assert_allclose(got[0][:, t], state, rtol=1e-9)
        state = feed[:, t] + state @ weights
        state = np.tanh(state) if curved else state
    np.testing.assert_allclose(got[1], state, rtol=1e-9)
    for number, (values, gradient) in enumerate(((start, got[3]), (weights, got[4]))):
        move = rng.uniform(-1, 1, values.shape)
        ends = []
        for sign in (1, -1):
            fed = [feed, start, weights]
            fed[1 + number] = values + sign * 1e-6 * move
            ends.append(f(fed)[2])
        np.testing.assert_allclose(np.sum(gradient * move), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@check
def gradients_of_matrices_of_each_sample():
    """Gates that are parts of one sum, and a matrix for each sample: products with a batch of their own."""
    rng = np.random.default_rng(20)
    shapes = {"x": (2, 5, 3), "m": (2, 3, 8), "u": (2, 4, 4), "v": (2, 4, 4), "h": (2, 4)}
    values = {name: rng.uniform(-0.7, 0.7, shape) for name, shape in shapes.items()}
    x, m, u, v, h = fed = [K.placeholder(shape, dtype="float64") for shape in shapes.values()]

    def step(x_t, states):
        z = K.batch_dot(x_t, m, axes=[1, 1])
        a = z[:, :4] + K.batch_dot(states[0], u, axes=[1, 1])
        b = z[:, 4:] + K.batch_dot(states[0], v, axes=[1, 1])
        new = K.tanh(a) * K.sigmoid(b)
        return new, [new]

    outputs = K.rnn(step, x, [h])[1]
    loss = K.sum(K.square(outputs))
    f = K.function(fed, [loss, *K.gradients(loss, fed)])
    gradients = f(list(values.values()))[1:]
    for k, value in enumerate(values.values()):
        move = rng.uniform(-1, 1, value.shape)
        ends = []
        for sign in (1, -1):
            moved = list(values.values())
            moved[k] = value + sign * 1e-6 * move
            ends.append(f(moved)[0])
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(np.sum(gradients[k] * move), slope, rtol=1e-6, atol=1e-8)


@check
def a_loop_in_a_loop_whose_state_needs_neither_then_a_product():
    """Once its product has left the inner loop, the inner loop is the same in each step of the outer one."""
    r = np.random.RandomState(0)
    x, h, c, w = (r.randn(*shape) for shape in ((2, 3, 4, 5), (2, 5), (5, 5), (5, 6)))
    first, inner, outer = K.variable(h), K.variable(c), K.variable(w)

    def step(p, _):
        y = K.rnn(lambda q, s: (K.dot(q, inner) + s[0], [K.tanh(s[0])]), p, [first])[1]
        return K.dot(y, outer), []

    states = [h]
    for _ in range(3):
        states.append(np.tanh(states[-1]))
    wanted = (x @ c + np.stack(states, 1)[:, None]) @ w
    got = K.eval(K.rnn(step, K.constant(x), [])[1])
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


@check(unroll=(False, True))
def a_mask_of_one_sample_is_not_for_two(unroll):
    x, mask = K.placeholder((None, 3, 2)), K.placeholder((None, 3))
    state = K.zeros_like(x[:, 0])
    y = K.rnn(lambda now, states: (now, [now]), x, [state], mask=mask, unroll=unroll)[1]
    f = K.function([x, mask], [y])
    assert f([np.ones((2, 3, 2)), np.ones((2, 3))])[0].shape == (2, 3, 2)
    for samples in (1, 3):
        with pytest.raises(ValueError, match="rnn"):
            f([np.ones((2, 3, 2)), np.ones((samples, 3))])


@check(factor=("itself", "the input"))
def long_steps(factor):
    """Whatever a step repeats on its way back must take neither 2^n visits nor a stack as deep as the step."""
    n, times = {"itself": (60, 1), "the input": (7000, 3)}[factor]
    x, start = K.placeholder((1, times, 2)), K.placeholder((1, 2))

    def step(now, states):
        z = states[0]
        for _ in range(n):
            z = z * (z if factor == "itself" else now)
        return z, [z]

    def run():
        outputs = K.rnn(step, x, [start])[1]
        slopes = K.gradients(K.sum(outputs), [start if factor == "itself" else x])
        got.extend(K.function([x, start], slopes)([np.ones((1, times, 2)), np.ones((1, 2))]))

    got, before = [], threading.stack_size(1 << 20)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    threading.stack_size(before)
    # z^(2^60) of the start; of the sum of three results, each a product of n more for each step, of the input
    wanted = [[2.0**60] * 2] if factor == "itself" else [[[3 * n] * 2, [2 * n] * 2, [n] * 2]]
    np.testing.assert_array_equal(got[0], np.float32(wanted))


@check
def states_that_stay_are_tensors_of_their_own():
    """The gradient with respect to a final state is not that with respect to the first one."""
    for unroll in (False, True):
        x, h = K.placeholder((1, 2, 1)), K.placeholder((1, 1))
        last, _, [state] = K.rnn(lambda e, s: (s[0], s), x, [h], unroll=unroll)
        for y in (last, state):
            [g] = K.gradients(y * y + 3 * h, [y])
            np.testing.assert_array_equal(K.function([x, h], [g])([np.ones((1, 2, 1)), [[3.0]]])[0], 6)


@check(open_batch=(False, True), count=(2, 3))
def states_that_grow_one_after_another(open_batch, count):
    """Each state of one row becomes what the next one was, so that the batch comes to the first one last."""
    x = K.placeholder((None if open_batch else 2, 4, 3), dtype="float64")
    states = [K.placeholder((1, 3), dtype="float64") for _ in range(count)]

    def step(e, s):
        return s[0], s[1:] + [s[-1] * 0.5 + e]

    _, y, new = K.rnn(step, x, states)
    f = K.function([x, *states], [y, *new, *K.gradients(K.sum(K.square(y)), [x, *states])])
    rng = np.random.default_rng(count)
    feeds = [rng.uniform(-1, 1, (2, 4, 3))] + [rng.uniform(-1, 1, (1, 3)) for _ in states]
    now, ys = [np.repeat(s, 2, 0) for s in feeds[1:]], []
    for t in range(4):
        ys.append(now[0])
        now = now[1:] + [now[-1] * 0.5 + feeds[0][:, t]]
    got = f(feeds)
    np.testing.assert_allclose(got[0], np.stack(ys, 1))
    for a, b in zip(got[1:], now):
        np.testing.assert_allclose(a, b)
    loss = K.function([x, *states], [K.sum(K.square(y))])
    for k, feed in enumerate(feeds):
        for at in [(0,) * feed.ndim, tuple(n - 1 for n in feed.shape)]:
            ends = []
            for change in (1e-6, -1e-6):
                moved = [v.copy() for v in feeds]
                moved[k][at] += change
                ends.append(loss(moved)[0])
            slope = got[1 + count + k][at]
            np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, atol=1e-6)


@check(open_batch=(False, True), has_mask=(False, True), backwards=(False, True))
def unrolled_states_grow_as_in_a_loop(open_batch, has_mask, backwards):
    x = K.placeholder((None if open_batch else 3, 4, 2), dtype="float64")
    mask = K.placeholder((None if open_batch else 3, 4))
    states = [K.placeholder((1, 2), dtype="float64") for _ in range(2)]

    def step(e, s):
        total = e + 0.3 * K.sum(s[0], 0, keepdims=True)
        return total, [s[1], total]

    rng = np.random.default_rng(2)
    feeds = [rng.uniform(-1, 1, (3, 4, 2)), *rng.uniform(-1, 1, (2, 1, 2))]
    feeds.append(rng.integers(0, 2, (3, 4)))
    results = []
    for unroll in (False, True):
        options = {"unroll": unroll, "go_backwards": backwards, "mask": mask if has_mask else None}
        last, y, new = K.rnn(step, x, states, **options)
        slopes = K.gradients(K.sum(K.square(y)), [x, *states])
        results.append(K.function([x, *states, mask], [last, y, *new, *slopes])(feeds))
    for loop, unrolled in zip(*results):
        np.testing.assert_allclose(unrolled, loop, rtol=1e-12)


@check
def unrolled_steps_must_be_as_many_as_said():
    x, mask = K.placeholder((2, None, 2)), K.placeholder((2, None))
    options = {"unroll": True, "input_length": 2}
    y = K.rnn(lambda e, s: (e, [e]), x, [K.zeros((2, 2))], **options)[1]
    f = K.function([x], [y])
    assert K.int_shape(y) == f([np.ones((2, 2, 2))])[0].shape == (2, 2, 2)
    masked = K.rnn(lambda e, s: (e, [e]), x, [K.zeros((2, 2))], mask=mask, **options)[1]
    g = K.function([x, mask], [masked])
    for steps in (1, 3, 4):
        with pytest.raises(ValueError, match="rnn"):
            f([np.ones((2, steps, 2))])
        with pytest.raises(ValueError, match="rnn"):
            g([np.ones((2, 2, 2)), np.ones((2, steps))])


@check(unroll=(False, True))
def a_known_mask_is_not_for_fewer_samples(unroll):
    x, mask = K.placeholder((None, 3, 2)), K.placeholder((2, 3))
    state = K.zeros_like(x[:, 0])
    y = K.rnn(lambda now, states: (now, [now]), x, [state], mask=mask, unroll=unroll)[1]
    f = K.function([x, mask], [y])
    assert f([np.ones((2, 3, 2)), np.ones((2, 3))])[0].shape == (2, 3, 2)
    with pytest.raises(ValueError, match="rnn"):
        f([np.ones((1, 3, 2)), np.ones((2, 3))])


@check(count=(1, 2))
def unrolled_states_may_grow_from_step_to_step(count):
    """All that was seen so far, from one element on: the 1 is no row for a batch."""
    x = K.placeholder((2, 3, 1))
    starts = [K.placeholder((2, 1)) for _ in range(count)]

    def step(e, s):
        past = [K.concatenate([one, e], axis=1) for one in s]
        return sum(K.sum(p, axis=1, keepdims=True) for p in past), past

    _, y, new = K.rnn(step, x, starts, unroll=True)
    f = K.function([x, *starts], [y, *new])
    rng = np.random.default_rng(0)
    feeds = [rng.normal(size=(2, 3, 1)), *(rng.normal(size=(2, 1)) for _ in starts)]
    got = f(feeds)
    sums = sum(s + np.cumsum(feeds[0][..., 0], 1) for s in feeds[1:])
    np.testing.assert_allclose(got[0][..., 0], sums, rtol=1e-5, atol=1e-6)
    for state, start in zip(got[1:], feeds[1:]):
        np.testing.assert_allclose(state, np.concatenate([start, feeds[0][..., 0]], 1), rtol=1e-6)


@check(axis=("batch", "features"))
def nothing_in_a_step_is_no_fault(axis):
    """What is stacked has no elements: a library below may divide by their number."""
    x, w = K.placeholder((None, 3, None)), K.variable(np.full((1, 1), 0.5))
    y = K.rnn(lambda e, s: (e * w + s[0], [e * w + s[0]]), x, [K.zeros_like(x[:, 0])])[1]
    f = K.function([x], [y, K.cumprod(y, axis=1), *K.gradients(K.sum(y), [w])])
    for n in (2, 0, 1):
        feed = np.ones((n, 3, 2) if axis == "batch" else (2, 3, n))
        sums = np.cumsum(feed * 0.5, 1)
        for got, wanted in zip(f([feed]), [sums, np.cumprod(sums, 1), [[6.0 * feed[:, 0].size]]]):
            np.testing.assert_allclose(got, wanted, rtol=1e-5)
