"""depthwise_conv2d: each channel with kernels of its own."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for padding in ("valid", "same"):
        for rows, cols, size, multiplier, strides, dilation in [
            (5, 6, (3, 3), 1, (1, 1), (1, 1)),
            (7, 6, (3, 2), 2, (2, 2), (1, 1)),
            (7, 7, (2, 2), 3, (1, 1), (2, 2)),
            (4, 4, (1, 1), 2, (1, 1), (1, 1)),
        ]:
            shape = (2, 3, rows, cols) if data_format == "channels_first" else (2, rows, cols, 3)
            case(
                K.depthwise_conv2d,
                [rand(*shape), rand(*size, 3, multiplier).known()],
                strides=strides,
                padding=padding,
                data_format=data_format,
                dilation_rate=dilation,
                oracle=oracles.depthwise_conv,
                second=multiplier == 2,
            )
case(
    K.depthwise_conv2d, [rand(2, 5, 5, 1), rand(3, 3, 1, 4).known()], oracle=oracles.depthwise_conv
)
case(
    K.depthwise_conv2d, [rand(0, 5, 5, 3), rand(3, 3, 3, 2).known()], oracle=oracles.depthwise_conv
)
case(
    K.depthwise_conv2d,
    [rand(2, 9, 8, 33), rand(3, 3, 33, 1).known()],
    padding="same",
    oracle=oracles.depthwise_conv,
    none=False,
)
case(
    K.depthwise_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 2).known()],
    oracle=oracles.depthwise_conv,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(
    K.depthwise_conv2d,
    [rand(2, 5, 5, 3).known(1, 2, 3), rand(3, 3, 3, 2).known()],
    oracle=oracles.depthwise_conv,
    none=(None, 3, 3, 6),
)
error(
    K.depthwise_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 2, 1)],
    text="depthwise_conv2d: x has 3 channels (shape (2, 5, 5, 3), channels_last) but kernel takes 2 (shape (3, 3, 2, 1)).",
)
error(
    K.depthwise_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3)],
    text="depthwise_conv2d: depthwise_kernel must have 4 dimensions (rows, cols, in, multiplier); got shape (3, 3, 3).",
)
error(
    K.depthwise_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 1)],
    padding="full",
    text='depthwise_conv2d: padding must be "valid" or "same"; got "full".',
)
families.edges(
    K.depthwise_conv2d,
    oracles.depthwise_conv,
    [rand(2, 23, 29, 11), rand(3, 3, 11, 2)],
    [rand(1, 1, 1, 1), rand(1, 1, 1, 1)],
    tol={"float32": 1e-5},
)
# Padding that differs on the two sides.
for data_format in ("channels_last", "channels_first"):
    for rows, cols, size, strides in [(6, 8, 3, 2), (5, 6, 2, 1), (6, 3, 4, 1), (2, 6, 5, 3)]:
        shape = (2, rows, cols, 3) if data_format == "channels_last" else (2, 3, rows, cols)
        case(
            K.depthwise_conv2d,
            [rand(*shape), rand(size, size, 3, 2)],
            strides=(strides, strides),
            padding="same",
            data_format=data_format,
            oracle=oracles.depthwise_conv,
            none=False,
            tol={"float32": 1e-5},
        )


families.does_not_meet_what_lies_between_taps(
    lambda x, k: K.depthwise_conv2d(
        x, k, padding="same", dilation_rate=(2, 3), data_format="channels_last"
    ),
    (2, 7, 9, 3),
    (2, 2, 3, 2),
)
