"""A program: a graph as a Theano function, between arrays in shared memory.

Theano's compiler takes seconds. A program therefore runs its first calls on Theano's Python code (NumPy), which is
ready at once, and is compiled if it is called again and again. HORNGATE_THEANO_MODE: "auto" (this), "FAST_RUN"
(compiled from the first call) or "FAST_COMPILE" (never).
"""

import json
import mmap
import os
import struct
import sys

import numpy as np
import theano
from theano.compile.mode import Mode

import cache_lock  # noqa: F401 - takes the place of Theano's own
import zeros  # noqa: F401 - constants that differ in the sign of a zero are two

from graph import Builder
from host_ops import from_bfloat16, to_bfloat16
from types_of import BFLOAT16, FLOAT16, STORED, size_of

NOTES = 3  # the socket of worker.py
CALLS_BEFORE_COMPILING = 5
# Primitives by which a user recognises a graph.
HEAVY = ("conv", "conv_filter_grad", "pool", "scan", "dot_general", "batch_norm", "softmax")
MODE = os.environ.get("HORNGATE_THEANO_MODE") or "auto"
# Simplifications of Theano that change results, so that a compiled graph would answer differently than before.
WRONG = (
    # 1 / (1 + exp(-x)) becomes a sigmoid that is cut off at x = 19 and x = -709.
    "local_inv_1_plus_exp",
    "local_1msigmoid",
    "local_sigm_times_exp",
    "local_exp_over_1_plus_exp",
    # log(1 + exp(x)) becomes x above 16.
    "log1pexp_to_softplus",
    # x / x becomes 1, x - x, x * 0 and 0 / x become 0, x == x becomes true: even where x is 0, infinite or NaN.
    "local_mul_canonizer",
    "local_add_canonizer",
    "local_mul_zero",
    "local_mul_specialize",
    "local_zero_div",
    "local_0_dot_x",
    "local_elemwise_sub_zeros",
    "local_useless_elemwise",
    "local_useless_elemwise_comparison",
    # The sum of a repeated number becomes its product with the sizes, perhaps in 8 bits; for integers a power in
    # float64.
    "local_opt_alloc",
    # (a / x + b) * x becomes a + b * x, even where x is 0; and c * (a - b) becomes c * a - c * b, which is not 0 where
    # a is b.
    "local_greedy_distributor",
    # Powers of 0.5 and -0.5 become roots, which are NaN for -inf.
    "local_pow_specialize",
)


def modes():
    from theano.gof.vm import VM_Linker

    quick = Mode(VM_Linker(use_cloop=False, c_thunks=False), "merge")
    compiled = theano.compile.mode.predefined_modes["FAST_RUN"].excluding(*WRONG)
    if not theano.config.cxx:
        # It asks for compiled convolutions; without a compiler they stay on NumPy (on_numpy.py). Fused loops would run
        # element by element in Python, where x % 0 is an error.
        compiled = compiled.excluding("AbstractConvCheck", "fusion")
    return quick, compiled


QUICK, COMPILED = modes()


class Memory:
    """Arrays on memory that is shared with the parent."""

    def __init__(self, fd):
        self.map = mmap.mmap(fd, 0)

    def array(self, at, dtype, shape):
        n = size_of(shape)
        if n == 0:
            return np.zeros(shape, STORED[dtype])
        return np.frombuffer(self.map, STORED[dtype], n, at).reshape(shape)


