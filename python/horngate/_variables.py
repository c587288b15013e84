"""Variables, placeholders, constants; asking for shape, rank, dtype and size."""

from __future__ import annotations

import warnings as _warnings
from typing import TYPE_CHECKING

from horngate import _horngate as _hg
from horngate._horngate import Tensor as _Tensor
from horngate._horngate import Variable as _Variable
from horngate._names import own_name as _own_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from horngate.typing import DType, Shape, SparseMatrix, Tensor, TensorLike, Variable


def variable(
    value: TensorLike | SparseMatrix,
    dtype: DType | None = None,
    name: str | None = None,
    constraint: Callable[[Tensor], Tensor] | None = None,
) -> Variable:
    """Makes a tensor that keeps its value between calls.

    Args:
        value: number, list, array, SciPy matrix, or a tensor that is computed now.
        dtype: element type; None: floatx().
        name: string.
        constraint: function that optimizers apply after each update; it is only kept here.

    Example:
        >>> kvar = K.variable(np.array([[1, 2], [3, 4]]), dtype="float64", name="example_var")
        >>> K.dtype(kvar)
        'float64'
        >>> print(kvar)
        example_var
        >>> kvar.eval()
        array([[1., 2.],
               [3., 4.]])
    """
    made = _hg.variable(value, dtype, _own_name(name))
    if constraint is not None:
        made.constraint = constraint
    return made


