"""From a graph of primitives to Theano expressions.

Shapes are known: a value's axes of size 1 are Theano's broadcastable ones, all others are not. Each primitive's
expression is registered with @lower by the modules that are imported at the end.
"""

import numpy as np
import theano.tensor as T

from host_ops import Round, from_bfloat16
from types_of import BFLOAT16, FLOAT16, STORED, carried, size_of

LOWER = {}
MOVES = set()  # primitives that compute no new numbers: half floats need no rounding after them


def lower(*names, moves=False):
    def register(f):
        for name in names:
            LOWER[name] = f
        if moves:
            MOVES.update(names)
        return f

    return register


class LowerCall:
    """One node, as its lowering sees it."""

    def __init__(self, builder, node, types):
        self.builder = builder
        self.prim = node["prim"]
        self.attrs = node["attrs"]
        self.bodies = node["bodies"]
        self.name = node["name"]
        self.function = node["function"] or node["prim"]
        self.ins = [types[v] for v in node["in"]]
        self.outs = [types[v] for v in node["out"]]

    def ints(self, key):
        return tuple(self.attrs[key])

    def int(self, key):
        return self.attrs[key][0]

    def axis(self, key="axis", operand=0):
        return self.int(key) % max(len(self.ins[operand][1]), 1)

    def axes(self, key="axes", rank=None):
        rank = len(self.ins[0][1]) if rank is None else rank
        return tuple(a % rank for a in self.attrs[key])

    def shape(self, operand=0):
        return tuple(self.ins[operand][1])

    @property
    def out_shape(self):
        return tuple(self.outs[0][1])

    @property
    def dtype(self):
        """The Theano dtype of the first result."""
        return carried(self.outs[0][0])

    def number(self, value):
        """A constant of the result's dtype."""
        return T.constant(np.asarray(value, self.dtype))


class Builder:
    def __init__(self, constants, mode):
        self.constants = constants
        self.mode = mode  # for the functions inside loops

    def function(self, graph):
        """(inputs, outputs) of a whole graph."""
        inputs = [variable(graph["values"][v]) for v in graph["in"]]
        return inputs, self.apply(graph, inputs)

    def apply(self, graph, inputs):
        """The outputs of a graph or body on these inputs."""
        types = graph["values"]
        now = dict(zip(graph["in"], inputs))
        for node in graph["nodes"]:
            made = self.node(LowerCall(self, node, types), [now[v] for v in node["in"]])
            now.update(zip(node["out"], made))
        return [now[v] for v in graph["out"]]

    def node(self, call, operands):
        made = EMPTY(call, operands)
        if made is None:
            made = LOWER[call.prim](call, *operands)
        if not isinstance(made, (list, tuple)):
            made = [made]
        return [self.fit(y, t, call.prim) for y, t in zip(made, call.outs)]

    def fit(self, y, type_, prim):
        """With the dtype, precision and broadcastable axes that the graph says."""
        dtype, shape = type_
        if y.dtype != carried(dtype):
            y = T.cast(y, carried(dtype))
        pattern = tuple(d == 1 for d in shape)
        if y.broadcastable != pattern:
            y = T.patternbroadcast(y, pattern)
        if dtype in (FLOAT16, BFLOAT16) and prim not in MOVES:
            y = Round(dtype == BFLOAT16)(y)
        return y

    def constant(self, value):
        dtype, shape = value["type"]
        at = value["at"]
        x = np.frombuffer(self.constants, STORED[dtype], size_of(shape), at).reshape(shape)
        if dtype == BFLOAT16:
            x = from_bfloat16(x)
        return T.constant(x.astype(carried(dtype)))


def variable(type_):
    dtype, shape = type_
    return T.TensorType(carried(dtype), [d == 1 for d in shape])()


def constant_of(type_, value=0):
    dtype, shape = type_
    return T.constant(np.full(shape, value, carried(dtype)))


# What reductions give when there is nothing to reduce.
NOTHING = {
    "reduce_sum": 0,
    "reduce_any": False,
    "reduce_prod": 1,
    "reduce_all": True,
    "dot_general": 0,
    "conv": 0,
    "conv_input_grad": 0,
    "conv_filter_grad": 0,
    "scatter_add": 0,
    "pool_grad": 0,
}


def limits(dtype):
    name = carried(dtype)
    if name == "bool":
        return False, True
    if name.startswith("float"):
        return -np.inf, np.inf
    return np.iinfo(name).min, np.iinfo(name).max


def EMPTY(call, operands):
    """Constants in the place of primitives on arrays without elements; None where there are elements."""
    if all(size_of(shape) == 0 for _, shape in call.outs) and not call.bodies:
        return [constant_of(t) for t in call.outs]
    if all(size_of(shape) for _, shape in call.ins):
        return None
    if call.prim in NOTHING:
        return constant_of(call.outs[0], NOTHING[call.prim])
    if call.prim in ("reduce_max", "reduce_min"):
        return constant_of(call.outs[0], limits(call.outs[0][0])[call.prim == "reduce_min"])
    if call.prim == "pad":
        return constant_of(call.outs[0], call.attrs["value"][0])
    return None


import control  # noqa: E402, F401
import elementwise  # noqa: E402, F401
import norms  # noqa: E402, F401
import products  # noqa: E402, F401
import reductions  # noqa: E402, F401
import shapes  # noqa: E402, F401
import windows  # noqa: E402, F401
