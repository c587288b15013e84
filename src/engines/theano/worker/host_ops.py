"""Our own Theano operations, for the little that it lacks: they run on NumPy."""

import numpy as np
from theano.gof import Apply, Op


def to_bfloat16(x):
    """Bits of the nearest bfloat16; ties to even."""
    bits = np.asarray(x, "float32").ravel().view("uint32").reshape(np.shape(x))
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FC0 | ((bits >> 16) & 0x8000), rounded).astype("uint16")


def from_bfloat16(bits):
    return (bits.ravel().astype("uint32") << 16).view("float32").reshape(bits.shape)


class Refused(Exception):
    """An error in the user's data; `last` keeps (type, text) when Theano wraps it."""

    last = None

    def __init__(self, kind, text=""):
        super().__init__(text)
        if isinstance(kind, type):
            Refused.last = (kind, text)


class Round(Op):
    """float32 numbers rounded to those of a half float."""

    __props__ = ("is_bfloat16",)

    def __init__(self, is_bfloat16):
        self.is_bfloat16 = is_bfloat16

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        x = inputs[0]
        with np.errstate(all="ignore"):
            y = from_bfloat16(to_bfloat16(x)) if self.is_bfloat16 else x.astype("float16")
        outputs[0][0] = np.asarray(y, "float32").reshape(x.shape)

    def infer_shape(self, node, shapes):
        return shapes


class CheckIndices(Op):
    """The indices unchanged, after checking that they lie in [0, size)."""

    __props__ = ("function", "name", "axis", "size")
    view_map = {0: [0]}

    def __init__(self, function, name, axis, size):
        self.function, self.name, self.axis, self.size = function, name, axis, size

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        x = inputs[0]
        if x.size and (x.min() < 0 or x.max() >= self.size):
            wrong = x[(x < 0) | (x >= self.size)].flat[0]
            text = f"{self.function}: index {wrong} is out of range for axis {self.axis}"
            text += f" of size {self.size}."
            raise Refused(IndexError, text + (f' (node "{self.name}")' if self.name else ""))
        outputs[0][0] = x

    def infer_shape(self, node, shapes):
        return shapes


class Recurrence(Op):
    """y_i = a_i y_(i-1) + b_i along an axis."""

    __props__ = ("axis", "reverse")

    def __init__(self, axis, reverse):
        self.axis, self.reverse = axis, reverse

    def make_node(self, a, b):
        return Apply(self, [a, b], [b.type()])

    def perform(self, node, inputs, outputs):
        a, b = (np.moveaxis(x, self.axis, 0) for x in inputs)
        out = np.empty(inputs[1].shape, inputs[1].dtype)
        y = np.moveaxis(out, self.axis, 0)
        order = range(len(b))
        last = np.zeros(b.shape[1:], b.dtype)
        for i in reversed(order) if self.reverse else order:
            last = a[i] * last + b[i]
            y[i] = last
        outputs[0][0] = out

    def infer_shape(self, node, shapes):
        return [shapes[1]]
