"""deconv2d: the old form of conv2d_transpose."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand


def oracle(x, kernel, output_shape, strides=(1, 1), border_mode="valid", dim_ordering="th"):
    """Kernels are (out, in, rows, cols) for "th" and (rows, cols, in, out) for "tf"."""
    kernel = np.transpose(kernel, (2, 3, 0, 1) if dim_ordering == "th" else (0, 1, 3, 2))
    data_format = {"th": "channels_first", "tf": "channels_last"}[dim_ordering]
    return oracles.conv_transpose(x, kernel, output_shape, strides, border_mode, data_format)


case(
    K.deconv2d,
    [rand(2, 3, 3, 4), rand(5, 3, 3, 3).known()],
    output_shape=(2, 5, 5, 6),
    oracle=oracle,
    second=True,
)
case(
    K.deconv2d,
    [rand(2, 3, 4, 3), rand(3, 3, 3, 5).known()],
    output_shape=(2, 6, 8, 5),
    strides=(2, 2),
    border_mode="same",
    dim_ordering="tf",
    oracle=oracle,
)
error(
    K.deconv2d,
    [rand(2, 3, 4, 3), rand(3, 3, 3, 5)],
    output_shape=(2, 6, 8, 5),
    dim_ordering="channels_last",
    text='deconv2d: dim_ordering must be "tf" or "th"; got \'channels_last\'.',
)
families.edges(
    K.deconv2d,
    oracle,
    [rand(1, 11, 23, 29), rand(5, 11, 3, 3)],
    output_shape=(1, 5, 25, 31),
    tol={"float32": 1e-5},
)
families.edges(K.deconv2d, oracle, [rand(0, 3, 3, 4), rand(5, 3, 3, 3)], output_shape=(0, 5, 5, 6))
