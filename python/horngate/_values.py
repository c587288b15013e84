"""Values of tensors and variables, updates, printing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg
from horngate._names import wrong as _wrong

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from horngate.typing import Array, Tensor, TensorLike, Variable


def eval(x: Tensor) -> Array:
    """Computes a tensor that needs no feeds.

    Args:
        x: tensor or variable; a sparse one becomes dense.

    Returns:
        NumPy array.

    Example:
        >>> K.eval(K.variable(np.array([[1, 2], [3, 4]]), dtype="float32"))
        array([[1., 2.],
               [3., 4.]], dtype=float32)
    """
    return _computed(_hg.eval, x)


def _computed(function, x):
    """function(x), or why a tensor that waits for feeds has no value."""
    try:
        return function(x)
    except ValueError as error:
        if not str(error).endswith(" is needed but not among the inputs."):
            raise
        hint = "It has no value while the graph is built: compute with K functions instead."
        raise ValueError(f"{error} {hint}") from None


def get_value(x: Variable) -> Array:
    """Reads a variable.

    Args:
        x: variable.

    Returns:
        NumPy array, a copy. bfloat16, which NumPy lacks, has the dtype of the package ml_dtypes;
        without it, it comes as float32.

    Example:
        >>> K.get_value(K.variable([1, 2]))
        array([1., 2.], dtype=float32)
    """
    if x is None:
        raise _wrong("get_value: x", "a variable or a tensor", x)
    return _computed(_hg.batch_get_value, [x])[0]


def batch_get_value(ops: Sequence[Variable]) -> list[Array]:
    """Reads several variables as they are at one moment.

    Args:
        ops: list of variables.

    Returns:
        List of NumPy arrays.

    Example:
        >>> K.batch_get_value([K.variable(1), K.variable(2)])
        [np.float32(1.0), np.float32(2.0)]
    """
    if _hg.is_tensor(ops):
        raise _wrong("batch_get_value: ops", "a list of variables", ops)
    return _hg.batch_get_value(list(ops))


def set_value(x: Variable, value: TensorLike) -> None:
    """Sets a variable.

    Args:
        x: variable.
        value: number or array of the variable's shape; it is cast to its dtype.

    Example:
        >>> v = K.variable([1, 2])
        >>> K.set_value(v, [3, 4])
        >>> K.get_value(v)
        array([3., 4.], dtype=float32)
    """
    _hg.batch_set_value([(x, value)])


def _as_pair(pair):
    if not hasattr(pair, "__iter__"):
        raise _wrong("batch_set_value: tuples", "pairs (variable, value)", pair)
    return tuple(pair)


def batch_set_value(tuples: Iterable[tuple[Variable, TensorLike]]) -> None:
    """Sets several variables at once: no call sees some of them changed and others not.

    Args:
        tuples: list of (variable, value).

    Example:
        >>> v, w = K.variable(1), K.variable(2)
        >>> K.batch_set_value([(v, 3), (w, 4)])
        >>> K.batch_get_value([v, w])
        [np.float32(3.0), np.float32(4.0)]
    """
    pairs = tuples if hasattr(tuples, "__iter__") else [tuples]
    pairs = [pair if isinstance(pair, tuple) else _as_pair(pair) for pair in pairs]
    _hg.batch_set_value(pairs)


def print_tensor(x: Tensor, message: str = "") -> Tensor:
    """Gives the same value; whenever it is computed, a line with message and value is printed.

    Args:
        x: tensor.
        message: text before the value.

    Example:
        >>> x = K.print_tensor(K.constant([1., 2.]), message="x is:")
    """
    return _hg.print_tensor(x, message + " " if message else "")


def update(x: Variable, new_x: TensorLike) -> Tensor:
    """Makes an update that sets a variable.

    Args:
        x: variable.
        new_x: tensor or value of its shape.

    Returns:
        The new value as a tensor; give it to `function` among the updates, or compute it.

    Example:
        >>> v = K.variable([1, 2])
        >>> f = K.function([], [], updates=[K.update(v, v * 10)])
        >>> f([])
        []
        >>> K.get_value(v)
        array([10., 20.], dtype=float32)
    """
    return _hg.update(x, new_x)


def update_add(x: Variable, increment: TensorLike) -> Tensor:
    """Makes an update that adds to a variable.

    Args:
        x: variable.
        increment: tensor or value of its shape.

    Example:
        >>> v = K.variable(1)
        >>> K.eval(K.update_add(v, 2))
        np.float32(3.0)
    """
    return _hg.update_add(x, increment)


def update_sub(x: Variable, decrement: TensorLike) -> Tensor:
    """Makes an update that subtracts from a variable.

    Args:
        x: variable.
        decrement: tensor or value of its shape.

    Example:
        >>> v = K.variable(1)
        >>> K.eval(K.update_sub(v, 2))
        np.float32(-1.0)
    """
    return _hg.update_sub(x, decrement)


def moving_average_update(x: Variable, value: TensorLike, momentum: float) -> Tensor:
    """Makes an update that moves a variable towards a value: x * momentum + value * (1 - momentum).

    Args:
        x: variable.
        value: tensor or value of its shape.
        momentum: weight of the old value.

    Example:
        >>> v = K.variable(1)
        >>> K.eval(K.moving_average_update(v, 3, 0.5))
        np.float32(2.0)
    """
    return _hg.moving_average_update(x, value, momentum)
