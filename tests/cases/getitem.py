"""x[...]: numbers, slices, Ellipsis, new axes and tensors in brackets."""

import time

import horngate as K
import numpy as np
from cases.harness import case, check, error
from cases.inputs import bools, ints, rand

INDICES = [
    0,
    -1,
    (1, 2),
    (slice(None), 1),
    (slice(None), -1),
    slice(1, None),
    slice(None, -1),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(3, -100, -1),
    slice(100, -100, -2),
    slice(-1, -3, -1),
    slice(-3, -1),
    slice(2, 2),
    slice(10, 20),
    slice(-100, 100),
    (slice(1, 3), slice(None, None, 2), slice(None)),
    (slice(None), slice(None), slice(None, None, -1)),
    (Ellipsis, 0),
    (0, Ellipsis),
    (slice(1, 2), Ellipsis, slice(0, 3, 2)),
    (None, slice(None)),
    (slice(None), None, 1),
    (Ellipsis, None),
    (0, 1, 2),
    Ellipsis,
    (),
    (slice(None, None, -3), 1, slice(-2, None)),
]
for index in INDICES:
    case(
        lambda x, index=index: x[index],
        [rand(4, 3, 5)],
        oracle=lambda x, index=index: x[index],
        tol=0,
        label=f"getitem({index})".replace("slice", ""),
        second=index in (0, (slice(None), 1)),
    )
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        lambda x: x[1:, ::-2],
        [rand(4, 5)],
        oracle=lambda x: x[1:, ::-2],
        dtypes=(dtype,),
        tol=0,
        label="x[1:, ::-2]",
    )
case(lambda x: x[0:0], [rand(0, 3)], oracle=lambda x: x[0:0], label="empty[0:0]")
case(
    lambda x: x[:, 2:65:3],
    [rand(131, 67)],
    oracle=lambda x: x[:, 2:65:3],
    tol=0,
    label="large[:, 2:65:3]",
    grad=False,
)
case(
    lambda x: x[1, :, None],
    [rand(4, 3).known(1)],
    oracle=lambda x: x[1, :, None],
    none=(3, 1),
    label="known",
)
case(
    lambda x: x[:, 1:3],
    [rand(4, 3).known(1)],
    oracle=lambda x: x[:, 1:3],
    none=(None, 2),
    label="known slice",
)


def by_tensor(x, i):
    return x[i]


for count in [(), (3,), (2, 2)]:
    case(by_tensor, [rand(5, 3), ints(*count, low=-5, high=5)], oracle=by_tensor, tol=0)
case(
    lambda x, i: x[:, i],
    [rand(2, 5, 3), ints(4, high=5)],
    oracle=lambda x, i: x[:, i],
    tol=0,
    label="x[:, i]",
)
case(
    lambda x, i: x[i, 1:],
    [rand(5, 3), ints(high=5)],
    oracle=lambda x, i: x[int(i), 1:],
    tol=0,
    label="x[i, 1:]",
)
case(
    lambda x, i: x[i : i + 2],
    [rand(5, 3), ints(low=0, high=4)],
    oracle=lambda x, i: x[int(i) : int(i) + 2],
    tol=0,
    open=True,
    label="x[i : i + 2]",
)
error(
    lambda x: x[5],
    [rand(3)],
    raises=IndexError,
    label="x[5]",
    text="getitem: an index on axis 0 of x of shape (3,) must be in [-3, 3); got 5.",
)
error(
    lambda x: x[:, -4],
    [rand(2, 3)],
    raises=IndexError,
    label="x[:, -4]",
    text="getitem: an index on axis 1 of x of shape (2, 3) must be in [-3, 3); got -4.",
)
error(
    lambda x: x[0, 0],
    [rand(3)],
    raises=IndexError,
    label="x[0, 0]",
    text="getitem: there must be at most 1 indices for x of shape (3,); got 2.",
)
error(
    lambda x: x[::0], [rand(3)], label="x[::0]", text="getitem: the step of a slice must not be 0."
)
error(
    lambda x, i: x[i],
    [rand(3), bools(3)],
    raises=TypeError,
    label="x[bools]",
    text="getitem: a bool tensor cannot be an index: the size of the result would depend on it.",
)
error(
    lambda x, i: x[i],
    [rand(3), rand(3)],
    raises=TypeError,
    label="x[floats]",
    text="getitem: an index must have an integer dtype; got float32.",
)
for bad in (7, -4):
    error(
        lambda x, bad=bad: x[bad],
        [rand(3, 2)],
        run=True,
        raises=IndexError,
        label=f"getitem({bad} of 3)",
        text=f"getitem: an index on axis 0 of x of shape (3, 2) must be in [-3, 3); got {bad}.",
    )


OPEN = (slice(9, 0, -1), slice(9, 2, -2), slice(-2, None, -1), slice(-9, 9, 2), slice(9, -9, -3))


@check(index=OPEN)
def gradients_of_slices_of_open_sizes(index):
    """Where a slice begins is known to a call only, and may lie outside."""
    x = K.placeholder((None, 2), dtype="float64")
    f = K.function([x], K.gradients(K.sum(K.square(x[index])), [x]))
    for rows in (1, 3, 6, 9, 10, 12):
        feed = np.random.default_rng(rows).uniform(-1, 1, (rows, 2))
        wanted = np.zeros_like(feed)
        wanted[index] = 2 * feed[index]
        np.testing.assert_allclose(f([feed])[0], wanted)


@check(index=(np.s_[:, ::2], np.s_[::2, 1::3], np.s_[:, ::-2], np.s_[..., 3:0:-1]))
def second_derivatives_of_steps(index):
    rng = np.random.default_rng(17)
    feed, w = rng.uniform(-1, 1, (3, 6)), rng.uniform(-1, 1, (3, 6))
    for shape in ((3, 6), (None, None)):
        x = K.placeholder(shape, dtype="float64")
        [first] = K.gradients(K.sum(K.pow(x[index], 3)), [x])
        total = K.sum(first * K.constant(w, dtype="float64"))
        got = K.function([x], K.gradients(total, [x]))([feed])[0]
        wanted = np.zeros((3, 6))
        wanted[index] = (6 * feed * w)[index]
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@check
def a_bound_of_much_shared_arithmetic():
    """Each step uses the one before twice: looking for known numbers must not go all 2^30 ways."""
    t = K.constant(1, dtype="int32")
    for _ in range(30):
        t = t * t
    start = time.perf_counter()
    assert K.eval(K.constant(np.arange(5))[t:]).tolist() == [1, 2, 3, 4]
    assert time.perf_counter() - start < 20


FAR = (2**63 - 1, 2**63 - 2, 5, 4, 0, -1, -5, -6, -(2**63) + 1, -(2**63))


@check(step=(1, 2, -1, -2), dtype=("int64", "int32"))
def bounds_that_a_call_knows_may_be_far_away(step, dtype):
    x, n = K.placeholder((None,)), K.placeholder((), dtype=dtype)
    f = K.function([x, n], [x[:n:step], x[n::step]])
    feed = np.arange(5.0)
    for bound in FAR if dtype == "int64" else (2**31 - 1, -(2**31)):
        below, above = f([feed, bound])
        assert below.tolist() == feed[:bound:step].tolist(), bound
        assert above.tolist() == feed[bound::step].tolist(), bound
