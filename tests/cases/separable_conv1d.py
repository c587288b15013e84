"""separable_conv1d: each channel by itself, then channels mixed."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for padding in ("valid", "same"):
        for steps, size, strides, dilation in [(7, 3, 1, 1), (8, 2, 2, 1), (9, 3, 1, 2)]:
            case(
                K.separable_conv1d,
                [
                    rand(2, 3, steps) if data_format == "channels_first" else rand(2, steps, 3),
                    rand(size, 3, 2).known(),
                    rand(1, 6, 4).known(),
                ],
                strides=strides,
                padding=padding,
                data_format=data_format,
                dilation_rate=dilation,
                oracle=oracles.separable_conv,
                second=steps == 7,
            )
case(
    K.separable_conv1d,
    [rand(2, 7, 3).known(1, 2), rand(3, 3, 2).known(), rand(1, 6, 4).known()],
    oracle=oracles.separable_conv,
    none=(None, 5, 4),
)
error(
    K.separable_conv1d,
    [rand(2, 7, 3), rand(3, 3, 2), rand(1, 5, 4)],
    text="separable_conv1d: depthwise_kernel of shape (3, 3, 2) gives 6 channels but pointwise_kernel takes 5 (shape "
    "(1, 5, 4)).",
)
error(
    K.separable_conv1d,
    [rand(2, 7, 3), rand(3, 3, 2), rand(2, 6, 4)],
    text="separable_conv1d: pointwise_kernel must have dimensions (1, in * multiplier, out); got shape (2, 6, 4).",
)
error(
    K.separable_conv1d,
    [rand(2, 7, 3), rand(3, 3, 2), rand(1, 6, 4)],
    padding="causal",
    text='separable_conv1d: padding must be "valid" or "same"; got "causal".',
)
families.edges(
    K.separable_conv1d,
    oracles.separable_conv,
    [rand(2, 211, 31), rand(3, 31, 2), rand(1, 62, 5)],
    [rand(0, 7, 3), rand(3, 3, 2), rand(1, 6, 4)],
    tol={"float32": 1e-5},
)
# Padding that differs on the two sides.
for steps, size, strides in [(6, 3, 2), (9, 2, 4), (6, 5, 2), (7, 2, 1)]:
    case(
        K.separable_conv1d,
        [rand(2, steps, 4), rand(size, 4, 2), rand(1, 8, 3)],
        strides=strides,
        padding="same",
        oracle=oracles.separable_conv,
        none=False,
        tol={"float32": 1e-5},
    )
