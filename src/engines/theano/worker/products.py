"""Products of matrices and convolutions."""

import theano.tensor as T
from theano.tensor.nnet import abstract_conv

import on_numpy  # noqa: F401 - lets convolutions run before they are compiled
from graph import lower
from shapes import padded
from types_of import is_float, size_of


@lower("dot_general")
def dot_general(c, a, b):
    batch_a, batch_b = c.ints("batch_a"), c.ints("batch_b")
    contract_a, contract_b = c.ints("contract_a"), c.ints("contract_b")
    shape_a, shape_b = c.shape(0), c.shape(1)
    free_a = [i for i in range(a.ndim) if i not in (*batch_a, *contract_a)]
    free_b = [i for i in range(b.ndim) if i not in (*batch_b, *contract_b)]
    count = [
        size_of([shape[i] for i in axes])
        for shape, axes in (
            (shape_a, batch_a),
            (shape_a, free_a),
            (shape_a, contract_a),
            (shape_b, free_b),
        )
    ]
    batch, rows, depth, columns = count
    left = flattened(a, (*batch_a, *free_a, *contract_a), (batch, rows, depth))
    right = flattened(b, (*batch_b, *contract_b, *free_b), (batch, depth, columns))
    if not is_float(c.ins[0][0]) and batch != 1:
        wide = left.dimshuffle(0, 1, 2, "x") * right.dimshuffle(0, "x", 1, 2)
        made = T.sum(wide, axis=2, dtype=c.dtype, acc_dtype=c.dtype)
    elif batch == 1:
        made = T.dot(left[0], right[0])
    else:
        made = T.batched_dot(left, right)
    return T.reshape(made, c.out_shape, ndim=len(c.out_shape))


def flattened(x, order, shape):
    if x.ndim and list(order) != list(range(x.ndim)):
        x = x.dimshuffle(*order)
    return T.reshape(x, shape, ndim=3)


class Geometry:
    """A convolution in Theano's layout: (n, c, spatial..), kernels (out, in, spatial..), at least 2-D."""

    def __init__(self, c, rank):
        self.rank = rank  # spatial axes; one of size 1 is put before a single one
        self.first = bool(c.int("channels_first"))
        one = (1,) if rank == 1 else ()
        none = (0,) if rank == 1 else ()
        self.strides = one + c.ints("strides")
        self.dilation = one + c.ints("dilation")
        self.low, self.high = none + c.ints("pad_low"), none + c.ints("pad_high")
        self.groups = c.int("groups")
        self.n = 2 if rank == 1 else rank

    def data(self, x, shape):
        """(array, its shape) in Theano's layout."""
        if not self.first:
            x = x.dimshuffle(0, self.rank + 1, *range(1, self.rank + 1))
        return self.widened(x), self.data_shape(shape)

    def data_shape(self, shape):
        n, *rest = shape
        channels, spatial = (rest[0], rest[1:]) if self.first else (rest[-1], rest[:-1])
        return (n, channels, *((1, *spatial) if self.rank == 1 else spatial))

    def data_back(self, y):
        if self.rank == 1:
            y = y[:, :, 0]
        return y if self.first else y.dimshuffle(0, *range(2, self.rank + 2), 1)

    def kernel(self, w):
        return self.widened(w.dimshuffle(self.rank + 1, self.rank, *range(self.rank)))

    def kernel_shape(self, shape):
        *spatial, inputs, outputs = shape
        return (outputs, inputs, *((1, *spatial) if self.rank == 1 else spatial))

    def kernel_back(self, w):
        if self.rank == 1:
            w = w[:, :, 0]
        return w.dimshuffle(*range(2, self.rank + 2), 1, 0)

    def widened(self, x):
        return x.dimshuffle(0, 1, "x", 2) if self.rank == 1 else x

    @property
    def is_symmetric(self):
        return self.low == self.high and min(self.low) >= 0

    def padded_shape(self, shape):
        return (*shape[:2], *(n + lo + hi for n, lo, hi in zip(shape[2:], self.low, self.high)))

    def prepared(self, x, shape):
        """(x, its shape, border mode): what Theano cannot pad is padded beforehand."""
        if self.is_symmetric:
            return x, shape, self.low
        x = padded(x, shape, (0, 0, *self.low), (0, 0, *self.high), 0)
        return x, self.padded_shape(shape), (0,) * self.n

    def options(self, border):
        return {
            "border_mode": border,
            "subsample": self.strides,
            "filter_flip": False,
            "filter_dilation": self.dilation,
            "num_groups": self.groups,
        }


def or_none(shape):
    """Open sizes as Theano writes them."""
    return tuple(None if d < 0 else d for d in shape)


CONV = {2: abstract_conv.conv2d, 3: abstract_conv.conv3d}
TO_INPUT = {2: abstract_conv.conv2d_grad_wrt_inputs, 3: abstract_conv.conv3d_grad_wrt_inputs}
TO_FILTER = {2: abstract_conv.conv2d_grad_wrt_weights, 3: abstract_conv.conv3d_grad_wrt_weights}


@lower("conv")
def conv(c, x, kernel):
    g = Geometry(c, len(c.shape(0)) - 2)
    data, shape, border = g.prepared(*g.data(x, c.shape(0)))
    filters = g.kernel_shape(c.shape(1))
    y = CONV[g.n](data, g.kernel(kernel), or_none(shape), filters, **g.options(border))
    return g.data_back(y)


@lower("conv_input_grad")
def conv_input_grad(c, dy, kernel, whole_shape=None):
    g = Geometry(c, len(c.shape(0)) - 2)
    top, _ = g.data(dy, c.shape(0))
    shape, filters = g.data_shape(c.out_shape), g.kernel_shape(c.shape(1))
    if g.is_symmetric:
        dx = TO_INPUT[g.n](top, g.kernel(kernel), or_none(shape), filters, **g.options(g.low))
    else:
        whole = g.padded_shape(shape)
        dx = TO_INPUT[g.n](top, g.kernel(kernel), or_none(whole), filters, **g.options((0,) * g.n))
        low, high = ([-p for p in (0, 0, *pads)] for pads in (g.low, g.high))
        dx = padded(dx, whole, low, high, 0)
    return g.data_back(dx)


@lower("conv_filter_grad")
def conv_filter_grad(c, x, dy):
    g = Geometry(c, len(c.shape(0)) - 2)
    data, shape, border = g.prepared(*g.data(x, c.shape(0)))
    top, _ = g.data(dy, c.shape(1))
    dw = TO_FILTER[g.n](data, top, g.kernel_shape(c.out_shape), or_none(shape), **g.options(border))
    return g.kernel_back(dw)
