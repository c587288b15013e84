"""Settings of the process, names and uids, the learning phase."""

from __future__ import annotations

import gc as _gc
import time as _time
from typing import TYPE_CHECKING

import numpy as _np

from horngate import _horngate as _hg
from horngate._names import wrong as _wrong

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from horngate.typing import Array, ArrayLike, DataFormat, DType, Tensor

    F = TypeVar("F", bound=Callable[..., Any])


def backend() -> str:
    """Names the engine that runs functions.

    Returns:
        Its name, such as "native"; `horngate engines` lists them.

    Example:
        >>> K.backend()
        'native'
    """
    return _hg.backend()


def epsilon() -> float:
    """Gives the small number that keeps divisions and logarithms from zero.

    Example:
        >>> K.epsilon()
        1e-07
    """
    return _hg.epsilon()


def set_epsilon(e: float) -> None:
    """Sets the small number of `epsilon`.

    Args:
        e: the new number.

    Example:
        >>> K.set_epsilon(1e-05)
        >>> K.epsilon()
        1e-05
        >>> K.set_epsilon(1e-07)
    """
    _hg.set_epsilon(e)


def floatx() -> str:
    """Names the float type that counts wherever a dtype is left open.

    Example:
        >>> K.floatx()
        'float32'
    """
    return _hg.floatx()


def set_floatx(floatx: DType) -> None:
    """Sets the float type of what is made from here on.

    Args:
        floatx: "float16", "float32" or "float64".

    Example:
        >>> K.set_floatx("float16")
        >>> K.floatx()
        'float16'
        >>> K.set_floatx("float32")
    """
    _hg.set_floatx(floatx)


def cast_to_floatx(x: ArrayLike) -> Array:
    """Casts a NumPy array to the default float type.

    Args:
        x: array, or what NumPy makes one of.

    Returns:
        NumPy array.

    Example:
        >>> K.cast_to_floatx(np.array([1.0, 2.0], dtype="float64"))
        array([1., 2.], dtype=float32)
    """
    return _np.asarray(x, dtype=_hg.floatx())


def image_data_format() -> str:
    """Names the axis order that counts wherever data_format is left open.

    Returns:
        "channels_last" or "channels_first".

    Example:
        >>> K.image_data_format()
        'channels_last'
    """
    return _hg.image_data_format()


def set_image_data_format(data_format: DataFormat) -> None:
    """Sets the axis order of `image_data_format`.

    Args:
        data_format: "channels_last" or "channels_first".

    Example:
        >>> K.set_image_data_format("channels_last")
        >>> K.image_data_format()
        'channels_last'
    """
    _hg.set_image_data_format(data_format)


def normalize_data_format(value: DataFormat | None) -> str:
    """Checks the name of an axis order.

    Args:
        value: "channels_last", "channels_first" in any case, or None for the default.

    Example:
        >>> K.normalize_data_format(None)
        'channels_last'
    """
    return _hg.normalize_data_format(value)


def get_uid(prefix: str = "") -> int:
    """Counts how often it was asked for a prefix.

    Args:
        prefix: string.

    Returns:
        1, 2, 3, ...

    Example:
        >>> K.get_uid("a_new_prefix")
        1
        >>> K.get_uid("a_new_prefix")
        2
    """
    if not isinstance(prefix, str):
        raise _wrong("get_uid: prefix", "a string", prefix)
    return _hg.get_uid(prefix)


def reset_uids() -> None:
    """Makes `get_uid` start over.

    Example:
        >>> K.reset_uids()
        >>> K.get_uid("dense")
        1
    """
    _hg.reset_uids()


def clear_session() -> None:
    """Forgets names, uids, the learning phase, models out of use, cached memory.

    Tensors and models in use stay valid.

    Example:
        >>> K.clear_session()
    """
    _free_cycles()
    _hg.clear_session()


# When the collector last finished, how long it took, and how many nodes were left.
_collected = {"at": float("-inf"), "took": 0.0, "nodes": 0}
_MOST_NODES = 2000  # a few small models: with their plans they hold about 2 MB


def _free_cycles():
    """Layers and models refer to each other, so they and their weights stay until Python's collector looks
    at its oldest objects, and that depends on how many there are, not on how large they are. Runs it if
    graphs have grown; otherwise it takes at most a twentieth of the CPU time, however often this is
    called."""
    start = _time.process_time()
    is_soon = start - _collected["at"] < 20 * _collected["took"]
    if is_soon and _hg.live_node_count() < _collected["nodes"] + _MOST_NODES:
        return
    _gc.collect()
    end = _time.process_time()
    _collected.update(at=end, took=end - start, nodes=_hg.live_node_count())


def manual_variable_initialization(value: bool) -> None:
    """Does nothing: a variable has its value from the start. Here for programs that call it.

    Args:
        value: bool.

    Example:
        >>> K.manual_variable_initialization(True)
    """


def learning_phase() -> Tensor | int:
    """Gives the flag that tells training (1) from testing (0).

    Returns:
        A scalar tensor that functions may take as an input, 0 when it is not fed; a Python int once
        `set_learning_phase` fixed it.

    Example:
        >>> x = K.placeholder((2,))
        >>> f = K.function([x, K.learning_phase()], [K.in_train_phase(x + 1, x)])
        >>> f([[0., 0.], 1])
        [array([1., 1.], dtype=float32)]
    """
    return _hg.learning_phase()


def set_learning_phase(value: int) -> None:
    """Fixes the learning phase for what is built from here on.

    Args:
        value: 0 to test, 1 to train.

    Example:
        >>> K.set_learning_phase(1)
        >>> K.learning_phase()
        1
        >>> K.clear_session()
    """
    _hg.set_learning_phase(value)


def symbolic(func: F) -> F:
    """Marks a function that builds graphs; all of them do, so it is the function itself.

    Args:
        func: function.

    Example:
        >>> K.symbolic(K.square) is K.square
        True
    """
    return func


def eager(func: F) -> F:
    """Marks a function that works on values; there is no other mode, so it is the function itself.

    Args:
        func: function.

    Example:
        >>> K.eager(K.get_value) is K.get_value
        True
    """
    return func
