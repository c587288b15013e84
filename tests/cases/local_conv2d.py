"""local_conv2d: another kernel at each position."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for rows, cols, size, strides in [
        (4, 5, (2, 3), (1, 1)),
        (5, 6, (3, 2), (2, 2)),
        (3, 3, (1, 1), (1, 1)),
        (3, 4, (3, 4), (1, 1)),
    ]:
        result = ((rows - size[0]) // strides[0] + 1, (cols - size[1]) // strides[1] + 1)
        shape = (2, 2, rows, cols) if data_format == "channels_first" else (2, rows, cols, 2)
        case(
            K.local_conv2d,
            [rand(*shape), rand(result[0] * result[1], size[0] * size[1] * 2, 3).known()],
            kernel_size=size,
            strides=strides,
            output_shape=result,
            data_format=data_format,
            oracle=oracles.local_conv,
            second=rows == 4,
        )
ONE = {"kernel_size": (2, 2), "strides": (1, 1), "output_shape": (3, 3)}
case(K.local_conv2d, [rand(0, 4, 4, 2), rand(9, 8, 5).known()], **ONE, oracle=oracles.local_conv)
case(
    K.local_conv2d,
    [rand(2, 4, 4, 2).known(1, 2, 3), rand(9, 8, 5).known()],
    **ONE,
    oracle=oracles.local_conv,
    none=(None, 3, 3, 5),
)
case(
    K.local_conv2d,
    [rand(2, 4, 4, 2), rand(9, 8, 5).known()],
    **ONE,
    oracle=oracles.local_conv,
    dtypes=("float16",),
    tol=0.02,
)
error(
    K.local_conv2d,
    [rand(2, 4, 4, 2), rand(8, 8, 5)],
    **ONE,
    text="local_conv2d: kernel must have 9 positions; got shape (8, 8, 5).",
)
error(
    K.local_conv2d,
    [rand(2, 3, 4, 2), rand(9, 8, 5)],
    **ONE,
    text="local_conv2d: the last of 3 windows ends at 4, beyond axis 1 of inputs of shape (2, 3, 4, 2).",
)
error(
    K.local_conv2d,
    [rand(2, 4, 4, 2), rand(9, 8, 5)],
    **ONE,
    data_format="channels_middle",
    text='local_conv2d: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)
families.edges(
    K.local_conv2d,
    oracles.local_conv,
    [rand(3, 31, 37, 3), rand(30 * 36, 12, 2)],
    kernel_size=(2, 2),
    strides=(1, 1),
    output_shape=(30, 36),
    tol={"float32": 1e-5},
)
