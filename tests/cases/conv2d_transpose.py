"""conv2d_transpose: from what conv2d gives to what it takes."""

import horngate as K
import numpy as np
import pytest
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import rand

GEOMETRIES = [
    # rows and columns of x, kernel, strides, padding, rows and columns of the result
    ((3, 4), (3, 3), (1, 1), "valid", (5, 6)),
    ((3, 4), (3, 3), (1, 1), "same", (3, 4)),
    ((3, 4), (3, 3), (2, 2), "valid", (7, 9)),
    ((3, 4), (3, 3), (2, 2), "valid", (8, 10)),
    ((3, 4), (3, 3), (2, 2), "same", (6, 8)),
    ((3, 4), (3, 3), (2, 2), "same", (5, 7)),
    ((2, 3), (2, 4), (2, 3), "same", (4, 9)),
    ((2, 3), (2, 2), (3, 1), "valid", (6, 4)),
    ((3, 3), (1, 1), (2, 2), "same", (6, 6)),
    ((2, 2), (5, 5), (1, 1), "same", (2, 2)),
]
for data_format in ("channels_last", "channels_first"):
    for sizes, size, strides, padding, result in GEOMETRIES:
        first = data_format == "channels_first"
        shape = (2, 3, *sizes) if first else (2, *sizes, 3)
        output_shape = (2, 4, *result) if first else (2, *result, 4)
        case(
            K.conv2d_transpose,
            [rand(*shape), rand(*size, 4, 3).known()],
            output_shape=output_shape,
            strides=strides,
            padding=padding,
            data_format=data_format,
            oracle=oracles.conv_transpose,
            second=result in ((5, 6), (6, 8)),
        )
for padding, result in [("valid", (7, 8)), ("same", (5, 6))]:
    case(
        K.conv2d_transpose,
        [rand(2, 5, 6, 3), rand(2, 2, 4, 3).known()],
        output_shape=(2, *result, 4),
        padding=padding,
        dilation_rate=(2, 2),
        oracle=oracles.conv_transpose,
    )
case(
    K.conv2d_transpose,
    [rand(2, 3, 4, 3).known(1, 2, 3), rand(3, 3, 5, 3).known()],
    output_shape=(None, 6, 8, 5),
    strides=(2, 2),
    padding="same",
    oracle=oracles.conv_transpose,
    none=(None, 6, 8, 5),
)
case(
    K.conv2d_transpose,
    [rand(0, 3, 4, 3), rand(3, 3, 5, 3).known()],
    output_shape=(0, 5, 6, 5),
    oracle=oracles.conv_transpose,
)
case(
    K.conv2d_transpose,
    [rand(2, 3, 4, 3), rand(3, 3, 4, 3).known()],
    output_shape=(2, 5, 6, 4),
    oracle=oracles.conv_transpose,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)


def twice_as_large(x, kernel, padding):
    """The way of Keras' Conv2DTranspose: the sizes are arithmetic on the shape of x."""
    shape = K.shape(x)
    output_shape = (shape[0], shape[1] * 2 + 1, shape[2] * 2 + 1, 4)
    if padding == "same":
        output_shape = (shape[0], shape[1] * 2, shape[2] * 2, 4)
    return K.conv2d_transpose(x, kernel, output_shape, strides=(2, 2), padding=padding)


def twice_as_large_oracle(x, kernel, padding):
    more = padding == "valid"
    shape = (len(x), x.shape[1] * 2 + more, x.shape[2] * 2 + more, 4)
    return oracles.conv_transpose(x, kernel, shape, (2, 2), padding)


for padding in ("valid", "same"):
    case(
        twice_as_large,
        [rand(2, 3, 4, 3).known(3), rand(3, 3, 4, 3).known()],
        padding=padding,
        oracle=twice_as_large_oracle,
        none=(None, None, None, 4),
    )
