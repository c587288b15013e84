"""pool2d: the largest or mean value of each window."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import data, distinct, rand

GEOMETRIES = [
    # sizes, window, strides
    ((5, 6), (2, 2), (1, 1)),
    ((6, 7), (2, 2), (2, 2)),
    ((7, 6), (3, 2), (2, 3)),
    ((5, 5), (3, 3), (1, 1)),
    ((4, 4), (1, 1), (2, 2)),
    ((3, 4), (3, 4), (1, 1)),
    ((5, 7), (2, 3), (3, 3)),
]
families.pools(K.pool2d, oracles.pool, GEOMETRIES)
for pool_mode in ("max", "avg"):
    case(
        K.pool2d, [distinct(2, 6, 7, 3)], pool_size=(2, 2), pool_mode=pool_mode, oracle=oracles.pool
    )
    case(
        K.pool2d, [distinct(0, 4, 4, 2)], pool_size=(2, 2), pool_mode=pool_mode, oracle=oracles.pool
    )
    case(
        K.pool2d,
        [distinct(2, 17, 13, 19)],
        pool_size=(2, 2),
        pool_mode=pool_mode,
        oracle=oracles.pool,
        grad=False,
    )
    case(
        K.pool2d,
        [distinct(2, 6, 7, 3).known(1, 2, 3)],
        pool_size=(2, 2),
        strides=(2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        none=(None, 3, 4, 3),
    )
    case(
        K.pool2d,
        [rand(2, 6, 7, 3)],
        pool_size=(2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        dtypes=("float16", "bfloat16"),
    )
    # Padding must win over no negative number, and count in no mean.
    case(
        K.pool2d,
        [data([[[[-3.0], [-1.0]], [[-2.0], [-5.0]]]])],
        pool_size=(2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        label=f"negative({pool_mode})",
    )
X = rand(2, 5, 5, 3)
error(
    K.pool2d,
    [X],
    pool_size=(2, 2),
    pool_mode="sum",
    text='pool2d: pool_mode must be "max" or "avg"; got "sum".',
)
error(
    K.pool2d,
    [X],
    pool_size=(2, 2),
    padding="full",
    text='pool2d: padding must be "valid" or "same"; got "full".',
)
error(
    K.pool2d,
    [X],
    pool_size=(2, 2),
    data_format="channels_middle",
    text='pool2d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
error(
    K.pool2d,
    [rand(2, 5, 5)],
    pool_size=(2, 2),
    text="pool2d: x must have 4 dimensions; got shape (2, 5, 5).",
)
error(K.pool2d, [X], pool_size=(0, 2), text="pool2d: pool_size must be at least 1; got (0, 2).")
error(
    K.pool2d,
    [rand(1, 2, 2, 3)],
    pool_size=(3, 3),
    text='pool2d: windows of 3 elements do not fit on axis 1 of x of shape (1, 2, 2, 3) with padding "valid".',
)


@check(pool_mode=("max", "avg"), padding=("valid", "same"), size=((2, 2), (4, 1), (0, 3), (4, 4)))
def windows_that_do_not_fit_are_none(pool_mode, padding, size):
    """With open sizes a call finds it out. The gradients there are 0, of the first and of the second kind."""
    x = K.placeholder((None, None, None, 2))
    y = K.pool2d(x, (3, 3), (2, 2), padding, pool_mode=pool_mode)
    [dx] = K.gradients(K.sum(y * y), x)
    [ddx] = K.gradients(K.sum(dx * dx), x)
    images = np.random.default_rng(0).uniform(1, 2, (2, *size, 2))
    got = K.function([x], [y, dx, ddx])([images])
    wanted = [max((n - 1) // 2, 0) if padding == "valid" else (n + 1) // 2 for n in size]
    assert got[0].shape == (2, *wanted, 2)
    for gradient in got[1:]:
        assert gradient.shape == images.shape and bool(gradient.any()) == (0 not in wanted)
for pool_mode in ("max", "avg"):
    case(
        K.pool2d,
        [distinct(4, 31, 33, 16)],
        pool_size=(3, 3),
        strides=(2, 2),
        padding="same",
        pool_mode=pool_mode,
        oracle=oracles.pool,
        none=False,
        label=f"pool2d(large, {pool_mode})",
    )


@check(form=("channels_last", "channels_first"), dtype=("float32", "float64"))
def means_divide(form, dtype):
    """One rounding: the sums of whole numbers are exact."""
    x = np.random.default_rng(0).integers(-99, 99, (2, 7, 7, 5)).astype(dtype)
    want = x.sum(axis=(1, 2)) / np.array(49, dtype)
    p = K.placeholder((None, 7, 7, 5) if form == "channels_last" else (None, 5, 7, 7), dtype=dtype)
    y = K.pool2d(p, (7, 7), data_format=form, pool_mode="avg")
    given = x if form == "channels_last" else np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    y, g = K.function([p], [y, *K.gradients(K.sum(y), [p])])([given])
    # Other libraries multiply by the reciprocal.
    ulps = 0 if K.backend() == "native" else 2
    np.testing.assert_array_max_ulp(y.ravel(), want.ravel(), maxulp=ulps)
    np.testing.assert_array_max_ulp(g, np.full_like(g, 1) / np.array(49, dtype), maxulp=ulps)


# Windows larger than what they look at.
LARGE = [
    ((1, 6), (9, 1), (4, 2)),
    ((2, 3), (5, 4), (4, 2)),
    ((3, 7), (2, 9), (4, 1)),
    ((1, 1), (3, 3), (1, 1)),
]
families.pools(K.pool2d, oracles.pool, LARGE, paddings=("same",), none=False)


def pool_of_padded(x, data_format, pool_mode, padding):
    wide = K.spatial_2d_padding(x, ((1, 1), (1, 1)), data_format)
    return K.pool2d(wide, (2, 2), (2, 2), padding, data_format, pool_mode)


def pool_of_padded_oracle(x, data_format, pool_mode, padding):
    wide = oracles.spatial_2d_padding(x, ((1, 1), (1, 1)), data_format)
    return oracles.pool(wide, (2, 2), (2, 2), padding, data_format, pool_mode)


# Zeros that somebody put around the data are data: not what a maximum leaves out.
for pool_mode in ("max", "avg"):
    for padding in ("valid", "same"):
        for data_format in ("channels_last", "channels_first"):
            case(
                pool_of_padded,
                [distinct(2, 3, 5, 4, low=-3.0, high=-1.0)],
                data_format=data_format,
                pool_mode=pool_mode,
                padding=padding,
                oracle=pool_of_padded_oracle,
                none=False,
            )


@check(data_format=("channels_last", "channels_first"))
def second_derivative_where_all_are_equal(data_format):
    """The first of equals has the gradient, and the gradient of the gradient."""
    rng = np.random.default_rng(15)
    factors = rng.uniform(-1, 1, (1, 4, 6, 1))
    turned = factors if data_format == "channels_last" else np.moveaxis(factors, 3, 1)
    x = K.placeholder(turned.shape, dtype="float64")
    y = K.pool2d(x, (2, 2), strides=(2, 2), data_format=data_format, pool_mode="max")
    [dx] = K.gradients(K.sum(K.square(y)), [x])
    total = K.sum(dx * K.constant(turned, dtype="float64"))
    got = K.function([x], [dx, K.gradients(total, [x])[0]])([np.ones(turned.shape)])
    first = np.zeros((1, 4, 6, 1))
    first[:, ::2, ::2] = 2
    wanted = [first, first * factors]
    for a, b in zip(got, wanted):
        b = b if data_format == "channels_last" else np.moveaxis(b, 3, 1)
        np.testing.assert_allclose(a, b, rtol=1e-9)


@check(mode=("max", "avg"), data_format=("channels_last", "channels_first"))
def windows_that_overlap_and_leave_a_rest(mode, data_format):
    """As many elements as in all windows together, and yet not one window each: 3 of 6 at steps of 2."""
    rng = np.random.default_rng(18)
    images, dy = rng.permutation(72).reshape(1, 6, 6, 2) / 72, rng.uniform(-1, 1, (1, 2, 2, 2))
    wanted = np.zeros((1, 6, 6, 2))
    for i, j, c in np.ndindex(2, 2, 2):
        window = images[0, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3, c]
        at = (window == window.max()) if mode == "max" else 1 / 9
        wanted[0, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3, c] += at * dy[0, i, j, c]
    if data_format == "channels_first":
        images, dy, wanted = (np.moveaxis(a, 3, 1) for a in (images, dy, wanted))
    x = K.placeholder(images.shape, dtype="float64")
    y = K.pool2d(x, (3, 3), strides=(2, 2), data_format=data_format, pool_mode=mode)
    dx = K.gradients(K.sum(y * K.constant(dy, dtype="float64")), [x])
    np.testing.assert_allclose(K.function([x], dx)([images])[0], wanted, rtol=1e-9, atol=1e-12)
