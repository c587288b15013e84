"""What goes into a case: descriptions of arrays, made anew for each dtype from the same numbers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def is_float(dtype):
    return dtype in FLOATS


def to_bfloat16(values):
    """The nearest numbers that bfloat16 has, ties to even, as float32."""
    wide = np.asarray(values, "float32")
    bits = wide.view("uint32")
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = (bits & np.uint32(0xFFFF0000)).view("float32")
    return np.where(np.isfinite(wide), rounded, wide).astype("float32").reshape(wide.shape)


def cast(values, dtype):
    """The array that is fed for a dtype; bfloat16 goes in as float32."""
    if dtype == "bfloat16":
        return to_bfloat16(values)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values).astype(dtype)


@dataclass(frozen=True)
class Input:
    """An array of a case. `dtype` None: that of the run. `known`: axes that are never None."""

    shape: tuple
    make: Callable[[np.random.Generator, str], Any]
    dtype: str | None = None
    known_axes: tuple = ()
    differentiable: bool = True

    def known(self, *axes):
        """Keeps dimensions known where the others are None; without axes, all of them."""
        return replace(self, known_axes=axes or tuple(range(len(self.shape))))

    def as_dtype(self, dtype):
        return replace(self, dtype=dtype)

    def no_grad(self):
        return replace(self, differentiable=False)

    def dtype_in(self, dtype):
        return self.dtype or dtype

    def array(self, rng, dtype):
        return cast(self.make(rng, self.dtype_in(dtype)), self.dtype_in(dtype))

    def placeholder_shape(self, open_dims):
        if not open_dims:
            return self.shape
        return tuple(n if i in self.known_axes else None for i, n in enumerate(self.shape))

    def __str__(self):
        return "x".join("?" if n is None else str(n) for n in self.shape) or "()"


def rand(*shape, low=-1.0, high=1.0):
    """Uniform in [low, high]; ten times that, as whole numbers, for integer dtypes."""

    def make(rng, dtype):
        if dtype == "bool":
            return rng.integers(0, 2, shape)
        if is_float(dtype):
            return rng.uniform(low, high, shape)
        first = 0 if dtype.startswith("u") and low < 0 else int(np.ceil(low * 10))
        return rng.integers(first, int(high * 10) + 1, shape)

    return Input(shape, make)


def normal(*shape, scale=1.0):
    return Input(shape, lambda rng, dtype: rng.normal(0, scale, shape))


def positive(*shape, low=0.2, high=2.0):
    return rand(*shape, low=low, high=high)


def away(*shape, kinks=(0.0,), low=-2.0, high=2.0, distance=0.05):
    """Uniform, but no closer than `distance` to a kink, where there is no derivative."""

    def make(rng, dtype):
        if not is_float(dtype):
            return rand(*shape, low=low, high=high).make(rng, dtype)
        x = rng.uniform(low, high, shape)
        for kink in kinks:
            near = np.abs(x - kink) < distance
            x = np.where(near, kink + np.where(x < kink, -distance, distance), x)
        return x

    return Input(shape, make)


def distinct(*shape, low=-2.0, high=2.0):
    """All elements differ, by equal steps, in random order: no ties for max and its like."""

    def make(rng, dtype):
        n = int(np.prod(shape))
        if not is_float(dtype):
            return rng.permutation(n).reshape(shape)
        steps = low + (high - low) * (np.arange(n) + 0.5) / max(n, 1)
        return rng.permutation(steps).reshape(shape)

    return Input(shape, make)


def probabilities(*shape, axis=-1):
    """Positive and of sum 1 along an axis."""

    def make(rng, dtype):
        x = rng.uniform(0.2, 1.0, shape)
        return x / x.sum(axis=axis, keepdims=True) if x.size else x

    return Input(shape, make)


def ints(*shape, low=0, high=10, dtype="int32"):
    """Whole numbers of [low, high), of one dtype whatever that of the run is."""
    return Input(shape, lambda rng, _: rng.integers(low, high, shape), dtype, (), False)


def bools(*shape):
    return Input(shape, lambda rng, _: rng.integers(0, 2, shape), "bool", (), False)


def data(values, dtype=None):
    """These very numbers."""
    array = np.asarray(values, dtype or "float64")
    return Input(array.shape, lambda rng, _: array, dtype, (), dtype is None or is_float(dtype))


def is_sequence(value):
    return isinstance(value, (list, tuple))


def holds_input(value):
    return isinstance(value, Input) or (is_sequence(value) and any(holds_input(v) for v in value))


def leaves(tree):
    """The inputs in nested lists, in order."""
    if isinstance(tree, Input):
        return [tree]
    return [x for part in tree for x in leaves(part)] if is_sequence(tree) else []


def fill(tree, values):
    """The same nested lists with values, taken from an iterator, in place of the inputs."""
    if isinstance(tree, Input):
        return next(values)
    return [fill(part, values) for part in tree] if holds_input(tree) else tree
