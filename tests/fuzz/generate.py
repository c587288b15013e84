"""Random programs that are valid: operations are drawn one by one and evaluated at once, so that
what would fail, overflow or grow too large is known before it is kept."""

import math
import random

import numpy as np
from fuzz import data
from fuzz.dtypes import held, is_float, is_int
from fuzz.evaluate import Evaluation, Noise
from fuzz.moods import MOODS, mood_of, weights_of
from fuzz.motifs import MOTIFS
from fuzz.ops import TABLE
from fuzz.program import cleaned

LIMITS = {"float16": 200.0, "float32": 1e6, "float64": 1e8}


class Value:
    """A tensor of the program, with its arrays: one per call."""

    def __init__(self, name, dtype, arrays, leaf=None):
        self.name, self.dtype, self.arrays, self.leaf = name, dtype, arrays, leaf
        self.shape = arrays[0].shape
        self.rank = len(self.shape)
        self.dims = list(zip(*(x.shape for x in arrays)))
        self.size = max(x.size for x in arrays)
        self.is_float, self.is_int = is_float(dtype), is_int(dtype)
        self.low, self.top, self.lowest_size, self.finite = 1.0, 0.0, 1.0, True
        parts = [x for x in arrays if x.size]
        if parts and dtype != "bool":
            with np.errstate(all="ignore"):
                self.low = float(min(x.min() for x in parts))
                self.top = float(max(np.abs(x).max() for x in parts))
                self.lowest_size = float(min(np.abs(x).min() for x in parts))
            self.finite = bool(np.isfinite(self.top))
        self.odd = not self.finite
        self.may_be_open = False


