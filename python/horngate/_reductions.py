"""Functions along axes: reductions, running sums, positions of the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horngate.typing import Tensor, TensorLike


def max(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Takes the largest element along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.max(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([2., 4.], dtype=float32)
    """
    return _hg.max(x, axis, keepdims)


def min(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Takes the smallest element along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.min(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([1., 3.], dtype=float32)
    """
    return _hg.min(x, axis, keepdims)


def sum(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Adds along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.sum(K.constant([[1., 2.], [3., 4.]]), axis=1, keepdims=True))
        array([[3.],
               [7.]], dtype=float32)
    """
    return _hg.sum(x, axis, keepdims)


def prod(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Multiplies along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.prod(K.constant([[1., 2.], [3., 4.]]), axis=1))
        array([ 2., 12.], dtype=float32)
    """
    return _hg.prod(x, axis, keepdims)


def mean(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Takes the arithmetic mean along axes.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.mean(K.constant([[1., 2.], [3., 4.]])))
        np.float32(2.5)
    """
    return _hg.mean(x, axis, keepdims)


def var(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Takes the variance along axes, divided by n, not n - 1.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.var(K.constant([[1., 2.], [3., 4.]]), axis=0))
        array([1., 1.], dtype=float32)
    """
    return _hg.var(x, axis, keepdims)


def std(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Takes the standard deviation along axes, the square root of `var`.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.std(K.constant([[1., 2.], [3., 4.]]), axis=0))
        array([1., 1.], dtype=float32)
    """
    return _hg.std(x, axis, keepdims)


def any(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Tells whether one element along axes is not 0.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.any(K.constant([[0, 1], [0, 0]]), axis=1))
        array([ True, False])
    """
    return _hg.any(x, axis, keepdims)


def all(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """Tells whether no element along axes is 0.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.all(K.constant([[1, 1], [0, 1]]), axis=1))
        array([ True, False])
    """
    return _hg.all(x, axis, keepdims)


def logsumexp(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """Takes log(sum(exp(x))) along axes, without overflow.

    Args:
        x: tensor.
        axis: axis, or list of axes; None: all.
        keepdims: whether the reduced axes stay, with size 1.

    Example:
        >>> K.eval(K.logsumexp(K.constant([1e4, -1e4])))
        np.float32(10000.0)
    """
    return _hg.logsumexp(x, axis, keepdims)


def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """Takes the running sum along an axis.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.cumsum(K.constant([1., 2., 3.])))
        array([1., 3., 6.], dtype=float32)
    """
    return _hg.cumsum(x, axis)


def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    """Takes the running product along an axis.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.cumprod(K.constant([1., 2., 3.])))
        array([1., 2., 6.], dtype=float32)
    """
    return _hg.cumprod(x, axis)


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Gives the position of the largest element along an axis, the first of equals.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.argmax(K.constant([[1., 5., 2.]])))
        array([1])
    """
    return _hg.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """Gives the position of the smallest element along an axis, the first of equals.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.argmin(K.constant([[1., 5., 2.]])))
        array([0])
    """
    return _hg.argmin(x, axis)
