"""conv3d: convolution along three axes."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for padding in ("valid", "same"):
        for sizes, size, strides, dilation in [
            ((4, 5, 4), (2, 3, 2), (1, 1, 1), (1, 1, 1)),
            ((5, 4, 6), (3, 2, 2), (2, 1, 2), (1, 1, 1)),
            ((5, 5, 5), (2, 2, 2), (1, 1, 1), (2, 1, 2)),
            ((3, 2, 4), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        ]:
            shape = (2, 2, *sizes) if data_format == "channels_first" else (2, *sizes, 2)
            case(
                K.conv3d,
                [rand(*shape), rand(*size, 2, 3).known()],
                strides=strides,
                padding=padding,
                data_format=data_format,
                dilation_rate=dilation,
                oracle=oracles.conv,
                second=sizes == (4, 5, 4),
            )
# Windows longer than the image: oneDNN's kernel gradients are wrong there, in native and in TensorFlow.
for sizes, size, strides in [
    ((7, 1, 1), (7, 1, 1), (2, 1, 1)),
    ((7, 5, 5), (7, 4, 4), (2, 1, 2)),
    ((4, 3, 2), (3, 2, 8), (1, 2, 1)),
]:
    case(
        K.conv3d,
        [rand(3, *sizes, 3), rand(*size, 3, 8).known()],
        strides=strides,
        padding="same",
        oracle=oracles.conv,
    )
case(K.conv3d, [rand(0, 3, 3, 3, 2), rand(2, 2, 2, 2, 3).known()], oracle=oracles.conv)
case(
    K.conv3d,
    [rand(1, 4, 4, 4, 2), rand(2, 2, 2, 2, 3).known()],
    oracle=oracles.conv,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(
    K.conv3d,
    [rand(1, 4, 5, 6, 2).known(1, 2, 3, 4), rand(2, 2, 2, 2, 3).known()],
    oracle=oracles.conv,
    none=(None, 3, 4, 5, 3),
)
error(
    K.conv3d,
    [rand(1, 4, 5, 6, 2), rand(2, 2, 2, 3)],
    text="conv3d: kernel must have 5 dimensions (d1, d2, d3, in, out); got shape (2, 2, 2, 3).",
)
error(
    K.conv3d,
    [rand(1, 4, 5, 6, 2), rand(2, 2, 2, 3, 3)],
    text="conv3d: x has 2 channels (shape (1, 4, 5, 6, 2), channels_last) but kernel takes 3 (shape (2, 2, 2, 3, 3)).",
)
error(
    K.conv3d,
    [rand(1, 4, 5, 6, 2), rand(2, 2, 2, 2, 3)],
    padding="causal",
    text='conv3d: padding must be "valid" or "same"; got "causal".',
)
families.edges(
    K.conv3d,
    oracles.conv,
    [rand(1, 11, 13, 17, 5), rand(3, 2, 3, 5, 7)],
    [rand(1, 1, 1, 1, 1), rand(1, 1, 1, 1, 1)],
    padding="same",
    tol={"float32": 1e-5},
)
# Strides that leave elements out.
for sizes, size, strides in [
    ((5, 4, 2), (2, 2, 4), (3, 4, 1)),
    ((4, 2, 3), (3, 2, 1), (3, 1, 3)),
    ((4, 3, 2), (3, 1, 3), (4, 4, 4)),
]:
    case(
        K.conv3d,
        [rand(2, *sizes, 2), rand(*size, 2, 3)],
        strides=strides,
        padding="same",
        oracle=oracles.conv,
        none=False,
        tol={"float32": 1e-5},
    )
# One window along the last axis, and one channel.
for sizes, size, strides in [((3, 4, 2), (3, 3, 2), (3, 1, 3)), ((1, 5, 3), (3, 4, 4), (3, 1, 4))]:
    case(
        K.conv3d,
        [rand(3, *sizes, 1), rand(*size, 1, 2)],
        strides=strides,
        padding="same",
        oracle=oracles.conv,
        none=False,
        tol={"float32": 1e-5},
    )


families.does_not_meet_what_lies_between_taps(
    lambda x, k: K.conv3d(
        x, k, padding="same", dilation_rate=(2, 1, 3), data_format="channels_last"
    ),
    (2, 5, 4, 7, 2),
    (2, 2, 2, 2, 3),
)