class Drawer:
    """What entries of the table draw with."""

    def __init__(self, seed, settings, weights):
        self.random = random.Random(seed)
        self.weights = weights
        self.floatx = settings["floatx"]
        self.calls = settings["calls"]
        self.limit = settings["limit"]
        self.odd = settings["odd"]
        self.image_data_format = settings["image_data_format"]
        self.phase, self.depth = settings["phase"], 0
        self.batch, self.palette = settings["batch"], settings["palette"]
        self.values, self.leaves, self.ops = [], [], []
        self.names = 0

    # Choices

    def chance(self, p):
        return self.random.random() < p

    def choice(self, items):
        return items[int(self.random.random() * len(items))]

    def below(self, n):
        return int(self.random.random() * n)

    def between(self, low, high):
        return low + int(self.random.random() * (high - low + 1))

    def sample(self, items, n):
        return self.random.sample(list(items), n)

    def shuffle(self, items):
        self.random.shuffle(items)

    def small(self):
        return self.choice(self.palette)

    def width(self):
        return self.choice(self.palette) or 1

    def data_format(self, may_be_left_out=True):
        if may_be_left_out and self.chance(0.3):
            return f"default:{self.image_data_format}"
        return self.choice(["channels_last", "channels_first"])

    # Values

    def pick(self, wants=None):
        fitting = [v for v in self.values if wants is None or wants(v)]
        if not fitting:
            return None
        return fitting[int(len(fitting) * max(self.random.random(), self.random.random()))]

    def pick_float(self):
        return self.pick(lambda v: v.is_float)

    def broadcasts(self, x, y):
        """In each call, to a shape that is not too large."""
        try:
            shapes = [np.broadcast_shapes(a.shape, b.shape) for a, b in zip(x.arrays, y.arrays)]
        except ValueError:
            return False
        return all(math.prod(shape) <= self.limit for shape in shapes)

    def pair(self, wants):
        x = self.pick(wants)
        if x is None:
            return None
        mixed = self.chance(0.04)
        if self.chance(0.3) and x.is_float:
            y = self.new(self.narrowed(x), x.dtype)
        else:
            y = self.pick(
                lambda v: (v.dtype == x.dtype or mixed) and wants(v) and self.broadcasts(x, v)
            )
        if y is None:
            return None
        return (x, y) if self.chance(0.5) else (y, x)

    def narrowed(self, x):
        """Dimensions that broadcast to those of x."""
        dims = [n if self.chance(0.7) else 1 for n in x.dims]
        return dims[self.below(len(dims) + 1) :] if self.chance(0.5) else dims

    def reduces_nothing(self, x, axis):
        """Whether a reduction would be over no elements."""
        axes = range(x.rank) if axis is None else axis if isinstance(axis, list) else [axis]
        return any(0 in x.dims[i] for i in axes)

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.names - 1}"

    def new(self, dims, dtype=None, whole=None, weight=False, kind=None, positive=False):
        """A new leaf; dims are numbers, or tuples with one per call."""
        dtype = dtype or self.floatx
        dims = [n if isinstance(n, int) else n[0] if len(set(n)) == 1 else list(n) for n in dims]
        varies = any(not isinstance(n, int) for n in dims)
        if kind is None:
            kind = self.choice(["placeholder", "placeholder", "variable", "constant"])
            if weight:
                kind = self.choice(["placeholder", "variable", "variable", "constant"])
        if varies:
            kind = "placeholder"
        sparse = kind == "sparse"
        leaf = {"name": self.name("x"), "kind": kind, "dtype": dtype, "dims": dims}
        if sparse:
            leaf.update(kind="placeholder", sparse=True)
        fan = 1
        if weight:
            fan = max(int(np.prod([n if isinstance(n, int) else n[0] for n in dims[:-1]])), 1)
        scale = round(fan**-0.5, 3) if weight else self.choice([1.0, 1.0, 1.0, 0.5, 2.0])

        def one():
            seed = self.between(0, 999_999)
            if whole is not None:
                return {"kind": "whole", "seed": seed, "low": whole[0], "high": max(whole[1], 1)}
            if kind == "sparse":
                return {"kind": "thin", "seed": seed}
            if not is_float(dtype):
                low = 0 if dtype[0] == "u" else -3
                return {"kind": "whole", "seed": seed, "low": low, "high": 6}
            if positive:
                return {"kind": "positive", "seed": seed}
            if self.odd and not weight and self.chance(0.3):
                return {"kind": "special", "seed": seed}
            if not weight and self.chance(0.15):
                return {"kind": "whole", "seed": seed, "low": -3, "high": 4}
            if not weight and self.chance(0.2):
                return {"kind": "positive", "seed": seed}
            return {"kind": "normal", "seed": seed, "scale": scale}

        shapes = [[n if isinstance(n, int) else n[c] for n in dims] for c in range(self.calls)]
        if leaf["kind"] == "placeholder":
            first = one()
            leaf["data"] = [first] + [
                {**first, "seed": self.between(0, 999_999)} for _ in range(self.calls - 1)
            ]
            every = self.chance(0.1) and not weight
            leaf["open"] = [not isinstance(n, int) or every for n in dims]
            if self.chance(0.15) and not sparse:
                leaf["layout"] = self.choice(["fortran", "strided", "backwards"])
            specs = leaf["data"]
        else:
            leaf["data"] = one()
            specs = [leaf["data"]] * self.calls
        arrays = [held(data.make(s, n, dtype), dtype) for s, n in zip(specs, shapes)]
        self.leaves.append(leaf)
        value = Value(leaf["name"], dtype, arrays, leaf)
        value.may_be_open = kind == "placeholder" and any(leaf["open"])
        if not sparse:
            self.values.append(value)
        return value

    def inner(self):
        return BodyDrawer(self, self.depth + 1)

    # Operations

    def add(self, entry):
        """Draws one operation and keeps it when its values are fit to go on with."""
        state = (len(self.values), len(self.leaves), self.names)
        drawn = entry.draw(self)
        if drawn and None not in drawn[0] and self.keep(entry, *drawn):
            return True
        del self.values[state[0] :]
        del self.leaves[state[1] :]
        self.names = state[2]
        return False

    def keep(self, entry, inputs, args):
        if products(entry, inputs, args) > 1.5e8 or stated_size(args) > self.limit:
            return False
        dtypes = {v.name: v.dtype for v in inputs}
        made = entry.dtype(args, [v.dtype for v in inputs], self.floatx)
        count = 1 if isinstance(made, str) else len(made)
        op = {
            "op": entry.name,
            "in": [v.name for v in inputs],
            "args": args,
            "out": [self.name("v") for _ in range(count)],
        }
        results = []
        evaluation = bare_evaluation(self)
        try:
            with np.errstate(all="ignore"):
                for call in range(self.calls):
                    values = {v.name: v.arrays[call] for v in inputs}
                    evaluation.call = call
                    evaluation.operation(op, values, dtypes)
                    results.append([values[name] for name in op["out"]])
        except (ValueError, IndexError, MemoryError):
            return False  # a size that another call has does not fit, or nothing has room for it
        fresh = []
        for i, name in enumerate(op["out"]):
            arrays = [r[i] for r in results]
            if len({x.ndim for x in arrays}) > 1 or arrays[0].ndim > 5:
                return False
            value = Value(name, dtypes[name], arrays)
            value.may_be_open = any(v.may_be_open for v in inputs)
            if value.size > self.limit:
                return False
            if value.is_float and not self.odd:
                if not value.finite or value.top > LIMITS[value.dtype]:
                    return False
            fresh.append(value)
        self.values += fresh
        self.ops.append(op)
        return True


