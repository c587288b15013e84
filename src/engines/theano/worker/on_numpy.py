"""Convolutions and pools on NumPy, for programs that Theano has not compiled yet: its own Python code for them needs
older versions of SciPy and NumPy. Only what our lowerings use: no padding in pools, no flipped kernels."""

import itertools

import numpy as np
from theano.tensor.nnet import abstract_conv
from theano.tensor.signal.pool import AveragePoolGrad, Pool


def geometry(op, kernel_shape, out_shape):
    """Per tap of the kernel: (its index, the slice of the padded input that it meets)."""
    for tap in itertools.product(*map(range, kernel_shape)):
        spans = zip(tap, op.filter_dilation, out_shape, op.subsample)
        yield tap, tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in spans)


def grouped(x, groups):
    """(n, c, spatial..) as (n, groups, c / groups, positions)."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)


def by_group(w, groups):
    """The kernel at one tap, (out, in), as (groups, out / groups, in)."""
    return w.reshape(groups, -1, w.shape[1])


def borders(op):
    """Theano writes "no padding" as a word."""
    return (0,) * op.convdim if op.border_mode == "valid" else op.border_mode


def pads(op):
    return [(0, 0), (0, 0)] + [(p, p) for p in borders(op)]


def whole(index):
    return (slice(None), slice(None)) + index


def forward(op, node, inputs, outputs):
    x, w = inputs
    x = np.pad(x, pads(op))
    spans = zip(x.shape[2:], w.shape[2:], op.filter_dilation, op.subsample)
    spatial = tuple((n - (k - 1) * d - 1) // s + 1 for n, k, d, s in spans)
    y = np.zeros((x.shape[0], w.shape[0], *spatial), node.outputs[0].dtype)
    for tap, at in geometry(op, w.shape[2:], spatial):
        part = by_group(w[whole(tap)], op.num_groups) @ grouped(x[whole(at)], op.num_groups)
        y += part.reshape(y.shape)
    outputs[0][0] = y


def to_inputs(op, node, inputs, outputs):
    w, dy, spatial = inputs
    shape = tuple(n + 2 * p for n, p in zip(spatial, borders(op)))
    dx = np.zeros((dy.shape[0], w.shape[1] * op.num_groups, *shape), node.outputs[0].dtype)
    for tap, at in geometry(op, w.shape[2:], dy.shape[2:]):
        turned = by_group(w[whole(tap)], op.num_groups).transpose(0, 2, 1)
        view = dx[whole(at)]
        view += (turned @ grouped(dy, op.num_groups)).reshape(view.shape)
    inside = tuple(slice(p, p + n) for n, p in zip(spatial, borders(op)))
    outputs[0][0] = np.ascontiguousarray(dx[whole(inside)])


def to_weights(op, node, inputs, outputs):
    x, dy, spatial = inputs
    x = np.pad(x, pads(op))
    dw = np.zeros((dy.shape[1], x.shape[1] // op.num_groups, *spatial), node.outputs[0].dtype)
    for tap, at in geometry(op, spatial, dy.shape[2:]):
        turned = grouped(x[whole(at)], op.num_groups).transpose(0, 1, 3, 2)
        part = (grouped(dy, op.num_groups) @ turned).sum(axis=0)
        dw[whole(tap)] = part.reshape(dw.shape[:2])
    outputs[0][0] = dw


def window_taps(window, strides, spatial):
    for tap in itertools.product(*map(range, window)):
        spans = zip(tap, spatial, strides)
        yield whole(tuple(slice(t, t + (n - 1) * s + 1, s) for t, n, s in spans))


def pool(op, node, inputs, outputs, params=None):
    x, window, strides, _ = inputs
    spatial = [(n - w) // s + 1 for n, w, s in zip(x.shape[2:], window, strides)]
    join = np.maximum if op.mode == "max" else np.add
    y = None
    for at in window_taps(window, strides, spatial):
        y = x[at].copy() if y is None else join(y, x[at], out=y)
    outputs[0][0] = y


def sum_pool_grad(op, node, inputs, outputs, params=None):
    x, dy, window, strides, _ = inputs
    dx = np.zeros(x.shape, x.dtype)
    for at in window_taps(window, strides, dy.shape[2:]):
        dx[at] += dy
    outputs[0][0] = dx


Pool.perform = pool
AveragePoolGrad.perform = sum_pool_grad
abstract_conv.AbstractConv.perform = forward
abstract_conv.AbstractConv_gradInputs.perform = to_inputs
abstract_conv.AbstractConv_gradWeights.perform = to_weights
