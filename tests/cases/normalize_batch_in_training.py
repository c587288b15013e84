"""normalize_batch_in_training: with the mean and variance of the batch."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import normal, rand

oracle = oracles.normalize_batch_in_training
# What is left of a sum whose exact value is 0 counts as an error of the gradient in float32.
for shape, axes in [
    ((6, 3), [0]),
    ((2, 4, 3), [0, 1]),
    ((2, 3, 4), [0, 2]),
    ((2, 3, 2, 4), [0, 2, 3]),
    ((2, 3, 4, 2), [0, 1, 2]),
    ((2, 2, 3, 2, 2), [0, 1, 2, 3]),
    ((2, 2, 3, 2, 2), (0, 2, 3, 4)),
    ((3, 4), [1]),
    ((4, 3), [-2]),
]:
    kept = [n for i, n in enumerate(shape) if i not in [a % len(shape) for a in axes]]
    case(
        K.normalize_batch_in_training,
        [normal(*shape), rand(*kept), rand(*kept)],
        reduction_axes=axes,
        oracle=oracle,
        second=len(shape) < 4,
        tol={"float32": 1e-5},
    )
FIRST = {"reduction_axes": [0], "oracle": oracle, "tol": {"float32": 1e-5}}
case(K.normalize_batch_in_training, [normal(6, 3), None, rand(3)], **FIRST)
case(K.normalize_batch_in_training, [normal(6, 3), rand(3), None], **FIRST)
case(K.normalize_batch_in_training, [normal(6, 3), None, None], epsilon=0.1, **FIRST)
case(K.normalize_batch_in_training, [normal(131, 37), rand(37), rand(37)], grad=False, **FIRST)
case(
    K.normalize_batch_in_training,
    [rand(50, 3, low=100.0, high=101.0), rand(3), rand(3)],
    grad=False,
    reduction_axes=[0],
    oracle=oracle,
    tol={"float32": 1e-3},
)
case(
    K.normalize_batch_in_training,
    [normal(8, 3), rand(3), rand(3)],
    reduction_axes=[0],
    oracle=oracle,
    dtypes=("float16", "bfloat16"),
    tol=0.03,
)


def only(which):
    """One of the three results: the gradient of each must be right by itself."""

    def part(x, gamma, beta):
        return K.normalize_batch_in_training(x, gamma, beta, [0])[which]

    return part


for which in range(3):
    case(
        only(which),
        [normal(6, 3), rand(3), rand(3)]
        if which == 0
        else [normal(6, 3), rand(3).no_grad(), rand(3).no_grad()],
        oracle=lambda x, gamma, beta, which=which: oracle(x, gamma, beta, [0])[which],
        second=True,
        tol={"float32": 1e-5},
        label=f"result {which}",
    )
error(
    K.normalize_batch_in_training,
    [rand(6, 3), rand(4), rand(3)],
    reduction_axes=[0],
    text="normalize_batch_in_training: gamma must have the shape of x without reduction_axes, (3,); got (4,).",
)
error(
    K.normalize_batch_in_training,
    [rand(6, 3), rand(3), rand(3)],
    reduction_axes=[2],
    text="normalize_batch_in_training: axis must be in [-2, 2) for x of shape (6, 3); got axis=2.",
)
for axes in ([0, 1], [0, 2], [1, 2]):
    case(
        K.normalize_batch_in_training,
        [normal(53, 61, 67), None, None],
        reduction_axes=axes,
        oracle=oracle,
        grad=False,
        none=False,
        tol={"float32": 2e-5},
    )
families.edges(
    K.normalize_batch_in_training,
    oracle,
    [normal(3, 1), rand(1), rand(1)],
    [normal(1009, 11), rand(11), rand(11)],
    reduction_axes=[0],
    tol={"float32": 1e-5},
)


@check(shape=((32, 9, 9, 5), (64, 7, 7, 40), (3000, 16), (5, 7)), first=(False, True))
def far_from_zero(shape, first):
    """Means of parts of the batch are joined without rounding them to float32."""
    x = (np.random.default_rng(0).normal(size=shape) + 1e4).astype("float32")
    axes = list(range(len(shape) - 1))
    exact = x.astype("float64")
    mean, var = exact.mean(axis=tuple(axes)), exact.var(axis=tuple(axes))
    want = (exact - mean) / np.sqrt(var + 1e-3)
    if first:
        x, want = (np.ascontiguousarray(np.moveaxis(a, -1, 1)) for a in (x, want))
        axes = [a for a in range(x.ndim) if a != 1]
    p = K.placeholder((None, *x.shape[1:]))
    y, m, v = K.function([p], K.normalize_batch_in_training(p, None, None, axes))([x])
    # Other libraries add up in float32, and take the rounded mean from x.
    own = K.backend() == "native"
    np.testing.assert_allclose(m, mean, rtol=1.5e-7 if own else 1e-5)
    np.testing.assert_allclose(v, var, rtol=3e-6 if own else 1e-2)
    np.testing.assert_allclose(y, want, atol=1e-5 if own else 0.1)


@check(
    shape=((20000, 3), (64, 64, 1, 1, 2), (16, 16, 16, 8)),
    is_open=(False, True),
)
def statistics_of_many_equal_numbers(shape, is_open):
    """Roundings of a running sum of them go one way and do not cancel."""
    values = np.random.default_rng(3).choice(np.float32([0.1, 1.3, 2.7, 0.9]), shape)
    x = K.placeholder((None,) * (len(shape) - 1) + shape[-1:] if is_open else shape)
    one, axes = K.ones((shape[-1],)), list(range(len(shape) - 1))
    y, mean, var = K.function([x], list(K.normalize_batch_in_training(x, one, one, axes)))([values])
    wide = values.astype("float64")
    m, v = wide.mean(tuple(axes)), wide.var(tuple(axes))
    np.testing.assert_allclose(mean, m, rtol=32 * 2.0**-24)
    np.testing.assert_allclose(var, v, rtol=256 * 2.0**-24)
    np.testing.assert_allclose(y, (wide - m) / np.sqrt(v + 1e-3) + 1, rtol=2e-5, atol=2e-5)


@check
def second_derivative_where_x_is_also_the_cotangent():
    """The gradient of sum(y * x) by y is x itself: one operand in two places of the same node."""
    rng = np.random.default_rng(6)
    feed, w = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    x = K.placeholder((5, 3), dtype="float64")
    y = K.normalize_batch_in_training(
        x, K.constant(np.ones(3), "float64"), K.constant(np.zeros(3), "float64"), [0]
    )[0]
    [dx] = K.gradients(K.sum(y * x), [x])
    loss = K.sum(dx * K.constant(w, "float64"))
    f = K.function([x], [loss, K.gradients(loss, [x])[0]])
    gradient = f([feed])[1]
    for place in np.ndindex(5, 3):
        step = np.zeros((5, 3))
        step[place] = 1e-5
        slope = (f([feed + step])[0] - f([feed - step])[0]) / 2e-5
        np.testing.assert_allclose(gradient[place], slope, rtol=1e-5, atol=1e-6)
