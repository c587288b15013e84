"""conv1d: convolution along one axis."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand


def data_of(steps, channels, data_format, samples=2):
    return (
        rand(samples, channels, steps)
        if data_format == "channels_first"
        else rand(samples, steps, channels)
    )


for padding, data_format in [
    ("valid", "channels_last"),
    ("same", "channels_last"),
    ("causal", "channels_last"),
    ("valid", "channels_first"),
    ("same", "channels_first"),
]:
    for steps, size, strides, dilation in [
        (7, 3, 1, 1),
        (8, 3, 2, 1),
        (9, 2, 1, 2),
        (7, 3, 1, 2),
        (5, 1, 1, 1),
        (11, 4, 3, 1),
    ]:
        case(
            K.conv1d,
            [data_of(steps, 3, data_format), rand(size, 3, 4).known()],
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation,
            oracle=oracles.conv,
            second=(steps, size) == (7, 3),
        )
# Strides and dilation at once; a kernel that is as long as x, or longer than it.
case(
    K.conv1d,
    [rand(2, 12, 3), rand(3, 3, 2).known()],
    strides=2,
    dilation_rate=2,
    padding="causal",
    oracle=oracles.conv,
)
case(K.conv1d, [rand(2, 3, 2), rand(3, 2, 4).known()], oracle=oracles.conv)
case(K.conv1d, [rand(2, 2, 2), rand(5, 2, 4).known()], padding="same", oracle=oracles.conv)
case(K.conv1d, [rand(1, 1, 1), rand(1, 1, 1).known()], oracle=oracles.conv)
case(K.conv1d, [rand(0, 7, 3), rand(3, 3, 4).known()], oracle=oracles.conv)
case(
    K.conv1d,
    [rand(3, 67, 17), rand(5, 17, 19).known()],
    oracle=oracles.conv,
    grad=False,
    tol={"float32": 1e-5},
)
case(
    K.conv1d,
    [rand(2, 7, 3), rand(3, 3, 4).known()],
    oracle=oracles.conv,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
case(
    K.conv1d,
    [rand(2, 7, 3).known(1, 2), rand(3, 3, 4).known()],
    padding="same",
    oracle=oracles.conv,
    none=(None, 7, 4),
)
error(
    K.conv1d,
    [rand(2, 7, 3), rand(3, 3, 4)],
    padding="full",
    text='conv1d: padding must be "valid", "same" or "causal"; got "full".',
)
error(
    K.conv1d,
    [rand(2, 3, 7), rand(3, 3, 4)],
    padding="causal",
    data_format="channels_first",
    text='conv1d: data_format must be "channels_last" with causal padding; got "channels_first".',
)
error(
    K.conv1d,
    [rand(2, 7, 3), rand(3, 3)],
    text="conv1d: kernel must have 3 dimensions (steps, in, out); got shape (3, 3).",
)
error(
    K.conv1d,
    [rand(2, 7, 3), rand(3, 2, 4)],
    text="conv1d: x has 3 channels (shape (2, 7, 3), channels_last) but kernel takes 2 (shape (3, 2, 4)).",
)
error(
    K.conv1d,
    [rand(2, 3, 3), rand(5, 3, 4)],
    text='conv1d: windows of 5 elements do not fit on axis 1 of x of shape (2, 3, 3) with padding "valid".',
)
families.edges(
    K.conv1d,
    oracles.conv,
    [rand(2, 211, 31), rand(5, 31, 7)],
    [rand(1, 1, 1), rand(1, 1, 1)],
    padding="same",
    tol={"float32": 1e-5},
)
