"""Changing shapes: joining, repeating, padding, resizing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horngate.typing import DataFormat, DType, Interpolation, Shape, Tensor, TensorLike


def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor:
    """Puts tensors one after the other along an axis.

    Args:
        tensors: list of tensors.
        axis: axis.

    Example:
        >>> K.eval(K.concatenate([K.constant([1.]), K.constant([2., 3.])]))
        array([1., 2., 3.], dtype=float32)
    """
    return _hg.concatenate(list(tensors), axis)


def stack(x: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """Puts tensors side by side along a new axis.

    Args:
        x: list of tensors.
        axis: place of the new axis.

    Example:
        >>> K.eval(K.stack([K.constant([1., 2.]), K.constant([3., 4.])], axis=1))
        array([[1., 3.],
               [2., 4.]], dtype=float32)
    """
    return _hg.stack(list(x), axis)


def reshape(x: TensorLike, shape: Shape) -> Tensor:
    """Gives the same elements in the same order under another shape.

    Args:
        x: tensor.
        shape: integers or scalar tensors; one may be -1: what is left.

    Example:
        >>> K.int_shape(K.reshape(K.placeholder((None, 4, 6)), (-1, 24)))
        (None, 24)
    """
    return _hg.reshape(x, shape)


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    """Reorders axes: axis i of the result is axis pattern[i] of x.

    Args:
        x: tensor.
        pattern: numbers of axes.

    Example:
        >>> K.int_shape(K.permute_dimensions(K.placeholder((2, 3, 4)), (0, 2, 1)))
        (2, 4, 3)
    """
    return _hg.permute_dimensions(x, pattern)


def resize_images(
    x: TensorLike,
    height_factor: int,
    width_factor: int,
    data_format: DataFormat,
    interpolation: Interpolation = "nearest",
) -> Tensor:
    """Enlarges images by whole factors.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        height_factor, width_factor: positive integers.
        data_format: "channels_last" or "channels_first".
        interpolation: "nearest" or "bilinear".

    Example:
        >>> K.int_shape(K.resize_images(K.zeros((1, 2, 3, 1)), 2, 3, "channels_last"))
        (1, 4, 9, 1)
    """
    return _hg.resize_images(x, height_factor, width_factor, data_format, interpolation)


def resize_volumes(
    x: TensorLike, depth_factor: int, height_factor: int, width_factor: int, data_format: DataFormat
) -> Tensor:
    """Enlarges volumes by whole factors; elements are repeated.

    Args:
        x: tensor (samples, depth, rows, cols, channels), or channels_first.
        depth_factor, height_factor, width_factor: positive integers.
        data_format: "channels_last" or "channels_first".

    Example:
        >>> K.int_shape(K.resize_volumes(K.zeros((1, 1, 2, 3, 1)), 2, 2, 2, "channels_last"))
        (1, 2, 4, 6, 1)
    """
    return _hg.resize_volumes(x, depth_factor, height_factor, width_factor, data_format)


def repeat_elements(x: TensorLike, rep: int, axis: int) -> Tensor:
    """Repeats each element along an axis, as numpy.repeat.

    Args:
        x: tensor.
        rep: how often.
        axis: axis.

    Example:
        >>> K.eval(K.repeat_elements(K.constant([1., 2.]), 2, axis=0))
        array([1., 1., 2., 2.], dtype=float32)
    """
    return _hg.repeat_elements(x, rep, axis)


def repeat(x: TensorLike, n: int) -> Tensor:
    """Repeats each row of a matrix along a new middle axis.

    Args:
        x: tensor (samples, dim).
        n: how often.

    Example:
        >>> K.int_shape(K.repeat(K.placeholder((None, 3)), 5))
        (None, 5, 3)
    """
    return _hg.repeat(x, n)


def arange(
    start: TensorLike, stop: TensorLike | None = None, step: TensorLike = 1, dtype: DType = "int32"
) -> Tensor:
    """Counts, as numpy.arange.

    Args:
        start: first number; the stop when it stands alone.
        stop: end, not included.
        step: distance.
        dtype: element type.

    Example:
        >>> K.eval(K.arange(2, 8, 3))
        array([2, 5], dtype=int32)
    """
    return _hg.arange(start, stop, step, dtype)


def tile(x: TensorLike, n: Shape | int) -> Tensor:
    """Repeats all of a tensor along its axes.

    Args:
        x: tensor.
        n: how often, one entry for each axis; a shorter list counts for the last axes.

    Example:
        >>> K.eval(K.tile(K.constant([1., 2.]), [2]))
        array([1., 2., 1., 2.], dtype=float32)
    """
    return _hg.tile(x, n)


def flatten(x: TensorLike) -> Tensor:
    """Puts all elements on one axis.

    Args:
        x: tensor.

    Example:
        >>> K.int_shape(K.flatten(K.placeholder((2, 3))))
        (6,)
    """
    return _hg.flatten(x)


def batch_flatten(x: TensorLike) -> Tensor:
    """Keeps the first axis and makes one of all others.

    Args:
        x: tensor.

    Example:
        >>> K.int_shape(K.batch_flatten(K.placeholder((None, 3, 4))))
        (None, 12)
    """
    return _hg.batch_flatten(x)


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """Adds an axis of size 1.

    Args:
        x: tensor.
        axis: its place in the result.

    Example:
        >>> K.int_shape(K.expand_dims(K.placeholder((2, 3)), 1))
        (2, 1, 3)
    """
    return _hg.expand_dims(x, axis)


def squeeze(x: TensorLike, axis: int) -> Tensor:
    """Drops an axis of size 1.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.int_shape(K.squeeze(K.placeholder((2, 1, 3)), 1))
        (2, 3)
    """
    return _hg.squeeze(x, axis)


def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Puts zeros before and after the middle axis.

    Args:
        x: tensor (samples, steps, channels).
        padding: how many before and after.

    Example:
        >>> K.int_shape(K.temporal_padding(K.zeros((2, 5, 3)), (2, 1)))
        (2, 8, 3)
    """
    return _hg.temporal_padding(x, padding)