def products(entry, inputs, args):
    """About how many products an operation takes: the evaluator must keep up with the library."""
    if "size" in args:
        window = int(np.prod(args["size"]))
        filters = inputs[1].shape[-1] if len(inputs) > 1 and inputs[1].rank else 1
        return 3 * inputs[0].size * window * filters
    if entry.name in ("dot", "batch_dot") and inputs[1].rank >= 2:
        return inputs[0].size * inputs[1].size / max(inputs[1].shape[-2], 1)
    return 0


def stated_size(args):
    """Elements of a result whose shape is an argument: known before they are computed."""
    if "batch" not in args:
        return 0
    return args["batch"] * args["filters"] * math.prod(args["result"])


class BodyDrawer(Drawer):
    """Draws the body of a loop or branch. What it takes from outside becomes a parameter."""

    def __init__(self, outer, depth):
        self.outer, self.depth, self.weights = outer, depth, outer.weights
        self.random, self.floatx, self.calls = outer.random, outer.floatx, outer.calls
        self.limit, self.odd = min(outer.limit, 4000), False
        self.batch, self.palette = outer.batch, outer.palette
        self.image_data_format, self.phase = outer.image_data_format, outer.phase
        self.values, self.ops, self.captured = [], [], []
        self.leaves = []

    @property
    def names(self):
        return self.outer.names

    @names.setter
    def names(self, value):
        self.outer.names = max(value, self.outer.names)

    def parameter(self, dtype, arrays):
        made = Value(self.name("p"), dtype, arrays)
        self.values.append(made)
        return made

    def capture(self, outer_value):
        made = Value(self.name("p"), outer_value.dtype, outer_value.arrays)
        made.may_be_open = outer_value.may_be_open
        self.captured.append((made, outer_value))
        self.values.append(made)
        return made

    def new(self, dims, dtype=None, whole=None, weight=False, kind=None, positive=False):
        return self.capture(self.outer.new(dims, dtype, whole, weight, kind, positive))

    def fill(self, count):
        """Some random operations."""
        for _ in range(count * 3):
            if len(self.ops) >= count:
                return
            entry = TABLE[self.random.choices(NAMES, self.weights)[0]]
            if entry.random or entry.outer or (entry.statements and self.depth > 1):
                continue
            self.add(entry)

    def body(self, parameters, results):
        """The body as data, and the outer values that it needs."""
        needed, ops = {v.name for v in results}, []
        for op in reversed(self.ops):
            if needed & set(op["out"]):
                needed |= set(op["in"])
                ops.append(op)
        captured = [(p, v) for p, v in self.captured if p.name in needed]
        body = {
            "parameters": [v.name for v in parameters],
            "captured": [p.name for p, _ in captured],
            "ops": ops[::-1],
            "results": [v.name for v in results],
        }
        return body, [v for _, v in captured]


def bare_evaluation(drawer):
    made = Evaluation.__new__(Evaluation)
    made.noise, made.floatx, made.direction, made.observed = Noise(), drawer.floatx, None, None
    made.phase, made.pending = drawer.phase, {}
    return made


def settings_of(rng):
    """What holds for a whole program."""
    floatx = rng.choices(["float32", "float64", "float16"], [80, 14, 6])[0]
    calls = rng.choices([1, 2, 3], [60, 30, 10])[0]
    sizes = [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33]
    batch = tuple(rng.choice(sizes) if rng.random() < 0.9 else 0 for _ in range(calls))
    palette = [rng.choice([1, 2, 2, 3, 4, 5, 6, 8, 10]) for _ in range(3)] + [
        rng.choice([1, 16, 7])
    ]
    if rng.random() < 0.03:
        palette[0] = 0
    limit = 4000 if rng.random() < 0.9 else 20_000
    large = rng.random() < 0.03
    if large:
        batch = tuple(rng.choice([64, 257, 1024, 2048]) for _ in range(calls))
        palette = [rng.choice([3, 64, 100]), rng.choice([16, 32, 700, 256]), 1]
        limit = 3_000_000
    return {
        "floatx": floatx,
        "calls": calls,
        "batch": batch,
        "palette": palette,
        "limit": limit,
        "large": large,
        "odd": rng.random() < 0.04,
        "image_data_format": rng.choice(["channels_last", "channels_first"]),
        "phase": [rng.randint(0, 1) for _ in range(calls)] if rng.random() < 0.3 else None,
    }