def constant(
    value: TensorLike,
    dtype: DType | None = None,
    shape: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Makes a tensor whose value never changes.

    Args:
        value: number, list or array.
        dtype: element type; None: floatx().
        shape: shape that a single value fills.
        name: string.

    Example:
        >>> K.eval(K.constant(2, shape=(2, 2)))
        array([[2., 2.],
               [2., 2.]], dtype=float32)
    """
    return _hg.constant(value, dtype, shape, _own_name(name))


def placeholder(
    shape: Sequence[int | None] | None = None,
    ndim: int | None = None,
    dtype: DType | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Makes a tensor that the caller of a function feeds.

    Args:
        shape: integers, and None where a dimension is open.
        ndim: number of axes, all open, when shape is not given. With neither there is one open
            axis: `shape=(None)` is a common slip for `shape=(None,)`.
        dtype: element type; None: floatx().
        sparse: whether SciPy matrices are fed.
        name: string.

    Example:
        >>> x = K.placeholder(shape=(2, 4, 5))
        >>> x._keras_shape
        (2, 4, 5)
    """
    if shape is None and ndim is None:
        _warnings.warn(
            "placeholder: neither shape nor ndim is given; taken as shape=(None,).", stacklevel=2
        )
        shape = (None,)
    return _hg.placeholder(shape, ndim, dtype, sparse, _own_name(name))


def is_keras_tensor(x: Tensor) -> bool:
    """Tells whether a tensor comes from a layer or from Input.

    Args:
        x: tensor; anything else is a ValueError.

    Example:
        >>> K.is_keras_tensor(K.placeholder((2, 3)))
        False
    """
    if not _hg.is_tensor(x):
        raise ValueError(f"is_keras_tensor: x must be a tensor; got {type(x).__name__}.")
    return hasattr(x, "_keras_history")


def is_tensor(x: object) -> bool:
    """Tells whether something is a tensor or variable.

    Args:
        x: anything.

    Example:
        >>> K.is_tensor(K.zeros((2,))), K.is_tensor(np.zeros(2))
        (True, False)
    """
    kind = type(x)
    return kind is _Tensor or kind is _Variable


def is_variable(x: object) -> bool:
    """Tells whether something is a variable.

    Args:
        x: anything.

    Example:
        >>> K.is_variable(K.zeros((2,))), K.is_variable(K.constant(1.))
        (True, False)
    """
    return type(x) is _Variable


def is_placeholder(x: object) -> bool:
    """Tells whether something was made by `placeholder`.

    Args:
        x: anything.

    Example:
        >>> K.is_placeholder(K.placeholder((2,))), K.is_placeholder(3)
        (True, False)
    """
    return _hg.is_placeholder(x)


def is_sparse(tensor: Tensor) -> bool:
    """Tells whether a tensor is sparse.

    Args:
        tensor: tensor.

    Example:
        >>> K.is_sparse(K.placeholder((2, 2), sparse=True))
        True
    """
    return _hg.is_sparse(tensor)


def to_dense(tensor: Tensor) -> Tensor:
    """Makes a sparse tensor dense; a dense one stays what it is.

    Args:
        tensor: tensor.

    Example:
        >>> b = K.placeholder((2, 2), sparse=True)
        >>> K.is_sparse(K.to_dense(b))
        False
    """
    return _hg.to_dense(tensor)


def zeros(shape: Shape, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Makes a variable full of zeros; a plain tensor when the shape holds tensors.

    Args:
        shape: integers, or tensors where only a call knows.
        dtype: element type; None: floatx().
        name: string.

    Example:
        >>> K.eval(K.zeros((2, 3)))
        array([[0., 0., 0.],
               [0., 0., 0.]], dtype=float32)
    """
    return _hg.zeros(shape, dtype, _own_name(name))


def ones(shape: Shape, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Makes a variable full of ones; a plain tensor when the shape holds tensors.

    Args:
        shape: integers, or tensors where only a call knows.
        dtype: element type; None: floatx().
        name: string.

    Example:
        >>> K.eval(K.ones((2, 3)))
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)
    """
    return _hg.ones(shape, dtype, _own_name(name))


def eye(
    size: int | tuple[int, int], dtype: DType | None = None, name: str | None = None
) -> Variable:
    """Makes a variable with ones on the main diagonal and zeros elsewhere.

    Args:
        size: rows and columns; or a pair (rows, columns).
        dtype: element type; None: floatx().
        name: string.

    Example:
        >>> K.eval(K.eye(2))
        array([[1., 0.],
               [0., 1.]], dtype=float32)
    """
    return _hg.eye(size, dtype, _own_name(name))


def zeros_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Makes zeros in the shape of a tensor.

    Args:
        x: tensor.
        dtype: element type; None: that of x.
        name: string.

    Example:
        >>> K.eval(K.zeros_like(K.variable([1, 2])))
        array([0., 0.], dtype=float32)
    """
    return _hg.zeros_like(x, dtype, _own_name(name))


def ones_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Makes ones in the shape of a tensor.

    Args:
        x: tensor.
        dtype: element type; None: that of x.
        name: string.

    Example:
        >>> K.eval(K.ones_like(K.variable([1, 2])))
        array([1., 1.], dtype=float32)
    """
    return _hg.ones_like(x, dtype, _own_name(name))


def identity(x: TensorLike, name: str | None = None) -> Tensor:
    """Makes a new tensor with the value of another.

    Args:
        x: tensor.
        name: string.

    Example:
        >>> K.eval(K.identity(K.constant([1., 2.])))
        array([1., 2.], dtype=float32)
    """
    return _hg.identity(x, _own_name(name))


def shape(x: TensorLike) -> Tensor:
    """Gives the shape as a tensor, also where only a call knows it.

    Args:
        x: tensor.

    Returns:
        1-D int32 tensor.

    Example:
        >>> K.eval(K.shape(K.variable(np.array([[1, 2], [3, 4]]))))
        array([2, 2], dtype=int32)
    """
    return _hg.shape(x)


def int_shape(x: TensorLike) -> tuple[int | None, ...]:
    """Gives the shape as known now.

    Args:
        x: tensor.

    Returns:
        Tuple of integers, and None where a dimension is open.

    Example:
        >>> K.int_shape(K.placeholder(shape=(None, 4, 5)))
        (None, 4, 5)
    """
    return _hg.int_shape(x)


def ndim(x: TensorLike) -> int:
    """Gives the number of axes.

    Args:
        x: tensor.

    Example:
        >>> K.ndim(K.placeholder(shape=(2, 4, 5)))
        3
    """
    return _hg.ndim(x)


def size(x: TensorLike, name: str | None = None) -> Tensor:
    """Gives the number of elements as a tensor, also where only a call knows it.

    Args:
        x: tensor.
        name: string.

    Example:
        >>> K.eval(K.size(K.zeros((2, 3))))
        np.int32(6)
    """
    return _hg.size(x, _own_name(name))


def dtype(x: TensorLike) -> str:
    """Names the element type.

    Args:
        x: tensor.

    Example:
        >>> K.dtype(K.placeholder(shape=(2, 4, 5), dtype="float64"))
        'float64'
    """
    return _hg.dtype(x)


def count_params(x: TensorLike) -> int:
    """Gives the number of elements of a tensor whose shape is known.

    Args:
        x: tensor.

    Example:
        >>> K.count_params(K.zeros((2, 3)))
        6
    """
    return _hg.count_params(x)
