"""Functions, gradients, recurrence, map and fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from horngate import _horngate as _hg
from horngate._names import own_name as _own_name
from horngate._names import wrong as _wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from horngate.typing import DType, Function, StepFunction, Tensor, TensorLike, Variable


def _checked_list(values, argument):
    if _hg.is_tensor(values) and argument != "updates":
        return [values]
    if not _is_list(values):
        raise TypeError(
            f"function: {argument} must be a list or tuple; got {type(values).__name__}."
        )
    return values


def _check_callable(fn, argument):
    if not callable(fn):
        raise _wrong(argument, "callable", fn)


def _is_list(value):
    return isinstance(value, (list, tuple))


def _is_nest(value):
    """A tuple; or a list that holds tensors or arrays. One of numbers alone is an array."""
    if isinstance(value, list):
        return any(_hg.is_tensor(v) or getattr(v, "ndim", 0) or _is_nest(v) for v in value)
    return isinstance(value, tuple)


def _flat(value, is_nest=_is_nest):
    """What is in tuples and lists, as one list."""
    return [leaf for v in value for leaf in _flat(v, is_nest)] if is_nest(value) else [value]


def _packed_like(nest, leaves):
    """The leaves in tuples and lists like those of another nest."""
    if not _is_nest(nest):
        return next(leaves)
    parts = [_packed_like(part, leaves) for part in nest]
    return type(nest)(*parts) if hasattr(nest, "_fields") else type(nest)(parts)


def function(
    inputs: Tensor | Sequence[Tensor | None],
    outputs: Tensor | Sequence[Tensor],
    updates: Sequence[Tensor | tuple[Variable, TensorLike]] | None = None,
    **kwargs: Any,
) -> Function:
    """Makes a program that can be called with a list of values and gives a list of NumPy arrays.

    A tensor for inputs that is in no list lets the call take a value that is in none; one for
    outputs makes it return an array. Values may be in lists of lists; what is over is ignored,
    with a warning.

    Args:
        inputs: list of placeholders; any other dense tensor but a constant may be fed too, and None stands for
            nothing. A variable has the fed value for the call: outputs and updates begin with it;
            without an update it keeps its own.
        outputs: list of tensors.
        updates: list of updates, or of pairs (variable, new value). They happen after the outputs
            are computed, all together, and not at all when the call fails. Of one variable, what
            `update_add`, `update_sub` and `moving_average_update` do is done one after the other;
            of several that set it, by `update` or a pair, the last counts, and a warning says so.
        **kwargs: name, a string for messages; fetches, tensors that are computed and not returned;
            feed_dict, fixed values of more tensors. options and run_metadata, which belong to
            TensorFlow's sessions, may be None.

    Example:
        >>> x = K.placeholder((None, 2))
        >>> f = K.function([x], [K.sum(x, axis=1), x + 1])
        >>> f([np.array([[1., 2.]])])
        [array([3.], dtype=float32), array([[2., 3.]], dtype=float32)]
    """
    name = kwargs.pop("name", None) or ""
    fetches = kwargs.pop("fetches", None) or []
    feed_dict = kwargs.pop("feed_dict", None) or {}
    for key, value in kwargs.items():
        if key not in ("options", "run_metadata") or value is not None:
            raise ValueError(f"function: it takes no argument {key!r}; see its documentation.")
    if _hg.is_tensor(fetches):
        fetches = [fetches]
    return _hg.function(
        _checked_list(inputs, "inputs"),
        _checked_list(outputs, "outputs"),
        _checked_list(updates if updates is not None else [], "updates"),
        list(fetches),
        list(feed_dict.items()),
        name,
        _hg.is_tensor(inputs),
        _hg.is_tensor(outputs),
    )


def gradients(
    loss: Tensor, variables: Tensor | Sequence[Tensor], strict: bool = False
) -> list[Tensor | None]:
    """Gives the derivatives of a loss.

    Args:
        loss: tensor; one that is not scalar counts as its sum.
        variables: list of tensors to differentiate by, or one.
        strict: whether a ValueError says why, where there would be a None.

    Returns:
        List with a tensor for each of them, None where the loss does not depend on it
        (`K.explain_gradient` says why).

    Example:
        >>> w = K.variable([1., 2.])
        >>> [g] = K.gradients(K.sum(K.square(w)), [w])
        >>> K.eval(g)
        array([2., 4.], dtype=float32)
    """
    if _hg.is_tensor(variables):
        variables = [variables]
    if not hasattr(variables, "__iter__"):
        raise _wrong("gradients: variables", "a tensor or a list of tensors", variables)
    return _hg.gradients(loss, list(variables), strict)


@overload
@overload
def stop_gradient(variables: Tensor) -> Tensor: ...
@overload
@overload
def stop_gradient(variables: Sequence[Tensor]) -> list[Tensor]: ...
def stop_gradient(variables: Tensor | Sequence[Tensor]) -> Tensor | list[Tensor]:
    """Gives the same value, which gradients take for a constant.

    Args:
        variables: tensor or list of tensors.

    Example:
        >>> w = K.variable(3.)
        >>> K.eval(K.gradients(w * K.stop_gradient(w), w)[0])
        np.float32(3.0)
    """
    if _is_list(variables):
        return [_hg.stop_gradient(x) for x in variables]
    return _hg.stop_gradient(variables)


def map_fn(
    fn: Callable[[Any], Any],
    elems: TensorLike | Sequence[TensorLike],
    name: str | None = None,
    dtype: DType | Sequence[DType | None] | None = None,
) -> Any:
    """Applies a function to each element along the first axis and stacks the results.

    Args:
        fn: takes a tensor and gives one, or a tuple or list of tensors.
        elems: tensor; or a tuple of tensors or arrays, or a list with one among them, and then fn
            takes such a tuple or list of elements. Tuples and lists may be in each other.
        name: string.
        dtype: element type of the results, or a tuple or list with one for each; None, also in such
            a tuple: what fn gives.

    Returns:
        The results stacked, in the tuples and lists that fn gives.

    Example:
        >>> K.eval(K.map_fn(lambda row: K.sum(row), K.constant([[1., 2.], [3., 4.]])))
        array([3., 7.], dtype=float32)
        >>> x, y = K.constant([1., 2.]), K.constant([3., 4.])
        >>> sums, products = K.map_fn(lambda e: (e[0] + e[1], e[0] * e[1]), (x, y))
        >>> K.eval(products)
        array([3., 8.], dtype=float32)
    """
    _check_callable(fn, "map_fn: fn")
    made = None

    def call(parts):
        nonlocal made
        made = fn(_packed_like(elems, iter(parts)))
        return _flat(made)

    several = _is_list(dtype)
    results = _hg.map_fn(call, _flat(elems), _own_name(name), None if several else dtype)
    if several:
        dtypes = _flat(dtype, _is_list)
        if len(dtypes) != len(results):
            wanted = f"one entry for each of the {len(results)} results of fn"
            raise ValueError(f"map_fn: dtype must have {wanted}; got {dtype!r}.")
        results = [r if d is None else _hg.cast(r, d) for r, d in zip(results, dtypes)]
    return _packed_like(made, iter(results))


def foldl(
    fn: Callable[[Tensor, Tensor], Tensor],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Combines the elements along the first axis, from first to last.

    Args:
        fn: takes the accumulator and an element, gives the new accumulator.
        elems: tensor.
        initializer: first accumulator; None: elems[0].
        name: string.

    Example:
        >>> K.eval(K.foldl(lambda acc, x: acc - x, K.constant([10., 3., 2.])))
        np.float32(5.0)
    """
    _check_callable(fn, "foldl: fn")
    return _hg.foldl(fn, elems, initializer, _own_name(name))


