"""Choosing between expressions, and scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg
from horngate._names import wrong as _wrong

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from horngate.typing import Expression, Tensor, TensorLike


def switch(
    condition: TensorLike, then_expression: Expression, else_expression: Expression
) -> Tensor:
    """Gives one of two expressions.

    Args:
        condition: tensor, not 0 means true. A scalar takes an expression whole; one with axes
            chooses element by element and is repeated over the further axes.
        then_expression, else_expression: tensors, numbers, or functions that give a tensor.

    Example:
        >>> x = K.constant([1., -2., 3.])
        >>> K.eval(K.switch(K.greater(x, 0), x, 0))
        array([1., 0., 3.], dtype=float32)
    """
    return _hg.switch(condition, then_expression, else_expression)


def in_train_phase(x: Expression, alt: Expression, training: TensorLike | None = None) -> Tensor:
    """Gives x while training and alt otherwise.

    Args:
        x, alt: tensors, or functions that give one.
        training: bool, number or scalar tensor; None: the learning phase decides.

    Example:
        >>> x = K.constant([1., 2.])
        >>> K.eval(K.in_train_phase(x * 10, x))
        array([1., 2.], dtype=float32)
    """
    return _hg.in_train_phase(x, alt, training)


def in_test_phase(x: Expression, alt: Expression, training: TensorLike | None = None) -> Tensor:
    """Gives alt while training and x otherwise.

    Args:
        x, alt: tensors, or functions that give one.
        training: bool, number or scalar tensor; None: the learning phase decides.

    Example:
        >>> x = K.constant([1., 2.])
        >>> K.eval(K.in_test_phase(x * 10, x))
        array([10., 20.], dtype=float32)
    """
    return _hg.in_test_phase(x, alt, training)


class _NameScope:
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        return _hg.begin_name_scope(self._name) if self._name else ""

    def __exit__(self, *error):
        if self._name:
            _hg.end_name_scope()


def name_scope(name: str) -> AbstractContextManager[str]:
    """Opens a scope: names made in it begin with "name/".

    Args:
        name: string.

    Example:
        >>> with K.name_scope("a_scope"):
        ...     K.zeros((2,), name="v").name
        'a_scope/v'
    """
    if name and not isinstance(name, str):
        raise _wrong("name_scope: name", "a string", name)
    return _NameScope(name.rstrip("/") if name else name)


class _ControlDependencies:
    __slots__ = ("_ops",)

    def __init__(self, ops):
        self._ops = ops

    def __enter__(self):
        _hg.begin_control_dependencies(self._ops)
        return self

    def __exit__(self, *error):
        _hg.end_control_dependencies()


def _updates_in(ops):
    """The update ops in nested lists; a pair (variable, value) counts as an update."""
    if ops is None:
        return []
    if not isinstance(ops, (list, tuple)):
        if not _hg.is_tensor(ops):
            raise _wrong("control_dependencies: control_inputs", "a list of tensors", ops)
        return [ops]
    is_pair = isinstance(ops, tuple) and len(ops) == 2 and _hg.is_variable(ops[0])
    if is_pair:
        return [_hg.update(*ops)]
    return [update for op in ops for update in _updates_in(op)]


def control_dependencies(control_inputs: Sequence[Tensor]) -> AbstractContextManager[None]:
    """Opens a block in which variables are read as they are after updates.

    Args:
        control_inputs: updates, one or a list.

    Example:
        >>> total = K.variable(1)
        >>> with K.control_dependencies([K.update_add(total, 2)]):
        ...     after = K.identity(total)
        >>> K.eval(after)
        np.float32(3.0)
    """
    return _ControlDependencies(_updates_in(control_inputs))
