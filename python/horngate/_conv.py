"""Convolution and pooling. Kernels are (spatial.., in, out) for both data formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from horngate.typing import (
        DataFormat,
        Ints,
        Padding,
        Padding1D,
        PoolMode,
        Shape,
        Tensor,
        TensorLike,
    )


def conv1d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = 1,
    padding: Padding1D = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = 1,
) -> Tensor:
    """Convolves along one axis.

    Args:
        x: tensor (samples, steps, channels), or channels_first.
        kernel: tensor (steps, in, out).
        strides: step of the window.
        padding: "valid", "same" or "causal": output t sees inputs up to t only.
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distance between the taps of the kernel.

    Example:
        >>> K.int_shape(K.conv1d(K.zeros((1, 8, 3)), K.zeros((3, 3, 5)), padding="causal"))
        (1, 8, 5)
    """
    return _hg.conv1d(x, kernel, strides, padding, data_format, dilation_rate)


def conv2d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor:
    """Convolves along two axes.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        kernel: tensor (rows, cols, in, out).
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distances between the taps of the kernel.

    Example:
        >>> x, kernel = K.placeholder((None, 28, 28, 1)), K.zeros((3, 3, 1, 8))
        >>> K.int_shape(K.conv2d(x, kernel, strides=(2, 2), padding="same"))
        (None, 14, 14, 8)
    """
    return _hg.conv2d(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(
    x: TensorLike,
    kernel: TensorLike,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1, 1),
) -> Tensor:
    """Convolves along three axes.

    Args:
        x: tensor (samples, depth, rows, cols, channels), or channels_first.
        kernel: tensor (depth, rows, cols, in, out).
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distances between the taps of the kernel.

    Example:
        >>> K.int_shape(K.conv3d(K.zeros((1, 4, 5, 6, 2)), K.zeros((2, 2, 2, 2, 3))))
        (1, 3, 4, 5, 3)
    """
    return _hg.conv3d(x, kernel, strides, padding, data_format, dilation_rate)


def conv2d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor:
    """Takes the transpose of `conv2d`: from what it gives to what it takes.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        kernel: tensor (rows, cols, out, in).
        output_shape: whole shape of the result; None for the samples: those of x.
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distances between the taps of the kernel.

    Example:
        >>> x, kernel = K.zeros((1, 4, 4, 2)), K.zeros((3, 3, 5, 2))
        >>> K.int_shape(K.conv2d_transpose(x, kernel, (1, 8, 8, 5), strides=(2, 2), padding="same"))
        (1, 8, 8, 5)
    """
    return _hg.conv2d_transpose(
        x, kernel, output_shape, strides, padding, data_format, dilation_rate
    )


def conv3d_transpose(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
) -> Tensor:
    """Takes the transpose of `conv3d`.

    Args:
        x: tensor (samples, depth, rows, cols, channels), or channels_first.
        kernel: tensor (depth, rows, cols, out, in).
        output_shape: whole shape of the result; None for the samples: those of x.
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().

    Example:
        >>> x, kernel = K.zeros((1, 2, 2, 2, 1)), K.zeros((2, 2, 2, 3, 1))
        >>> K.int_shape(K.conv3d_transpose(x, kernel, (1, 3, 3, 3, 3)))
        (1, 3, 3, 3, 3)
    """
    return _hg.conv3d_transpose(x, kernel, output_shape, strides, padding, data_format)


def depthwise_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor:
    """Convolves each channel with kernels of its own.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        depthwise_kernel: tensor (rows, cols, in, multiplier).
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distances between the taps of the kernel.

    Example:
        >>> K.int_shape(K.depthwise_conv2d(K.zeros((1, 5, 5, 3)), K.zeros((3, 3, 3, 2))))
        (1, 3, 3, 6)
    """
    return _hg.depthwise_conv2d(x, depthwise_kernel, strides, padding, data_format, dilation_rate)


def separable_conv1d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Ints = 1,
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = 1,
) -> Tensor:
    """Convolves each channel by itself, then mixes channels.

    Args:
        x: tensor (samples, steps, channels), or channels_first.
        depthwise_kernel: tensor (steps, in, multiplier).
        pointwise_kernel: tensor (1, in * multiplier, out).
        strides: step of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distance between the taps of the kernel.

    Example:
        >>> x, depthwise, pointwise = K.zeros((1, 8, 3)), K.zeros((3, 3, 2)), K.zeros((1, 6, 4))
        >>> K.int_shape(K.separable_conv1d(x, depthwise, pointwise))
        (1, 6, 4)
    """
    return _hg.separable_conv1d(
        x, depthwise_kernel, pointwise_kernel, strides, padding, data_format, dilation_rate
    )


def separable_conv2d(
    x: TensorLike,
    depthwise_kernel: TensorLike,
    pointwise_kernel: TensorLike,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    dilation_rate: Ints = (1, 1),
) -> Tensor:
    """Convolves each channel by itself, then mixes channels.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        depthwise_kernel: tensor (rows, cols, in, multiplier).
        pointwise_kernel: tensor (1, 1, in * multiplier, out).
        strides: steps of the window.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        dilation_rate: distances between the taps of the kernel.

    Example:
        >>> x, depthwise = K.zeros((1, 5, 5, 3)), K.zeros((3, 3, 3, 2))
        >>> pointwise = K.zeros((1, 1, 6, 4))
        >>> K.int_shape(K.separable_conv2d(x, depthwise, pointwise))
        (1, 3, 3, 4)
    """
    return _hg.separable_conv2d(
        x, depthwise_kernel, pointwise_kernel, strides, padding, data_format, dilation_rate
    )


def local_conv1d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Ints,
    strides: Ints,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Convolves with another kernel at each position, without padding.

    Args:
        inputs: tensor (samples, steps, channels).
        kernel: tensor (output steps, kernel_size * channels, filters).
        kernel_size: length of the window, as a tuple of one integer.
        strides: step of the window, as a tuple of one integer.
        data_format: checked, not used.

    Example:
        >>> K.int_shape(K.local_conv1d(K.zeros((1, 8, 3)), K.zeros((6, 9, 4)), (3,), (1,)))
        (1, 6, 4)
    """
    return _hg.local_conv1d(inputs, kernel, kernel_size, strides, data_format)


