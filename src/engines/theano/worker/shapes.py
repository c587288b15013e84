"""Primitives that move elements."""

import numpy as np
import theano.tensor as T

from graph import lower
from host_ops import CheckIndices
from types_of import carried, known, size_of, sizes

TO_END = (1 << 63) - 1


@lower("constant", moves=True)
def constant(c):
    return c.builder.constant(c.attrs["value"])


@lower("iota", moves=True)
def iota(c, shape=None):
    if shape is not None:
        return T.arange(shape[0], dtype="int64")
    return T.constant(np.arange(c.out_shape[0]).astype(c.dtype))


@lower("reshape", "expand_dims", "squeeze", moves=True)
def reshape(c, x, shape=None):
    if shape is not None:
        return T.reshape(x, shape, ndim=len(c.out_shape))
    return T.reshape(x, c.out_shape, ndim=len(c.out_shape))


@lower("broadcast", moves=True)
def broadcast(c, x, shape=None):
    if shape is not None:
        return T.alloc(x, *sizes([shape[i] if d < 0 else d for i, d in enumerate(c.out_shape)]))
    if c.shape() == c.out_shape:
        return x
    return T.alloc(x, *sizes(c.out_shape))


@lower("transpose", moves=True)
def transpose(c, x):
    return x.dimshuffle(*c.ints("perm")) if x.ndim else x


@lower("concat", moves=True)
def concat(c, *xs):
    axis = c.axis()
    kept = [x for x, (_, shape) in zip(xs, c.ins) if shape[axis]]
    return T.concatenate(kept, axis=axis) if len(kept) > 1 else kept[0]


def slice_of(start, stop, step, size):
    if size < 0:  # open: all of it, or a part counted from the start
        return slice(start, None if stop == TO_END else stop, step)
    start, stop, step = slice(start, None if stop == TO_END else stop, step).indices(size)
    return slice(start, stop if stop >= 0 else None, step)


@lower("slice", moves=True)
def slice_(c, x):
    cuts = zip(c.ints("starts"), c.ints("stops"), c.ints("steps"), c.shape())
    picked = x[tuple(slice_of(*cut) for cut in cuts)] if x.ndim else x
    if any(d < 0 for d in c.out_shape):
        return picked
    return T.reshape(picked, c.out_shape, ndim=len(c.out_shape))


def padded(x, shape, low, high, value):
    """x of this shape with constant borders; negative ones cut."""
    shape = known(x, shape)
    cut = tuple(slice(max(-lo, 0), n - max(-hi, 0)) for n, lo, hi in zip(shape, low, high))
    x = x[cut]
    whole = [n + lo + hi for n, lo, hi in zip(shape, low, high)]
    if all(p <= 0 for p in (*low, *high)):
        return x
    inside = tuple(slice(max(lo, 0), n - max(hi, 0)) for n, lo, hi in zip(whole, low, high))
    room = T.alloc(T.constant(np.asarray(value, x.dtype)), *sizes(whole))
    return T.set_subtensor(room[inside], x)


@lower("pad", moves=True)
def pad(c, x):
    if not x.ndim:
        return x
    return padded(x, c.shape(), c.ints("low"), c.ints("high"), c.attrs["value"][0])


@lower("reverse", moves=True)
def reverse(c, x):
    axes = c.axes()
    return x[tuple(slice(None, None, -1 if i in axes else 1) for i in range(x.ndim))]


def flat_indices(c, indices, axis, size):
    return CheckIndices(c.function, c.name, axis, size)(indices).flatten()


@lower("gather", moves=True)
def gather(c, x, indices):
    axis = c.axis()
    at = flat_indices(c, indices, axis, c.shape()[axis])
    first = x.dimshuffle(axis, *[i for i in range(x.ndim) if i != axis])
    taken = first[at]
    order = [*range(1, axis + 1), 0, *range(axis + 1, x.ndim)]
    return T.reshape(taken.dimshuffle(*order), c.out_shape, ndim=len(c.out_shape))


@lower("scatter_add")
def scatter_add(c, indices, updates):
    axis, shape = c.int("axis") % len(c.out_shape), c.out_shape
    at = flat_indices(c, indices, axis, shape[axis])
    count = size_of(c.shape(0))
    others = shape[:axis] + shape[axis + 1 :]
    flat = T.reshape(updates, (*shape[:axis], count, *shape[axis + 1 :]), ndim=len(shape))
    first = flat.dimshuffle(axis, *[i for i in range(len(shape)) if i != axis])
    zeros = T.zeros(sizes((shape[axis], *others)), carried(c.outs[0][0]))
    summed = T.inc_subtensor(zeros[at], first)
    return summed.dimshuffle(*range(1, axis + 1), 0, *range(axis + 1, len(shape)))