NAMES = [op.name for op in TABLE.values()]


def first_leaves(g, dtypes):
    for _ in range(g.between(1, 4)):
        rank = g.choice([0, 1, 2, 2, 2, 3, 3, 4, 4, 5])
        dims = [g.small() for _ in range(rank)]
        if rank and g.chance(0.7):
            dims[0] = g.batch
        sizes = [n if isinstance(n, int) else max(n) for n in dims]
        if np.prod(sizes) > g.limit:
            dims = dims[:2]
        dtype = g.floatx
        if dtypes and g.chance(0.8):
            dtype = g.choice(dtypes)
        elif g.chance(0.12):
            dtype = g.choice(["int32", "int64", "uint8", "int8", "bool", "float32", "float64"])
        g.new(dims, dtype)


def program_of(seed, mood=None):
    rng = random.Random(f"program {seed}")
    mood = MOODS[mood or mood_of(seed)]
    settings = settings_of(rng)
    settings |= mood.settle(rng, settings)
    weights = weights_of(mood, rng)
    g = Drawer(f"ops {seed}", settings, weights)
    first_leaves(g, mood.dtypes)
    wanted = rng.choice(mood.counts) if not settings["large"] else rng.randint(1, 6)
    draws = iter(rng.choices(NAMES, weights, k=wanted * 4))
    while len(g.ops) < wanted and (name := next(draws, None)):
        if rng.random() < 0.08:
            rng.choice(MOTIFS)(g)
        else:
            g.add(TABLE[name])
    return finished(g, rng, seed, settings)


def finished(g, rng, seed, settings):
    """Outputs, gradients and updates for what was drawn."""
    made = [v for v in g.values if v.leaf is None]
    used = {name for op in g.ops for name in op["in"]}
    ends = [v for v in made if v.name not in used]
    more = [v for v in made if v.name in used and rng.random() < 0.2]
    outputs = [v.name for v in ends + more] or [g.values[-1].name]
    outputs += [out for op in g.ops if TABLE[op["op"]].seen for out in op["out"]]
    program = {
        "seed": seed,
        "floatx": settings["floatx"],
        "image_data_format": settings["image_data_format"],
        "calls": settings["calls"],
        "leaves": g.leaves,
        "ops": g.ops,
        "outputs": sorted(set(outputs), key=outputs.index),
        "gradients": [],
        "updates": [],
        "phase": settings["phase"],
    }
    if rng.random() < 0.45 and not settings["odd"] and settings["floatx"] != "float16":
        add_gradient(program, made, g, rng)
    if rng.random() < 0.2:
        add_updates(program, g, rng)
    look_inside(program, made, random.Random(f"inside {seed}"))
    if any(op["op"] == "updated" for op in program["ops"]) and not settled(program):
        program["calls"], program["updates"] = 1, []
        for leaf in program["leaves"]:
            leaf["dims"] = [n if isinstance(n, int) else n[:1] for n in leaf["dims"]]
            leaf["data"] = leaf["data"][:1] if leaf["kind"] == "placeholder" else leaf["data"]
        program["phase"] = program["phase"] and program["phase"][:1]
    return cleaned(program)


def add_gradient(program, made, g, rng):
    losses = [v for v in made if v.is_float and v.dtype != "float16"]
    leaves = [
        x["name"]
        for x in g.leaves
        if is_float(x["dtype"]) and x["kind"] != "constant" and not x.get("sparse")
    ]
    if not losses or not leaves:
        return
    loss = losses[int(len(losses) * max(rng.random(), rng.random()))]
    wrt = rng.sample(leaves, rng.randint(1, min(3, len(leaves))))
    program["gradients"].append({"loss": loss.name, "wrt": wrt})
    if rng.random() < 0.3:
        program["outputs"] = [name for name in program["outputs"] if rng.random() < 0.5] or [
            loss.name
        ]
        program["outputs"] += [
            o for op in program["ops"] if TABLE[op["op"]].seen for o in op["out"]
        ]
        program["outputs"] = sorted(set(program["outputs"]), key=program["outputs"].index)


# What may give an operand itself, and what may give a constant: what is made of constants alone cannot be fed.
OPERANDS = ("cast", "to_dense", "sparse_to_dense", "in_train_phase", "in_test_phase")
CONSTANTS = (
    *("arange", "arange_of_shape", "constant_of_shape", "eye"),
    *("ones", "ones_like", "zeros", "zeros_like", "shape", "size", "is_sparse"),
)


