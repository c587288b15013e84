"""conv3d_transpose: from what conv3d gives to what it takes."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand

for data_format in ("channels_last", "channels_first"):
    for sizes, size, strides, padding, result in [
        ((2, 3, 2), (2, 2, 2), (1, 1, 1), "valid", (3, 4, 3)),
        ((2, 3, 2), (3, 2, 3), (2, 2, 1), "same", (4, 6, 2)),
        ((2, 2, 2), (2, 3, 2), (2, 1, 2), "valid", (4, 4, 5)),
        ((2, 3, 2), (3, 3, 3), (2, 2, 2), "same", (3, 5, 4)),
    ]:
        first = data_format == "channels_first"
        case(
            K.conv3d_transpose,
            [rand(*((2, 2, *sizes) if first else (2, *sizes, 2))), rand(*size, 3, 2).known()],
            output_shape=(2, 3, *result) if first else (2, *result, 3),
            strides=strides,
            padding=padding,
            data_format=data_format,
            oracle=oracles.conv_transpose,
            second=strides == (1, 1, 1),
        )
case(
    K.conv3d_transpose,
    [rand(2, 2, 2, 2, 1).known(1, 2, 3, 4), rand(2, 2, 2, 3, 1).known()],
    output_shape=(None, 3, 3, 3, 3),
    oracle=oracles.conv_transpose,
    none=(None, 3, 3, 3, 3),
)
error(
    K.conv3d_transpose,
    [rand(1, 2, 2, 2, 1), rand(2, 2, 3, 1)],
    output_shape=(1, 3, 3, 3, 3),
    text="conv3d_transpose: kernel must have 5 dimensions (d1, d2, d3, out, in); got shape (2, 2, 3, 1).",
)
families.edges(
    K.conv3d_transpose,
    oracles.conv_transpose,
    [rand(1, 11, 13, 17, 5), rand(2, 2, 2, 3, 5)],
    output_shape=(1, 12, 14, 18, 3),
    tol={"float32": 1e-5},
)
families.edges(
    K.conv3d_transpose,
    oracles.conv_transpose,
    [rand(0, 2, 2, 2, 1), rand(2, 2, 2, 3, 1)],
    output_shape=(0, 3, 3, 3, 3),
)
