"""batch_normalization: with given statistics."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import positive, rand

oracle = oracles.batch_normalization
for shape, axis in [
    ((5, 3), -1),
    ((2, 4, 3), 2),
    ((2, 3, 4), 1),
    ((2, 3, 2, 4), 1),
    ((2, 2, 3, 4), -1),
    ((2, 3, 2, 2, 2), 1),
]:
    n = shape[axis]
    case(
        K.batch_normalization,
        [rand(*shape), rand(n), positive(n), rand(n), rand(n)],
        axis=axis,
        oracle=oracle,
        second=axis == -1,
        tol={"float32": 1e-5},
    )
# Without beta, gamma, or both; statistics that broadcast by themselves.
case(K.batch_normalization, [rand(5, 3), rand(3), positive(3), None, rand(3)], oracle=oracle)
case(K.batch_normalization, [rand(5, 3), rand(3), positive(3), rand(3), None], oracle=oracle)
case(
    K.batch_normalization,
    [rand(5, 3), rand(3), positive(3), None, None],
    epsilon=0.5,
    oracle=oracle,
)
case(
    K.batch_normalization,
    [rand(2, 3, 4), rand(1, 3, 1), positive(1, 3, 1), rand(1, 3, 1), rand(1, 3, 1)],
    axis=1,
    oracle=oracle,
)
case(K.batch_normalization, [rand(0, 3), rand(3), positive(3), rand(3), rand(3)], oracle=oracle)
case(
    K.batch_normalization,
    [rand(67, 31), rand(31), positive(31), rand(31), rand(31)],
    oracle=oracle,
    grad=False,
    tol={"float32": 1e-5},
)
case(
    K.batch_normalization,
    [rand(5, 3), rand(3), positive(3), rand(3), rand(3)],
    oracle=oracle,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
error(
    K.batch_normalization,
    [rand(5, 3), rand(3), rand(3), rand(3), rand(3)],
    axis=2,
    text="batch_normalization: axis must be in [-2, 2) for x of shape (5, 3); got axis=2.",
)
error(
    K.batch_normalization,
    [rand(5, 3), rand(4), rand(3), rand(3), rand(3)],
    text="batch_normalization: shapes (5, 3) and (4,) do not broadcast together.",
)
families.edges(
    K.batch_normalization,
    oracle,
    [rand(211, 67), rand(67), positive(67), rand(67), rand(67)],
    [rand(0, 3), rand(3), positive(3), rand(3), rand(3)],
    [rand(1, 1), rand(1), positive(1), rand(1), rand(1)],
    tol={"float32": 1e-5},
)


@check(dtype=("float16", "bfloat16"))
def statistics_that_half_types_do_not_hold(dtype):
    """A variance of 160,000 is infinite in float16; a mean of 1,000 rounds away what is left of x."""
    draw = np.random.RandomState(0)
    for mean, deviation in [(1000.0, 400.0), (1000.0, 10.0)]:
        x = K.placeholder((None, 4, 4, 1), dtype=dtype)
        y = K.batch_normalization(
            x, K.variable([mean]), K.variable([deviation**2]), None, None, axis=-1
        )
        given = draw.randn(64, 4, 4, 1) * deviation + mean
        rounded, got = K.function([x], [K.cast(x, "float64"), K.cast(y, "float64")])([given])
        assert K.dtype(y) == dtype
        wanted = (rounded - mean) / np.sqrt(deviation**2 + 1e-3)
        rounding = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
        np.testing.assert_allclose(got, wanted, rtol=1.01 * rounding, atol=1e-4)
