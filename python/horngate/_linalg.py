"""Products, transpose and lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horngate.typing import Tensor, TensorLike


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """Multiplies over the last axis of x and the second to last of y; the product of matrices.

    Args:
        x: tensor; a matrix may be sparse.
        y: tensor.

    Example:
        >>> K.int_shape(K.dot(K.placeholder((32, 28, 3)), K.placeholder((3, 4))))
        (32, 28, 4)
    """
    return _hg.dot(x, y)


def batch_dot(x: TensorLike, y: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """Multiplies sample by sample over one axis of each.

    Args:
        x, y: tensors of two or more axes, the first being the samples.
        axes: the axis of both, or a pair; None: the last of x and the second to last of y.

    Example:
        >>> x, y = K.ones((32, 20, 1)), K.ones((32, 30, 20))
        >>> K.int_shape(K.batch_dot(x, y, axes=[1, 2]))
        (32, 1, 30)
    """
    return _hg.batch_dot(x, y, axes)


def transpose(x: TensorLike) -> Tensor:
    """Reverses the order of the axes.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.transpose(K.variable([[1, 2, 3], [4, 5, 6]])))
        array([[1., 4.],
               [2., 5.],
               [3., 6.]], dtype=float32)
    """
    return _hg.transpose(x)


def gather(reference: TensorLike, indices: TensorLike) -> Tensor:
    """Looks up entries along the first axis.

    Args:
        reference: tensor.
        indices: integer tensor of positions.

    Example:
        >>> K.eval(K.gather(K.constant([10., 20., 30.]), [2, 0]))
        array([30., 10.], dtype=float32)
    """
    return _hg.gather(reference, indices)