def look_inside(program, made, rng):
    """Results in the middle of a program are differentiated with respect to, and fed."""
    # Several results of one operation may be made of each other (the last output of a loop and all of them).
    maker = {op["out"][0]: op["op"] for op in program["ops"] if len(op["out"]) == 1}
    floats = [v for v in made if v.is_float and v.dtype != "float16"]
    floats = [v for v in floats if maker.get(v.name, "cast") not in OPERANDS]
    # Where one that rounding makes 0 is dropped, the result does not tell (ops/drawn.py).
    dropped = {op["in"][0] for op in program["ops"] if op["op"] == "dropout"}
    floats = [v for v in floats if v.name not in dropped]
    for gradient in program["gradients"]:
        inside = [v.name for v in floats if v.name != gradient["loss"]]
        if inside and rng.random() < 0.6:
            gradient["wrt"] += rng.sample(inside, min(rng.randint(1, 3), len(inside)))
    changes = any(op["op"] == "updated" or TABLE[op["op"]].random for op in program["ops"])
    varying = {x["name"] for x in program["leaves"] if x["kind"] != "constant"}
    for op in program["ops"]:
        if op["op"] not in CONSTANTS and varying & set(op["in"]):
            varying |= set(op["out"])
    floats = [v for v in floats if v.name in varying]
    if changes or not floats or rng.random() < 0.7:
        return
    v = rng.choice(floats)
    # A gradient with respect to what is before it would take its result for the fed array.
    above = {v.name}
    for op in reversed(program["ops"]):
        if above & set(op["out"]):
            above |= set(op["in"])
    above.discard(v.name)
    if any(above & set(gradient["wrt"]) for gradient in program["gradients"]):
        return
    dims = [n[0] if len(set(n)) == 1 else list(n) for n in v.dims]
    specs = [{"kind": "positive", "seed": rng.randrange(1 << 30)} for _ in range(program["calls"])]
    program["fed"] = [{"name": v.name, "dtype": v.dtype, "dims": dims, "data": specs}]
    if not settled(program):
        program["fed"] = []


def add_updates(program, g, rng):
    by_name = {v.name: v for v in g.values}
    taken = {op["in"][0] for op in g.ops if op["op"] == "updated"}
    for leaf in g.leaves:
        if leaf["kind"] != "variable" or not is_float(leaf["dtype"]) or leaf["name"] in taken:
            continue
        old = by_name[leaf["name"]]
        news = [v for v in g.values if v.dims == old.dims and v.dtype == old.dtype]
        if not news:
            continue
        kind = rng.choice(["update", "update_add", "update_sub", "pair", "moving_average_update"])
        update = {"kind": kind, "variable": leaf["name"], "value": rng.choice(news).name}
        if kind == "moving_average_update":
            update["momentum"] = rng.choice([0.5, 0.75, 0.875])
        program["updates"].append(update)
    if program["gradients"] and rng.random() < 0.6:
        add_descent(program, g, taken)
    if not program["updates"]:
        return
    if program["calls"] == 1 and rng.random() < 0.7:
        repeat_calls(program)
    if not settled(program):
        program["updates"] = []


def add_descent(program, g, taken):
    """Training: variables follow the gradient of the loss."""
    kinds = {x["name"]: x["kind"] for x in g.leaves}
    for i, gradient in enumerate(program["gradients"]):
        for j, name in enumerate(gradient["wrt"]):
            if kinds[name] == "variable" and name not in taken:
                program["updates"] = [u for u in program["updates"] if u["variable"] != name]
                program["updates"].append({"kind": "descend", "variable": name, "gradient": [i, j]})


def repeat_calls(program):
    program["calls"] = 2
    for leaf in program["leaves"]:
        if leaf["kind"] == "placeholder":
            leaf["data"] = leaf["data"] * 2
            leaf["dims"] = [n if isinstance(n, int) else n * 2 for n in leaf["dims"]]
    if program["phase"]:
        program["phase"] = program["phase"] * 2


def settled(program):
    """Whether all calls, with updates between them, stay within limits."""
    try:
        run = Evaluation(program, keep_all=True)
    except (ValueError, IndexError):
        return False
    for values in [*run.values, *run.variables]:
        for name, x in values.items():
            if x.dtype.kind == "f" and x.size:
                top = np.abs(x).max()
                if not np.isfinite(top) or top > LIMITS.get(run.dtypes.get(name), 1e6):
                    return False
    return True
