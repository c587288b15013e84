"""Element-wise functions and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from horngate.typing import DType, Tensor, TensorLike


def square(x: TensorLike) -> Tensor:
    """Multiplies each element by itself.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.square(K.constant([2., -3.])))
        array([4., 9.], dtype=float32)
    """
    return _hg.square(x)


def abs(x: TensorLike) -> Tensor:
    """Takes absolute values.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.abs(K.constant([2., -3.])))
        array([2., 3.], dtype=float32)
    """
    return _hg.abs(x)


def sqrt(x: TensorLike) -> Tensor:
    """Takes square roots; what is negative counts as 0.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sqrt(K.constant([4., 9., -1.])))
        array([2., 3., 0.], dtype=float32)
    """
    return _hg.sqrt(x)


def exp(x: TensorLike) -> Tensor:
    """Takes e to the power of each element.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.exp(K.constant([0.])))
        array([1.], dtype=float32)
    """
    return _hg.exp(x)


def log(x: TensorLike) -> Tensor:
    """Takes natural logarithms.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.log(K.constant([1.])))
        array([0.], dtype=float32)
    """
    return _hg.log(x)


def round(x: TensorLike) -> Tensor:
    """Takes the nearest whole numbers, the even one of two.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.round(K.constant([0.5, 1.5, -1.2])))
        array([ 0.,  2., -1.], dtype=float32)
    """
    return _hg.round(x)


def sign(x: TensorLike) -> Tensor:
    """Gives -1, 0 or 1.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sign(K.constant([3., 0., -2.])))
        array([ 1.,  0., -1.], dtype=float32)
    """
    return _hg.sign(x)


def sin(x: TensorLike) -> Tensor:
    """Takes the sine of angles in radians.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sin(K.constant([0.])))
        array([0.], dtype=float32)
    """
    return _hg.sin(x)


def cos(x: TensorLike) -> Tensor:
    """Takes the cosine of angles in radians.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.cos(K.constant([0.])))
        array([1.], dtype=float32)
    """
    return _hg.cos(x)


def cast(x: TensorLike, dtype: DType) -> Tensor:
    """Gives a new tensor in another element type.

    Args:
        x: tensor.
        dtype: such as "float16"; floats go to integers by truncation, integers to smaller ones
            modulo 2^bits, all to bool by != 0.

    Example:
        >>> K.dtype(K.cast(K.placeholder((2, 3)), "float16"))
        'float16'
    """
    return _hg.cast(x, dtype)


def pow(x: TensorLike, a: TensorLike) -> Tensor:
    """Raises to a power.

    Args:
        x: tensor or number.
        a: exponent, a number or a tensor.

    Example:
        >>> K.eval(K.pow(K.constant([2., 3.]), 2))
        array([4., 9.], dtype=float32)
    """
    return _hg.pow(x, a)


def clip(x: TensorLike, min_value: TensorLike | None, max_value: TensorLike | None) -> Tensor:
    """Sets what lies outside of an interval to the nearer bound.

    Args:
        x: tensor.
        min_value, max_value: numbers or tensors; None leaves a side open. Where max_value is below
            min_value, min_value counts.

    Example:
        >>> K.eval(K.clip(K.constant([-1., 0.5, 7.]), 0, 6))
        array([0. , 0.5, 6. ], dtype=float32)
    """
    return _hg.clip(x, min_value, max_value)


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Gives the larger of two at each place.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.maximum(K.constant([-1., 2.]), 0))
        array([0., 2.], dtype=float32)
    """
    return _hg.maximum(x, y)


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Gives the smaller of two at each place.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.minimum(K.constant([-1., 2.]), 0))
        array([-1.,  0.], dtype=float32)
    """
    return _hg.minimum(x, y)


def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x == y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.equal(K.constant([1., 2., 3.]), 2))
        array([False,  True, False])
    """
    return _hg.equal(x, y)


def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x != y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.not_equal(K.constant([1., 2., 3.]), 2))
        array([ True, False,  True])
    """
    return _hg.not_equal(x, y)


def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x > y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.greater(K.constant([1., 2., 3.]), 2))
        array([False, False,  True])
    """
    return _hg.greater(x, y)


def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x >= y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.greater_equal(K.constant([1., 2., 3.]), 2))
        array([False,  True,  True])
    """
    return _hg.greater_equal(x, y)


def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x < y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.less(K.constant([1., 2., 3.]), 2))
        array([ True, False, False])
    """
    return _hg.less(x, y)


def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Tells where x <= y.

    Args:
        x, y: tensors or numbers; shapes are broadcast.

    Example:
        >>> K.eval(K.less_equal(K.constant([1., 2., 3.]), 2))
        array([ True,  True, False])
    """
    return _hg.less_equal(x, y)