def local_conv2d(
    inputs: TensorLike,
    kernel: TensorLike,
    kernel_size: Ints,
    strides: Ints,
    output_shape: Shape,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Convolves with another kernel at each position, without padding.

    Args:
        inputs: tensor (samples, rows, cols, channels), or channels_first.
        kernel: tensor (output rows * cols, size of a window, filters).
        kernel_size: rows and columns of the window.
        strides: steps of the window.
        output_shape: rows and columns of the result.
        data_format: "channels_last" or "channels_first"; None: image_data_format().

    Example:
        >>> x, kernel = K.zeros((1, 4, 4, 2)), K.zeros((9, 8, 5))
        >>> K.int_shape(K.local_conv2d(x, kernel, (2, 2), (1, 1), (3, 3)))
        (1, 3, 3, 5)
    """
    return _hg.local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format)


def pool2d(
    x: TensorLike,
    pool_size: Ints,
    strides: Ints = (1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor:
    """Takes the largest or the mean value of each window of rows and columns.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        pool_size: rows and columns of the window.
        strides: steps of the window.
        padding: "valid" or "same"; what is padded counts in no mean.
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        pool_mode: "max" or "avg".

    Example:
        >>> K.int_shape(K.pool2d(K.zeros((1, 6, 6, 3)), (2, 2), strides=(2, 2)))
        (1, 3, 3, 3)
    """
    return _hg.pool2d(x, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: TensorLike,
    pool_size: Ints,
    strides: Ints = (1, 1, 1),
    padding: Padding = "valid",
    data_format: DataFormat | None = None,
    pool_mode: PoolMode = "max",
) -> Tensor:
    """Takes the largest or the mean value of each window of depth, rows and columns.

    Args:
        x: tensor (samples, depth, rows, cols, channels), or channels_first.
        pool_size: depth, rows and columns of the window.
        strides: steps of the window.
        padding: "valid" or "same"; what is padded counts in no mean.
        data_format: "channels_last" or "channels_first"; None: image_data_format().
        pool_mode: "max" or "avg".

    Example:
        >>> K.int_shape(K.pool3d(K.zeros((1, 4, 4, 4, 2)), (2, 2, 2), strides=(2, 2, 2)))
        (1, 2, 2, 2, 2)
    """
    return _hg.pool3d(x, pool_size, strides, padding, data_format, pool_mode)