class WorkerGraph:
    def __init__(self, text_fd):
        with mmap.mmap(text_fd, 0, prot=mmap.PROT_READ) as text:
            length, constants_at = struct.unpack_from("<QQ", text)
            graph = json.loads(text[16 : 16 + length])
            constants = text[constants_at:]
        types = graph["values"]
        self.graph, self.constants = graph, constants  # until it is compiled
        self.ins = self.outs = None  # until they have places
        self.in_types = [types[v] for v in graph["in"]]
        self.out_types = [types[v] for v in graph["out"]]
        self.memory = {}
        self.calls = 0
        self.may_improve = MODE == "auto" and bool(theano.config.cxx)
        self.compile(COMPILED if MODE == "FAST_RUN" else QUICK)

    def place(self, text_fd, *memory_fds):
        """Sets where the arrays lie from now on, perhaps in other memory. Results have several sets of
        places."""
        with mmap.mmap(text_fd, 0, prot=mmap.PROT_READ) as text:
            places = json.loads(text[:])
        for name, fd in zip(places["memory"], memory_fds):
            self.memory[name] = Memory(fd)
        self.ins = self.arrays("in", places, self.in_types)
        starts = [places["set_bytes"] * i for i in range(places["sets"])]
        self.outs = [self.arrays("out", places, self.out_types, start) for start in starts]
        self.bind()

    def arrays(self, name, places, types, start=0):
        memory = self.memory[name]
        return [
            memory.array(start + at, t[0], shape) for (at, shape), t in zip(places[name], types)
        ]

    def compile(self, mode):
        note(what_of(self.graph))
        try:
            self.make(mode)
        finally:
            note("")

    def make(self, mode):
        inputs, outputs = Builder(self.constants, mode).function(self.graph)
        made = theano.function(
            [theano.In(x, borrow=True) for x in inputs],
            [theano.Out(y, borrow=True) for y in outputs],
            mode=mode,
        )
        if mode is COMPILED:
            self.graph = self.constants = None
        # The function's own argument handling is not needed: inputs stay where they are.
        self.machine = made.fn
        self.keep = made
        if self.ins is not None:
            self.bind()

    def bind(self):
        made = self.keep
        boxes = [c.storage for c in made.input_storage]
        self.halves = []  # (box, array): inputs that are widened before each call
        for box, (dtype, _), x in zip(boxes, self.in_types, self.ins):
            if dtype in (FLOAT16, BFLOAT16):
                self.halves.append((box, x, from_bfloat16 if dtype == BFLOAT16 else widen))
            else:
                box[0] = x
        self.sets = [self.bind_results(made, outs) for outs in self.outs]

    def bind_results(self, made, outs):
        """(results, offers): where results are found and where they belong, and Theano's boxes that receive
        their places."""
        results, offers = [], []
        variables = made.maker.fgraph.outputs
        for c, variable, (dtype, _), y in zip(made.output_storage, variables, self.out_types, outs):
            convert = to_bfloat16 if dtype == BFLOAT16 else None
            results.append((c.storage if hasattr(c, "storage") else c, y, convert))
            first = origin(variable)
            if dtype not in (FLOAT16, BFLOAT16) and first is not None:
                offers.append((self.machine.storage_map[first], y))
        return results, offers

    def run(self, places):
        """Puts the results into one set of places."""
        self.calls += 1
        if self.may_improve and self.calls >= CALLS_BEFORE_COMPILING:
            self.improve()
        for box, x, convert in self.halves:
            box[0] = convert(x)
        results, offers = self.sets[places]
        for box, y in offers:
            box[0] = y
        self.machine()
        for box, y, convert in results:
            if box[0] is not y:
                y[...] = convert(box[0]) if convert else box[0]

    def improve(self):
        """Compiles it. An interruption leaves it unchanged: the next call tries again."""
        try:
            self.compile(COMPILED)
        except Exception as e:  # noqa: BLE001 - the Python code goes on serving
            print("horngate: Theano could not compile a graph:", e, file=sys.stderr)
        self.may_improve = False


def note(text):
    """Tells the other side what is being compiled; an empty text when nothing is."""
    os.write(NOTES, b"c" + text.encode())


def what_of(graph):
    """For example: a graph of 40 operations (conv, dot_general and others)."""
    kinds = {}
    for node in graph["nodes"]:
        kinds[node["prim"]] = kinds.get(node["prim"], 0) + 1
    n = sum(kinds.values())
    heavy = [k for k in HEAVY if k in kinds]
    named = f" with {', '.join(heavy)}" if heavy else ""
    return f"a graph of {n} operation{'s' * (n != 1)}{named}"


def origin(variable):
    """What is computed first in the memory of a result; operations in place come after it. None for inputs."""
    while variable.owner is not None:
        place = variable.owner.outputs.index(variable)
        destroyed = getattr(variable.owner.op, "destroy_map", {}).get(place)
        if not destroyed:
            return variable
        variable = variable.owner.inputs[destroyed[0]]
    return None


def widen(x):
    return x.astype("float32")
