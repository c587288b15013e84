"""pool3d: the largest or mean value of each window."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import data, distinct, rand

GEOMETRIES = [
    # sizes, window, strides
    ((4, 5, 4), (2, 2, 2), (1, 1, 1)),
    ((4, 5, 6), (2, 3, 2), (2, 2, 2)),
    ((5, 3, 4), (3, 1, 2), (2, 1, 3)),
    ((3, 3, 3), (3, 3, 3), (1, 1, 1)),
]
families.pools(K.pool3d, oracles.pool, GEOMETRIES)
for pool_mode in ("max", "avg"):
    case(
        K.pool3d,
        [distinct(2, 6, 7, 4, 3)],
        pool_size=(2, 2, 2),
        pool_mode=pool_mode,
        oracle=oracles.pool,
    )
    case(
        K.pool3d,
        [distinct(0, 4, 4, 4, 2)],
        pool_size=(2, 2, 2),
        pool_mode=pool_mode,
        oracle=oracles.pool,
    )
    case(
        K.pool3d,
        [distinct(2, 9, 7, 8, 17)],
        pool_size=(2, 2, 2),
        pool_mode=pool_mode,
        oracle=oracles.pool,
        grad=False,
    )
    case(
        K.pool3d,
        [distinct(2, 6, 7, 4, 3).known(1, 2, 3, 4)],
        pool_size=(2, 2, 2),
        strides=(2, 2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        none=(None, 3, 4, 2, 3),
    )
    case(
        K.pool3d,
        [rand(2, 6, 7, 4, 3)],
        pool_size=(2, 2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        dtypes=("float16", "bfloat16"),
    )
    # Padding must win over no negative number, and count in no mean.
    case(
        K.pool3d,
        [data([[[[[-3.0], [-1.0]], [[-2.0], [-5.0]]]]])],
        pool_size=(2, 2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        label=f"negative({pool_mode})",
    )
X = rand(2, 5, 5, 5, 3)
error(
    K.pool3d,
    [X],
    pool_size=(2, 2, 2),
    pool_mode="sum",
    text='pool3d: pool_mode must be "max" or "avg"; got "sum".',
)
error(
    K.pool3d,
    [X],
    pool_size=(2, 2, 2),
    padding="full",
    text='pool3d: padding must be "valid" or "same"; got "full".',
)
error(
    K.pool3d,
    [X],
    pool_size=(2, 2, 2),
    data_format="channels_middle",
    text='pool3d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
error(
    K.pool3d,
    [rand(2, 5, 5)],
    pool_size=(2, 2, 2),
    text="pool3d: x must have 5 dimensions; got shape (2, 5, 5).",
)
error(
    K.pool3d, [X], pool_size=(0, 2, 2), text="pool3d: pool_size must be at least 1; got (0, 2, 2)."
)
# Windows larger than what they look at.
LARGE = [
    ((5, 2, 3), (1, 4, 1), (3, 2, 2)),
    ((3, 1, 3), (2, 3, 1), (4, 1, 2)),
    ((2, 2, 1), (5, 4, 3), (1, 2, 1)),
    ((5, 2, 4), (3, 3, 1), (4, 4, 4)),
]
families.pools(K.pool3d, oracles.pool, LARGE, paddings=("same",), none=False)
