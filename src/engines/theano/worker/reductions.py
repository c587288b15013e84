"""Reductions, running sums, positions."""

import numpy as np
import theano.tensor as T

from graph import lower
from host_ops import Recurrence
from types_of import is_float, known, size_of, sizes


def reduced(c, x, f):
    """Along all axes if none is named; an empty list of axes leaves x unchanged."""
    axes = c.axes()
    if not axes:
        return x
    return f(x, axes, bool(c.int("keepdims")))


def wide(c):
    """The type of sums: float64 for floats, so that the order of many terms does not matter."""
    return "float64" if is_float(c.ins[0][0]) else c.dtype


@lower("reduce_sum")
def reduce_sum(c, x):
    return reduced(
        c, x, lambda x, a, k: T.sum(x, axis=a, keepdims=k, dtype=c.dtype, acc_dtype=wide(c))
    )


@lower("reduce_prod")
def reduce_prod(c, x):
    return reduced(
        c, x, lambda x, a, k: T.prod(x, axis=a, keepdims=k, dtype=c.dtype, acc_dtype=wide(c))
    )


@lower("reduce_max", moves=True)
def reduce_max(c, x):
    return extreme(c, x, T.max)


@lower("reduce_min", moves=True)
def reduce_min(c, x):
    return extreme(c, x, T.min)


def extreme(c, x, f):
    if x.dtype == "bool":
        x = T.cast(x, "int8")
    return reduced(c, x, lambda x, a, k: f(x, axis=a, keepdims=k))


@lower("reduce_any")
def reduce_any(c, x):
    return reduced(c, x, lambda x, a, k: T.any(T.neq(x, 0), axis=a, keepdims=k))


@lower("reduce_all")
def reduce_all(c, x):
    return reduced(c, x, lambda x, a, k: T.all(T.neq(x, 0), axis=a, keepdims=k))


@lower("argmax")
def argmax(c, x):
    if x.dtype == "bool":
        x = T.cast(x, "int8")
    return T.argmax(x, axis=c.axis())


@lower("argmin")
def argmin(c, x):
    if x.dtype == "bool":
        x = T.cast(x, "int8")
    # Reverses the order, for integers by -1 - x, for floats by -x: both keep equal elements equal.
    return T.argmax(-x if is_float(c.ins[0][0]) else ~x, axis=c.axis())


def backwards(x, axis):
    return x[tuple(slice(None, None, -1 if i == axis else 1) for i in range(x.ndim))]


def running(c, x, f, first):
    axis, n = c.axis(), c.shape()[c.axis()]
    if c.int("reverse"):
        x = backwards(x, axis)
    y = T.cast(f(x, axis=axis), c.dtype)
    if c.int("exclusive"):
        shape = list(known(x, c.shape()))
        shape[axis] = 1
        start = T.alloc(T.constant(np.asarray(first, c.dtype)), *sizes(shape))
        rest = y[tuple(slice(0, -1) if i == axis else slice(None) for i in range(y.ndim))]
        y = T.concatenate([start, rest], axis=axis) if n != 1 else start
    return backwards(y, axis) if c.int("reverse") else y


@lower("cumsum")
def cumsum(c, x):
    return running(c, x, T.extra_ops.cumsum, 0)


@lower("cumprod")
def cumprod(c, x):
    return running(c, x, T.extra_ops.cumprod, 1)


@lower("recurrence")
def recurrence(c, a, b):
    return Recurrence(c.axis(), bool(c.int("reverse")))(a, b)


@lower("top_k")
def top_k(c, x):
    """By a stable sort, read backwards so that equal elements stay in order of position."""
    shape, k = c.shape(), c.int("k")
    n, rows = shape[-1], size_of(shape[:-1])
    flat = T.reshape(x, (rows, n), ndim=2)
    order = T.argsort(flat[:, ::-1], axis=1, kind="mergesort")
    at = (n - 1 - order)[:, ::-1][:, :k]
    values = flat[T.arange(flat.shape[0]).dimshuffle(0, "x"), at]
    out = tuple(c.outs[0][1])
    return [T.reshape(values, out, ndim=len(out)), T.reshape(at, out, ndim=len(out))]


@lower("in_top_k")
def in_top_k(c, predictions, targets):
    classes = c.shape()[1]
    ok = T.and_(T.ge(targets, 0), T.lt(targets, classes))
    at = T.switch(ok, targets, T.zeros_like(targets))
    mine = predictions[T.arange(predictions.shape[0]), at].dimshuffle(0, "x")
    larger = T.sum(T.cast(T.gt(predictions, mine), "int64"), axis=1)
    finite = T.all(T.eq(predictions - predictions, 0), axis=1)
    return T.and_(T.and_(T.lt(larger, c.int("k")), ok), finite)
