"""Random tensors and variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as _np

from horngate import _horngate as _hg
from horngate._names import own_name as _own_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horngate.typing import DType, Shape, Tensor, Variable


def _own_seed(seed):
    """The seed, or one from numpy.random, so that numpy.random.seed makes programs repeatable."""
    return int(_np.random.randint(10_000_000)) if seed is None else seed


def random_normal(
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor:
    """Gives normal numbers, new ones at each evaluation.

    Args:
        shape: integers or tensors.
        mean, stddev: mean and standard deviation.
        dtype: element type; None: floatx().
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.eval(K.random_normal((2, 3), seed=1)).shape
        (2, 3)
    """
    return _hg.random_normal(shape, mean, stddev, dtype, _own_seed(seed))


def random_uniform(
    shape: Shape,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor:
    """Gives numbers of [minval, maxval), new ones at each evaluation.

    Args:
        shape: integers or tensors.
        minval, maxval: lower end, and upper end, which is not included.
        dtype: element type; None: floatx().
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.eval(K.random_uniform((2, 3), seed=1)).shape
        (2, 3)
    """
    return _hg.random_uniform(shape, minval, maxval, dtype, _own_seed(seed))


def random_binomial(
    shape: Shape, p: float = 0.0, dtype: DType | None = None, seed: int | None = None
) -> Tensor:
    """Gives 1 with probability p, else 0; new numbers at each evaluation.

    Args:
        shape: integers or tensors.
        p: probability.
        dtype: element type; None: floatx().
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.eval(K.random_binomial((3,), p=1., seed=1))
        array([1., 1., 1.], dtype=float32)
    """
    return _hg.random_binomial(shape, p, dtype, _own_seed(seed))


def truncated_normal(
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DType | None = None,
    seed: int | None = None,
) -> Tensor:
    """Gives normal numbers; what lies more than 2 * stddev from the mean is drawn anew.

    Args:
        shape: integers or tensors.
        mean, stddev: mean and standard deviation.
        dtype: element type; None: floatx().
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> bool((np.abs(K.eval(K.truncated_normal((100,), seed=1))) <= 2).all())
        True
    """
    return _hg.truncated_normal(shape, mean, stddev, dtype, _own_seed(seed))


def random_uniform_variable(
    shape: Sequence[int],
    low: float,
    high: float,
    dtype: DType | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """Makes a variable that starts with numbers of [low, high).

    Args:
        shape: integers.
        low, high: lower end, and upper end, which is not included.
        dtype: element type; None: floatx().
        name: string.
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.int_shape(K.random_uniform_variable((2, 3), 0, 1))
        (2, 3)
    """
    return _hg.random_uniform_variable(shape, low, high, dtype, _own_name(name), _own_seed(seed))


def random_normal_variable(
    shape: Sequence[int],
    mean: float,
    scale: float,
    dtype: DType | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Variable:
    """Makes a variable that starts with normal numbers.

    Args:
        shape: integers.
        mean, scale: mean and standard deviation.
        dtype: element type; None: floatx().
        name: string.
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.int_shape(K.random_normal_variable((2, 3), 0, 1))
        (2, 3)
    """
    return _hg.random_normal_variable(shape, mean, scale, dtype, _own_name(name), _own_seed(seed))
