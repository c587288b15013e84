"""softmax and batch normalisation."""

import numpy as np
import theano.tensor as T

from graph import lower
from types_of import known


@lower("softmax")
def softmax(c, x):
    axis = c.axis()
    e = T.exp(x - T.max(x, axis=axis, keepdims=True))
    return e / T.sum(e, axis=axis, keepdims=True, dtype=c.dtype)


@lower("log_softmax")
def log_softmax(c, x):
    axis = c.axis()
    x = x - T.max(x, axis=axis, keepdims=True)
    return x - T.log(T.sum(T.exp(x), axis=axis, keepdims=True, dtype=c.dtype))


class Channels:
    """Converts between x and values with one number per channel."""

    def __init__(self, c):
        self.axes, self.shape = c.axes(), c.shape()
        shape = self.shape
        pattern, at = [], 0
        for i in range(len(shape)):
            if i in self.axes:
                pattern.append("x")
            else:
                pattern.append(at)
                at += 1
        self.pattern = pattern
        self.epsilon = c.attrs["epsilon"][0]

    def count(self, x):
        """Elements per channel."""
        sizes = known(x, self.shape)
        n = 1
        for a in self.axes:
            n = n * sizes[a]
        return T.cast(n, x.dtype)

    def spread(self, v):
        return v.dimshuffle(*self.pattern)

    def sum(self, x):
        return T.sum(x, axis=self.axes, dtype=x.dtype)

    def inverse_deviation(self, var):
        one, epsilon = (np.asarray(v, var.dtype) for v in (1, self.epsilon))
        return one / T.sqrt(var + epsilon)


@lower("batch_norm")
def batch_norm(c, x, gamma, beta):
    ch = Channels(c)
    n = ch.count(x)
    mean = ch.sum(x) / n
    centred = x - ch.spread(mean)
    var = ch.sum(centred * centred) / n
    scale = gamma * ch.inverse_deviation(var)
    return [centred * ch.spread(scale) + ch.spread(beta), mean, var]


@lower("batch_norm_grad")
def batch_norm_grad(c, x, gamma, mean, var, dy):
    ch = Channels(c)
    n = ch.count(x)
    r = ch.inverse_deviation(var)
    centred = x - ch.spread(mean)
    s, p = ch.sum(dy), ch.sum(dy * centred)
    inner = dy - ch.spread(s / n) - centred * ch.spread(r * r * p / n)
    return [ch.spread(gamma * r) * inner, p * r, s]
