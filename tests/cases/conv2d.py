"""conv2d: convolution along two axes."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import rand


def image(rows, cols, channels, data_format, samples=2):
    first = data_format == "channels_first"
    return rand(samples, channels, rows, cols) if first else rand(samples, rows, cols, channels)


GEOMETRIES = [
    # rows, cols, kernel, strides, dilation
    (5, 6, (3, 3), (1, 1), (1, 1)),
    (7, 6, (3, 2), (2, 1), (1, 1)),
    (8, 7, (3, 3), (2, 2), (1, 1)),
    (7, 7, (2, 2), (1, 1), (2, 2)),
    (7, 5, (3, 1), (1, 1), (2, 1)),
    (4, 5, (1, 1), (1, 1), (1, 1)),
    (5, 4, (1, 1), (2, 2), (1, 1)),
    (6, 9, (2, 4), (2, 3), (1, 1)),
]
for data_format in ("channels_last", "channels_first"):
    for padding in ("valid", "same"):
        for rows, cols, size, strides, dilation in GEOMETRIES:
            case(
                K.conv2d,
                [image(rows, cols, 3, data_format), rand(*size, 3, 4).known()],
                strides=strides,
                padding=padding,
                data_format=data_format,
                dilation_rate=dilation,
                oracle=oracles.conv,
                second=rows in (5, 8),
            )
case(K.conv2d, [rand(1, 4, 4, 1), rand(4, 4, 1, 1).known()], oracle=oracles.conv)
case(K.conv2d, [rand(2, 2, 3, 2), rand(5, 5, 2, 3).known()], padding="same", oracle=oracles.conv)
case(K.conv2d, [rand(1, 1, 1, 1), rand(1, 1, 1, 1).known()], oracle=oracles.conv)
case(K.conv2d, [rand(0, 5, 5, 3), rand(3, 3, 3, 4).known()], oracle=oracles.conv)
# Strides and dilation at once; numbers of channels that fill no vector, and that fill several.
case(
    K.conv2d,
    [rand(2, 9, 9, 2), rand(2, 2, 2, 3).known()],
    strides=(2, 2),
    dilation_rate=(2, 2),
    oracle=oracles.conv,
)
for channels, filters in [(1, 5), (5, 1), (17, 33), (32, 16)]:
    case(
        K.conv2d,
        [rand(2, 9, 8, channels), rand(3, 3, channels, filters).known()],
        padding="same",
        oracle=oracles.conv,
        tol={"float32": 1e-5},
        none=False,
    )
case(
    K.conv2d,
    [rand(2, 5, 6, 3), rand(3, 3, 3, 4).known()],
    oracle=oracles.conv,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(
    K.conv2d,
    [rand(2, 28, 27, 1).known(1, 2, 3), rand(3, 3, 1, 8).known()],
    strides=(2, 2),
    padding="same",
    oracle=oracles.conv,
    none=(None, 14, 14, 8),
    grad=False,
)
error(
    K.conv2d,
    [rand(None, 28, 28, 3), rand(3, 3, 1, 32)],
    text="conv2d: x has 3 channels (shape (None, 28, 28, 3), channels_last) but kernel takes 1 (shape (3, 3, 1, 32)).",
)
error(
    K.conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 16)],
    text="conv2d: kernel must have 4 dimensions (rows, cols, in, out); got shape (3, 3, 16).",
)
for padding in ("full", "causal"):
    error(
        K.conv2d,
        [rand(2, 5, 5, 3), rand(3, 3, 3, 4)],
        padding=padding,
        text=f'conv2d: padding must be "valid" or "same"; got "{padding}".',
    )
error(
    K.conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 4)],
    data_format="channels_middle",
    text='conv2d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
error(
    K.conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 4)],
    strides=(0, 1),
    text="conv2d: strides must be at least 1; got (0, 1).",
)
error(
    K.conv2d,
    [rand(2, 5, 5), rand(3, 3, 3, 4)],
    text="conv2d: x must have 4 dimensions; got shape (2, 5, 5).",
)
error(
    K.conv2d,
    [rand(2, 5, 2, 3), rand(3, 3, 3, 4)],
    text='conv2d: windows of 3 elements do not fit on axis 2 of x of shape (2, 5, 2, 3) with padding "valid".',
)


@check
def the_default_is_image_data_format():
    K.set_image_data_format("channels_first")
    y = K.conv2d(K.placeholder((None, 3, 8, 9)), K.zeros((2, 3, 3, 4)))
    assert K.int_shape(y) == (None, 4, 7, 7)


@check(padding=("valid", "same"))
def one_function_takes_images_of_every_size(padding):
    x = K.placeholder((None, None, None, 2))
    kernel = np.random.default_rng(0).uniform(-1, 1, (3, 3, 2, 3))
    f = K.function([x], [K.conv2d(x, K.constant(kernel), strides=(2, 2), padding=padding)])
    for shape in [(1, 5, 6, 2), (2, 8, 3, 2), (1, 9, 9, 2), (3, 4, 7, 2), (1, 5, 6, 2)]:
        images = np.random.default_rng(1).uniform(-1, 1, shape)
        wanted = oracles.conv(images, kernel, (2, 2), padding)
        np.testing.assert_allclose(f([images])[0], wanted, rtol=1e-5, atol=1e-5)


error(
    K.conv2d,
    [rand(1, 5, 5, 3), rand(3, 3, 2, 4).known()],
    run=True,
    text="conv2d: x has 3 channels (shape (1, 5, 5, 3), channels_last) but kernel takes 2 (shape (3, 3, 2, 4)).",
)
error(
    K.conv2d,
    [rand(1, 0, 2, 3), rand(3, 3, 3, 4)],
    padding="same",
    text='conv2d: windows of 3 elements do not fit on axis 1 of x of shape (1, 0, 2, 3) with padding "same".',
)


@check(data_format=("channels_last", "channels_first"), size=((2, 2), (2, 5), (5, 1), (0, 4), (5, 5)))
def windows_that_do_not_fit_are_none(data_format, size):
    """With open sizes a call finds it out. The gradients there are 0."""
    last = data_format == "channels_last"
    rng = np.random.default_rng(0)
    x = K.placeholder((None, None, None, 2) if last else (None, 2, None, None))
    kernel = K.variable(rng.uniform(-1, 1, (3, 3, 2, 3)))
    y = K.conv2d(x, kernel, data_format=data_format)
    z = K.depthwise_conv2d(x, kernel, strides=(2, 1), data_format=data_format)
    images = rng.uniform(-1, 1, (2, *size, 2))
    fed = images if last else np.moveaxis(images, 3, 1)
    f = K.function([x], [y, z, *K.gradients(K.sum(y * y) + K.sum(z), [x, kernel])])
    got = f([fed])
    rows, cols = (max(n - 2, 0) for n in size)
    assert got[0].shape == ((2, rows, cols, 3) if last else (2, 3, rows, cols))
    half = (rows + 1) // 2
    assert got[1].shape == ((2, half, cols, 6) if last else (2, 6, half, cols))
    assert got[2].shape == fed.shape and got[3].shape == (3, 3, 2, 3)
    assert (rows * cols > 0) == bool(got[2].any()) == bool(got[3].any())
for data_format in ("channels_last", "channels_first"):
    case(
        K.conv2d,
        [image(30, 31, 16, data_format, samples=3), rand(3, 3, 16, 24).known()],
        padding="same",
        data_format=data_format,
        oracle=oracles.conv,
        none=False,
        tol={"float32": 1e-5},
        label=f"conv2d(large, {data_format})",
    )
# One column of windows, whatever the stride along it.
for rows, cols, size, filters, strides, padding in [
    (13, 3, (5, 7), 2, (1, 3), "same"),
    (34, 3, (4, 2), 1, (1, 2), "valid"),
    (12, 10, (1, 6), 13, (1, 5), "valid"),
    (3, 11, (2, 4), 3, (4, 1), "same"),
]:
    for data_format in ("channels_last", "channels_first"):
        case(
            K.conv2d,
            [image(rows, cols, 1, data_format, 3), rand(*size, 1, filters)],
            strides=strides,
            padding=padding,
            data_format=data_format,
            oracle=oracles.conv,
            none=False,
            tol={"float32": 1e-5},
        )


LARGE = (
    ((1, 61, 50, 16), (5, 5, 16, 24), {"padding": "same"}),
    ((1, 70, 61, 8), (7, 7, 8, 32), {"strides": (2, 2), "padding": "same"}),
    ((2, 45, 40, 16), (3, 3, 16, 24), {"dilation_rate": (2, 2)}),
    ((1, 64, 33, 24), (4, 2, 24, 30), {"padding": "same"}),
)


@check(number=range(len(LARGE)), data_format=("channels_last", "channels_first"))
def one_large_image(number, data_format):
    """An image that is cut into pieces; gradients by what makes them: <dy, conv(v, w)> = <dx, v>."""
    shape, size, options = LARGE[number]
    rng = np.random.default_rng(number)
    images, v = (rng.uniform(-1, 1, shape) for _ in range(2))
    filters, u = (rng.uniform(-1, 1, size) for _ in range(2))
    wanted = oracles.conv(images, filters, data_format="channels_last", **options)
    dy = rng.uniform(-1, 1, wanted.shape)

    def turned(x):
        return x if data_format == "channels_last" else np.moveaxis(x, 3, 1)

    x, w = K.placeholder(turned(images).shape), K.placeholder(size)
    y = K.conv2d(x, w, data_format=data_format, **options)
    loss = K.sum(y * K.constant(turned(dy)))
    f = K.function([x, w], [y, *K.gradients(loss, [x, w])])
    got, dx, dw = f([turned(images), filters])
    np.testing.assert_allclose(got, turned(wanted), rtol=1e-3, atol=1e-3)
    for ours, along in ((np.sum(dx * turned(v)), (v, filters)), (np.sum(dw * u), (images, u))):
        terms = dy * oracles.conv(*along, data_format="channels_last", **options)
        np.testing.assert_allclose(ours, terms.sum(), atol=1e-5 * np.abs(terms).sum())


families.does_not_meet_what_lies_between_taps(
    lambda x, k: K.conv2d(x, k, dilation_rate=(3, 2), data_format="channels_first"),
    (2, 3, 8, 7),
    (2, 3, 3, 2),
)
