"""Dtypes by their numbers in engine.h, and what represents them in Theano."""

import numpy as np
import theano.tensor as T

FLOAT16, BFLOAT16 = 0, 1
NAMES = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
# In memory. Theano has no bfloat16.
STORED = [np.dtype("uint16" if n == "bfloat16" else n) for n in NAMES]


def carried(dtype):
    """The Theano dtype of a value. Half floats are carried as float32 and rounded after each primitive."""
    return "float32" if dtype in (FLOAT16, BFLOAT16) else NAMES[dtype]


def is_float(dtype):
    return dtype <= 3


def size_of(shape):
    """Number of elements of a shape; -1 if a size is open."""
    n = 1
    for d in shape:
        n *= d
    return -1 if n and any(d < 0 for d in shape) else n


def sizes(shape):
    """Numbers of a shape as int64: Theano would take small ones for int8 and then multiply them in it."""
    return [T.constant(np.asarray(d, "int64")) if isinstance(d, int) else d for d in shape]


def known(x, shape):
    """A shape with the open sizes taken from x at run time."""
    return tuple(x.shape[i] if d < 0 else d for i, d in enumerate(shape))
