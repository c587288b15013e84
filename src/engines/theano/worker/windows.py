"""Pooling. Windows are examined tap by tap where Theano's own operation differs."""

import itertools

import numpy as np
import theano.tensor as T
from theano.tensor.signal.pool import AveragePoolGrad, Pool

from graph import lower
from shapes import padded
from types_of import known, sizes


class Windows:
    """A pool in Theano's layout, (n, c, spatial..), with at least two spatial axes and padding made explicit."""

    def __init__(self, c):
        self.rank = len(c.shape()) - 2
        self.first = bool(c.int("channels_first"))
        one = (1,) * max(2 - self.rank, 0)
        none = (0,) * len(one)
        self.window = one + c.ints("window")
        self.strides = one + c.ints("strides")
        self.low, self.high = none + c.ints("pad_low"), none + c.ints("pad_high")
        self.is_max = c.attrs["mode"] == "max"
        n, *rest = c.shape()
        channels, spatial = (rest[0], rest[1:]) if self.first else (rest[-1], rest[:-1])
        self.shape = (n, channels, *one, *spatial)
        self.ndim = len(self.window)
        # Only n may be open, and it has no borders.
        self.whole = tuple(d + lo + hi for d, lo, hi in zip(self.shape, self.lows, self.highs))
        self.out = tuple(
            (d - w) // s + 1 for d, w, s in zip(self.whole[2:], self.window, self.strides)
        )

    @property
    def lows(self):
        return (0, 0, *self.low)

    @property
    def highs(self):
        return (0, 0, *self.high)

    def data(self, x):
        if not self.first:
            x = x.dimshuffle(0, self.rank + 1, *range(1, self.rank + 1))
        return x.dimshuffle(0, 1, "x", 2) if self.rank == 1 else x

    def back(self, y):
        if self.rank == 1:
            y = y[:, :, 0]
        return y if self.first else y.dimshuffle(0, *range(2, self.rank + 2), 1)

    def padded(self, x, value):
        return padded(x, self.shape, self.lows, self.highs, value)

    def unpadded(self, x):
        return padded(x, self.whole, [-p for p in self.lows], [-p for p in self.highs], 0)

    def counts(self, dtype):
        """Elements of each window that lie inside x; broadcasts over n and c."""
        inside = np.ones((1, 1, *self.shape[2:]))
        borders = [(lo, hi) for lo, hi in zip(self.lows, self.highs)]
        inside = np.pad(inside, borders)
        total = sum(inside[at] for at in self.taps())
        return T.constant(np.maximum(total, 1).astype(dtype))

    def taps(self):
        """For each position in the window, in row-major order: where it lies in the padded x."""
        for tap in itertools.product(*map(range, self.window)):
            spans = zip(tap, self.out, self.strides)
            yield (slice(None), slice(None)) + tuple(
                slice(t, t + (n - 1) * s + 1, s) for t, n, s in spans
            )


@lower("pool")
def pool(c, x):
    w = Windows(c)
    x = w.padded(w.data(x), -np.inf if w.is_max else 0)
    op = Pool(ignore_border=True, mode="max" if w.is_max else "sum", ndim=w.ndim)
    y = op(x, w.window, w.strides, (0,) * w.ndim)
    return w.back(y if w.is_max else y / w.counts(x.dtype))


@lower("pool_grad")
def pool_grad(c, x, y, dy):
    w = Windows(c)
    x, y, dy = w.data(x), w.data(y), w.data(dy)
    if not w.is_max:
        op = AveragePoolGrad(ignore_border=True, mode="sum", ndim=w.ndim)
        whole = w.padded(x, 0)
        dx = op(whole, dy / w.counts(x.dtype), w.window, w.strides, (0,) * w.ndim)
        return w.back(w.unpadded(dx))
    # Theano's own version gives dy to every maximum of a window; it belongs to the first.
    whole = w.padded(x, -np.inf)
    dx = T.zeros(sizes(known(x, w.whole)), x.dtype)
    free = None
    for at in w.taps():
        here = T.eq(whole[at], y)
        mine = here if free is None else T.and_(here, free)
        free = T.invert(here) if free is None else T.and_(free, T.invert(here))
        dx = T.inc_subtensor(dx[at], T.switch(mine, dy, T.zeros_like(dy)))
    return w.back(w.unpadded(dx))
