"""separable_conv2d: each channel by itself, then channels mixed."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for padding in ("valid", "same"):
        for rows, cols, size, strides, dilation in [
            (5, 6, (3, 3), (1, 1), (1, 1)),
            (7, 6, (3, 2), (2, 2), (1, 1)),
            (7, 7, (2, 2), (1, 1), (2, 2)),
        ]:
            case(
                K.separable_conv2d,
                [
                    rand(2, 3, rows, cols)
                    if data_format == "channels_first"
                    else rand(2, rows, cols, 3),
                    rand(*size, 3, 2).known(),
                    rand(1, 1, 6, 4).known(),
                ],
                strides=strides,
                padding=padding,
                data_format=data_format,
                dilation_rate=dilation,
                oracle=oracles.separable_conv,
                second=rows == 5,
            )
case(
    K.separable_conv2d,
    [rand(2, 5, 5, 3).known(1, 2, 3), rand(3, 3, 3, 2).known(), rand(1, 1, 6, 4).known()],
    oracle=oracles.separable_conv,
    none=(None, 3, 3, 4),
)
error(
    K.separable_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 2), rand(1, 1, 5, 4)],
    text="separable_conv2d: depthwise_kernel of shape (3, 3, 3, 2) gives 6 channels but pointwise_kernel takes 5 "
    "(shape (1, 1, 5, 4)).",
)
error(
    K.separable_conv2d,
    [rand(2, 5, 5, 3), rand(3, 3, 3, 2), rand(1, 1, 6, 4)],
    data_format="channels_middle",
    text='separable_conv2d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
families.edges(
    K.separable_conv2d,
    oracles.separable_conv,
    [rand(2, 23, 29, 11), rand(3, 3, 11, 2), rand(1, 1, 22, 5)],
    [rand(0, 5, 5, 3), rand(3, 3, 3, 2), rand(1, 1, 6, 4)],
    tol={"float32": 1e-5},
)


families.does_not_meet_what_lies_between_taps(
    lambda x, d, p: K.separable_conv2d(
        x, d, p, padding="same", dilation_rate=(2, 2), data_format="channels_last"
    ),
    (1, 6, 7, 3),
    (2, 2, 3, 1),
    (1, 1, 3, 2),
)