def spatial_2d_padding(
    x: TensorLike,
    padding: Sequence[Sequence[int]] = ((1, 1), (1, 1)),
    data_format: DataFormat | None = None,
) -> Tensor:
    """Puts zeros around rows and columns.

    Args:
        x: tensor (samples, rows, cols, channels), or channels_first.
        padding: pairs (before, after) for rows and columns.
        data_format: "channels_last" or "channels_first"; None: image_data_format().

    Example:
        >>> K.int_shape(K.spatial_2d_padding(K.zeros((1, 4, 5, 3)), ((1, 1), (0, 2))))
        (1, 6, 7, 3)
    """
    return _hg.spatial_2d_padding(x, padding, data_format)


def spatial_3d_padding(
    x: TensorLike,
    padding: Sequence[Sequence[int]] = ((1, 1), (1, 1), (1, 1)),
    data_format: DataFormat | None = None,
) -> Tensor:
    """Puts zeros around depth, rows and columns.

    Args:
        x: tensor (samples, depth, rows, cols, channels), or channels_first.
        padding: pairs (before, after) for depth, rows and columns.
        data_format: "channels_last" or "channels_first"; None: image_data_format().

    Example:
        >>> K.int_shape(K.spatial_3d_padding(K.zeros((1, 2, 4, 5, 3))))
        (1, 4, 6, 7, 3)
    """
    return _hg.spatial_3d_padding(x, padding, data_format)


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    """Adds a last axis that is 1 at the index and 0 elsewhere.

    Args:
        indices: integer tensor.
        num_classes: size of the new axis.

    Example:
        >>> K.eval(K.one_hot([0, 2], 3))
        array([[1., 0., 0.],
               [0., 0., 1.]], dtype=float32)
    """
    return _hg.one_hot(indices, num_classes)


def reverse(x: TensorLike, axes: int | Sequence[int]) -> Tensor:
    """Turns a tensor backwards along axes.

    Args:
        x: tensor.
        axes: axis, or several.

    Example:
        >>> K.eval(K.reverse(K.constant([1., 2., 3.]), 0))
        array([3., 2., 1.], dtype=float32)
    """
    return _hg.reverse(x, axes)


def slice(x: TensorLike, start: Shape, size: Shape) -> Tensor:
    """Cuts a block out of a tensor.

    Args:
        x: tensor.
        start: where it begins on each axis.
        size: how many elements on each axis; -1: what is left.

    Example:
        >>> K.eval(K.slice(K.constant([[1., 2., 3.], [4., 5., 6.]]), [0, 1], [2, 2]))
        array([[2., 3.],
               [5., 6.]], dtype=float32)
    """
    return _hg.slice(x, start, size)
