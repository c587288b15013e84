"""softmax: exponentials, scaled to sum to 1."""

import horngate as K
import numpy as np
from cases import axes, oracles
from cases.harness import case, check
from cases.inputs import data, normal, rand

for shape, axis in [
    ((4, 5), -1),
    ((4, 5), 0),
    ((2, 3, 4), 1),
    ((2, 3, 4), -3),
    ((7,), 0),
    ((3, 1), 1),
    ((2, 1, 3, 5), 2),
]:
    case(K.softmax, [normal(*shape)], axis=axis, oracle=oracles.softmax, second=True)
case(K.softmax, [normal(4, 5)], oracle=oracles.softmax)
for shape, axis in [
    ((0, 3), 1),
    ((3, 0), 0),
    ((1009,), 0),
    ((67, 131), 1),
    ((131, 67), 0),
    ((3, 257, 5), 1),
]:
    case(K.softmax, [normal(*shape)], axis=axis, oracle=oracles.softmax, grad=False)
case(K.softmax, [normal(5, 33)], oracle=oracles.softmax, dtypes=("float16", "bfloat16"))
case(
    K.softmax,
    [rand(3, 4)],
    oracle=lambda x: oracles.softmax(x.astype("float64")),
    dtypes=("int32", "uint8"),
    out="float32",
)
LARGE = [[1e4, 1e4 - 1, -1e4], [-1e30, -1e30, -1e30], [-np.inf, 0.0, 1.0], [0.0, -200.0, 200.0]]
case(K.softmax, [data(LARGE)], oracle=oracles.softmax, grad=False, label="softmax(large)")
axes.axis_errors(K.softmax, "softmax", several=False)
for axis in (0, 1, 2):
    case(K.softmax, [normal(53, 61, 67)], axis=axis, oracle=oracles.softmax, grad=False, none=False)
for shape, axis in [((2, 1, 3, 2, 2, 3), 2), ((2, 2, 1, 2, 1, 3, 2), -1), ((2, 2, 2, 1, 2, 2), 0)]:
    case(K.softmax, [normal(*shape)], axis=axis, oracle=oracles.softmax)
inf, nan = np.inf, np.nan
ROWS = [[1, nan, 2], [inf, 1, 2], [-inf] * 3, [1, -inf, 0], [nan] * 3, [inf, inf, -inf]]
case(
    K.softmax,
    [data(ROWS)],
    oracle=oracles.softmax,
    dtypes=("float16", "float32", "float64"),
    grad=False,
    label="softmax(NaN and infinities)",
)


@check(axis=(0, 1))
def long_sums_keep_their_digits(axis):
    """Added one by one in float32, 1,000,000 terms lose 5e-5."""
    x = np.linspace(0, 1, 1_000_000, dtype="float32").reshape((-1, 1) if axis == 0 else (1, -1))
    x = np.repeat(x, 2, axis=1 - axis)
    p = K.placeholder(x.shape)
    [y] = K.function([p], [K.softmax(p, axis=axis)])([x])
    e = np.exp(x.astype("float64"))
    np.testing.assert_allclose(y, e / e.sum(axis=axis, keepdims=True), rtol=5e-6)