X, KERNEL = rand(2, 3, 4, 3), rand(3, 3, 5, 3)
error(
    K.conv2d_transpose,
    [X, KERNEL],
    output_shape=(2, 9, 6, 5),
    text="conv2d_transpose: x of shape (2, 3, 4, 3) has 3 elements on axis 1, but an output_shape of 9 there needs 7 "
    '(strides (1, 1), padding "valid").',
)
error(
    K.conv2d_transpose,
    [X, KERNEL],
    output_shape=(2, 5, 6, 3),
    text="conv2d_transpose: output_shape has 3 channels but kernel makes 5 (shape (3, 3, 5, 3)).",
)
error(
    K.conv2d_transpose,
    [X, KERNEL],
    output_shape=(2, 5, 6),
    text="conv2d_transpose: output_shape must have 4 entries; got 3.",
)
error(
    K.conv2d_transpose,
    [X, KERNEL],
    output_shape=(3, 5, 6, 5),
    text="conv2d_transpose: output_shape must begin with the 2 samples of x of shape (2, 3, 4, 3); got 3.",
)
error(
    K.conv2d_transpose,
    [X, rand(3, 3, 5, 4)],
    output_shape=(2, 5, 6, 5),
    text="conv2d_transpose: x has 3 channels (shape (2, 3, 4, 3), channels_last) but kernel takes 4 (shape (3, 3, 5, 4)).",
)
error(
    K.conv2d_transpose,
    [X, KERNEL],
    output_shape=(2, 5, 6, 5),
    padding="causal",
    text='conv2d_transpose: padding must be "valid" or "same"; got "causal".',
)
families.edges(
    K.conv2d_transpose,
    oracles.conv_transpose,
    [rand(2, 23, 29, 11), rand(3, 3, 5, 11)],
    output_shape=(2, 46, 58, 5),
    strides=(2, 2),
    padding="same",
    tol={"float32": 1e-5},
)


@check(
    padding=("same", "valid"),
    stride=(1, 2, 3),
    size=(1, 2, 3),
    data_format=("channels_last", "channels_first"),
)
def sizes_that_a_call_asks_for_must_be_possible(padding, stride, size, data_format):
    """As for known sizes: a convolution of the result would have to give as many elements as x has."""
    first = data_format == "channels_first"
    options = {"strides": (stride, 1), "padding": padding, "data_format": data_format}
    kernel = K.constant(np.ones((size, 1, 1, 1)))
    shape = (1, 1, None, 4) if first else (1, None, 4, 1)
    x, wanted = K.placeholder(shape), K.placeholder((4,), dtype="int32")
    f = K.function([x, wanted], [K.conv2d_transpose(x, kernel, wanted, **options)])
    feed = np.ones((1, 1, 3, 4) if first else (1, 3, 4, 1))
    accepted = 0
    for rows in range(1, 13):
        asked = (1, 1, rows, 4) if first else (1, rows, 4, 1)
        try:
            known = K.eval(K.conv2d_transpose(K.constant(feed), kernel, asked, **options))
        except ValueError:
            with pytest.raises(ValueError, match="conv2d_transpose"):
                f([feed, asked])
            continue
        accepted += 1
        np.testing.assert_array_equal(f([feed, asked])[0], known)
    assert accepted == stride


@check(data_format=("channels_last", "channels_first"), axis=("samples", "channels"))
def samples_and_channels_that_a_call_asks_for_must_be_those_of_x_and_kernel(data_format, axis):
    first = data_format == "channels_first"
    x = K.placeholder((None, 2, None, None) if first else (None, None, None, 2))
    wanted, kernel = K.placeholder((4,), dtype="int32"), K.constant(np.ones((3, 3, 3, 2)))
    y = K.conv2d_transpose(x, kernel, wanted, strides=(2, 2), padding="same", data_format=data_format)
    f = K.function([x, wanted], [y])
    feed = np.ones((5, 2, 4, 4) if first else (5, 4, 4, 2))
    right = (5, 3, 8, 8) if first else (5, 8, 8, 3)
    assert f([feed, right])[0].shape == right
    wrong = list(right)
    wrong[0 if axis == "samples" else 1 if first else 3] += 1
    with pytest.raises(ValueError, match="conv2d_transpose"):
        f([feed, wrong])