def foldr(
    fn: Callable[[Tensor, Tensor], Tensor],
    elems: TensorLike,
    initializer: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Combines the elements along the first axis, from last to first.

    Args:
        fn: takes the accumulator and an element, gives the new accumulator.
        elems: tensor.
        initializer: first accumulator; None: elems[-1].
        name: string.

    Example:
        >>> K.eval(K.foldr(lambda acc, x: acc - x, K.constant([10., 3., 2.])))
        np.float32(-11.0)
    """
    _check_callable(fn, "foldr: fn")
    return _hg.foldr(fn, elems, initializer, _own_name(name))


def rnn(
    step_function: StepFunction,
    inputs: TensorLike,
    initial_states: Sequence[Tensor],
    go_backwards: bool = False,
    mask: TensorLike | None = None,
    constants: Sequence[Tensor] | None = None,
    unroll: bool = False,
    input_length: int | None = None,
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Runs a function over the time axis.

    Args:
        step_function: takes (input, states + constants), gives (output, new states). It is called
            twice, so that what it keeps for all steps is made outside of the loop.
        inputs: tensor (samples, time, ..).
        initial_states: list of tensors.
        go_backwards: whether to begin at the last time step.
        mask: (samples, time) or (samples, time, 1); where it is 0, output and states are those of
            the step before.
        constants: list of tensors for each step.
        unroll: whether the graph has a copy of the step for each time step. The result is the
            same, but for states of an open size: a loop repeats one that is fed with 1, as it does
            known 1s, where the step makes more of it.
        input_length: number of time steps, for unroll when inputs do not tell.

    Returns:
        (last output, outputs (samples, time, ..), list of the last states).

    Example:
        >>> x = K.constant([[[1.], [2.], [3.]]])
        >>> step = lambda x, states: (x + states[0], [x + states[0]])
        >>> last, outputs, states = K.rnn(step, x, [K.zeros((1, 1))])
        >>> K.eval(last)
        array([[6.]], dtype=float32)
    """
    _check_callable(step_function, "rnn: step_function")
    uses_phase = False

    def step(x, states):
        nonlocal uses_phase
        made = step_function(x, states)
        if _is_list(made) and len(made) == 2:
            uses_phase = uses_phase or getattr(made[0], "_uses_learning_phase", False)
        return made

    last_output, outputs, new_states = _hg.rnn(
        step, inputs, list(initial_states), go_backwards, mask, constants, unroll, input_length
    )
    if uses_phase:
        last_output._uses_learning_phase = True
        outputs._uses_learning_phase = True
    return last_output, outputs, new_states
