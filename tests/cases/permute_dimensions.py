"""permute_dimensions: axis i of the result is axis pattern[i] of x."""

import itertools

import horngate as K
import numpy as np
from cases.harness import case, check, error
from cases.inputs import rand


def permute(x, pattern):
    return np.transpose(x, pattern)


for shape, pattern in [
    ((2, 3, 4), (0, 2, 1)),
    ((2, 3, 4), (2, 0, 1)),
    ((2, 3, 4), (1, 0, 2)),
    ((2, 3, 4), (0, 1, 2)),
    ((2, 3), (1, 0)),
    ((5,), (0,)),
    ((2, 0, 3), (1, 2, 0)),
    ((1, 3, 1, 2), (3, 0, 2, 1)),
    ((2, 3, 4, 5), (0, 3, 1, 2)),
    ((2, 3, 4, 5), (0, 2, 3, 1)),
    ((2, 1, 3, 2, 2), (4, 2, 0, 3, 1)),
    ((7, 31, 67), (0, 2, 1)),
    ((2, 3, 4), (0, -1, -2)),
]:
    case(K.permute_dimensions, [rand(*shape)], pattern=pattern, oracle=permute, tol=0)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        K.permute_dimensions,
        [rand(2, 3, 4)],
        pattern=(2, 0, 1),
        oracle=permute,
        dtypes=(dtype,),
        tol=0,
    )
case(
    K.permute_dimensions,
    [rand(2, 3, 4).known(1)],
    pattern=(1, 0, 2),
    oracle=permute,
    none=(3, None, None),
    second=True,
)
for pattern in [(0, 1), (0, 1, 1), (0, 1, 3)]:
    error(
        K.permute_dimensions,
        [rand(2, 3, 4)],
        pattern=pattern,
        text=f"permute_dimensions: pattern must name each of the 3 axes of x (shape (2, 3, 4)) once; got {pattern}.",
    )
for pattern in [(0, 2, 1), (2, 1, 0), (1, 0, 2)]:
    case(
        K.permute_dimensions,
        [rand(53, 61, 67)],
        pattern=pattern,
        oracle=permute,
        grad=False,
        none=False,
        tol=0,
    )


@check
def one_after_the_other():
    """They meet at once, or when what stands between them goes while a plan is made."""
    x = K.placeholder((2, 3, 4))
    feed = np.arange(24.0).reshape(2, 3, 4)
    for p, q in itertools.product(itertools.permutations(range(3)), repeat=2):
        first = K.permute_dimensions(x, p)
        both = [K.permute_dimensions(y, q) for y in (first, K.stop_gradient(first))]
        for got in K.function([x], both)([feed]):
            np.testing.assert_array_equal(got, feed.transpose(p).transpose(q))
