"""batch_dot: products sample by sample."""

import horngate as K
from cases import oracles
from cases.harness import case, error
from cases.inputs import rand

SHAPES = [
    ((3, 2), (3, 2), 1),
    ((3, 2), (3, 2), None),
    ((4, 2, 3), (4, 3, 5), None),
    ((4, 2, 3), (4, 3, 5), (2, 1)),
    ((4, 2, 3), (4, 5, 3), 2),
    ((4, 2, 3), (4, 5, 3), -1),
    ((4, 3, 2), (4, 3, 5), 1),
    ((4, 3), (4, 5, 3), (1, 2)),
    ((4, 5, 3), (4, 3), (2, 1)),
    ((4, 5, 3), (4, 3), None),
    ((4, 3), (4, 3, 5), None),
    ((2, 3, 4, 5), (2, 5, 3), (3, 1)),
    ((2, 3, 4, 5), (2, 3, 4), (2, 2)),
    ((2, 3, 4), (2, 2, 4, 3), (2, 2)),
    ((2, 3, 4, 5), (2, 5, 2, 3), (-1, 1)),
    ((1, 1, 1), (1, 1, 1), None),
    ((5, 1), (5, 1), 1),
]
for a, b, axes in SHAPES:
    case(K.batch_dot, [rand(*a), rand(*b)], axes=axes, oracle=oracles.batch_dot, second=True)
for a, b, axes in [
    ((0, 2, 3), (0, 3, 2), None),
    ((2, 0, 3), (2, 3, 4), None),
    ((2, 3, 0), (2, 0, 4), None),
]:
    case(K.batch_dot, [rand(*a), rand(*b)], axes=axes, oracle=oracles.batch_dot)
for a, b, axes in [
    ((7, 31, 67), (7, 67, 33), None),
    ((33, 129), (33, 129), 1),
    ((3, 65, 64), (3, 63, 64), 2),
]:
    case(
        K.batch_dot,
        [rand(*a), rand(*b)],
        axes=axes,
        oracle=oracles.batch_dot,
        grad=False,
        tol={"float32": 1e-5},
    )
case(
    K.batch_dot,
    [rand(3, 4, 5), rand(3, 5, 2)],
    oracle=oracles.batch_dot,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(
    K.batch_dot,
    [rand(3, 4, 5, high=0.4), rand(3, 5, 2, high=0.4)],
    oracle=oracles.batch_dot,
    dtypes=("int32", "int64"),
)
case(
    K.batch_dot,
    [rand(3, 4, 5).known(1, 2), rand(3, 5, 2).known(1, 2)],
    oracle=oracles.batch_dot,
    none=(None, 4, 2),
)
error(
    K.batch_dot,
    [rand(3), rand(3, 2)],
    text="batch_dot: x and y must have at least 2 dimensions; got shapes (3,) and (3, 2).",
)
error(
    K.batch_dot,
    [rand(3, 2), rand(4, 2)],
    text="batch_dot: x and y must have the same batch size; got shapes (3, 2) and (4, 2).",
)
error(
    K.batch_dot,
    [rand(3, 2), rand(3, 5, 4)],
    axes=(1, 2),
    text="batch_dot: the summed axes must have the same length; got 2 (axis 1 of x, shape (3, 2)) and 4 (axis 2 of y, "
    "shape (3, 5, 4)).",
)
error(
    K.batch_dot,
    [rand(3, 2), rand(3, 2)],
    axes=0,
    text="batch_dot: axes must not name axis 0, the batch; got (0, 0). expand_dims(x, 0) gives x a batch axis.",
)
error(
    K.batch_dot,
    [rand(3, 2), rand(3, 2)],
    axes=(1, 2),
    text="batch_dot: axes[1] must be in [-2, 2) for y of shape (3, 2); got axes[1]=2.",
)
error(
    K.batch_dot,
    [rand(3, 2), rand(3, 2)],
    axes=(1, 1, 1),
    text="batch_dot: axes must be one axis or a pair of them; got (1, 1, 1).",
)
case(
    K.batch_dot,
    [rand(19, 61, 67), rand(19, 67, 53)],
    oracle=oracles.batch_dot,
    grad=False,
    none=False,
    tol={"float32": 1e-5},
)
def scaled(x, y):
    return K.batch_dot(x / 3.0, y) * 0.1


# A number beside a product keeps all of its digits.
case(
    scaled,
    [rand(2, 3, 4), rand(2, 4, 5)],
    oracle=lambda x, y: (x / 3.0) @ y * 0.1,
    tol={"float32": 1e-6, "float64": 1e-15},
)
