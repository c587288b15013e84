"""What a program computes, in NumPy and float64, one operation after the other.

A run may be noisy: every rounded result is off by up to `amplitude` times what its dtype rounds, at
random. How far noisy runs lie apart says how far a right answer may lie from ours (README.md). A
run may also carry a derivative along one direction, as the imaginary part of complex numbers."""

import numpy as np
from fuzz import data
from fuzz.dtypes import ROUNDOFF, TINY, held, is_float
from fuzz.ops import TABLE
from fuzz.ops.entry import real

# Derivatives are carried this small, so that their products are 0.
STEP = 1e-200


class Noise:
    """How a run rounds: not at all without a generator. `in_order`: sums add one term after the other. `faint`: a narrow run
    loses the numbers next to 0 that have less than five bits left."""

    def __init__(
        self, rng=None, amplitude=1.5, narrow=False, absolute=0.0, in_order=False, faint=False
    ):
        self.rng, self.amplitude, self.narrow, self.absolute = rng, amplitude, narrow, absolute
        self.in_order, self.faint = in_order, faint
        self.dtype = "float64"

    def __call__(self, y, magnitude=None):
        """y as it might come out of a step that sums terms of that magnitude."""
        if self.rng is None or y.dtype.kind not in "fc":
            return y
        noise = self.rng.random(y.shape)
        noise -= 0.5
        noise *= 2 * self.amplitude * ROUNDOFF[self.dtype]
        if self.absolute and y.size:
            shift = np.abs(y.real)
            shift = shift[np.isfinite(shift)].max(initial=0.0)
            y = y + (self.rng.random(y.shape) - 0.5) * (
                self.absolute * ROUNDOFF[self.dtype] * shift
            )
        if magnitude is None:
            y = y * (1 + noise)
        else:
            exact = y
            y = y + noise * magnitude
            if y.dtype.kind == "c":
                y = y + 1j * y.imag * noise
            if self.narrow:  # terms that rounding alone tells apart may cancel
                near = self.are_near(exact, magnitude)
                y = np.where(near, 1j * y.imag if y.dtype.kind == "c" else 0.0, y)
        if self.narrow and self.dtype != "float64":
            rounded = y.real.astype(self.dtype).astype("float64")
            if self.faint:
                least = 2 * TINY[self.dtype] * ROUNDOFF[self.dtype]
                rounded = np.where(np.abs(rounded) < 16 * least, 0.0, rounded)
            y = rounded + 1j * y.imag if y.dtype.kind == "c" else rounded
        return np.asarray(y)

    def partial_sums(self, n):
        """How much more a sum of n terms loses than one rounding of all: a random walk of n steps. In order, equal terms are
        rounded the same way at each step, and what that loses adds up."""
        return max(1.0, n / 4 if self.in_order else n**0.5 / 4)

    def are_near(self, difference, magnitude):
        """Where a narrow run finds a difference of numbers of that magnitude to be 0."""
        if self.rng is None or not self.narrow:
            return np.zeros(np.shape(difference), bool)
        near = np.abs(real(difference)) <= 4 * ROUNDOFF[self.dtype] * magnitude
        return near & np.isfinite(magnitude)  # what overflows does not cancel

    def off(self, magnitude):
        """By how much something of that magnitude may be off."""
        if self.rng is None:
            return 0.0
        noise = self.rng.random(np.shape(magnitude)) - 0.5
        return noise * (2 * self.amplitude * ROUNDOFF[self.dtype]) * magnitude


class Evaluation:
    """One run over all calls of a program. Results: lists with an entry per call."""

    def __init__(
        self, program, noise=None, direction=None, observed=None, keep_all=False, made=None
    ):
        self.made = {} if made is None else made  # leaves, which runs may share
        self.program, self.noise = program, noise or Noise()
        self.direction = direction  # name of a leaf: array, per call
        self.observed = observed  # calls of a result of a worker
        self.floatx, self.phase = program["floatx"], program["phase"]
        self.bad = None
        self.singular = False  # somewhere a derivative is infinite, and 0 times that is NaN
        self.state, self.dtypes = {}, {}
        self.values, self.variables, self.slopes = [], [], []
        self.sizes = []  # how many elements each value has
        with np.errstate(all="ignore"):
            for call in range(program["calls"]):
                self.run(call, keep_all)

    def run(self, call, keep_all):
        program = self.program
        self.call, values, self.pending = call, {}, {}
        for leaf in program["leaves"]:
            values[leaf["name"]] = self.leaf(leaf, call)
            self.dtypes[leaf["name"]] = leaf["dtype"]
        fed = {x["name"]: x for x in program.get("fed", [])}
        for op in program["ops"]:
            self.operation(op, values, self.dtypes)
            for name in op["out"]:
                if name in fed:
                    values[name] = self.instead(values[name], fed[name], call)
                values[name] = self.moved(name, values[name], call)
        slopes = []
        for gradient in program["gradients"]:
            loss = values[gradient["loss"]]
            slopes.append(loss.imag.sum() / STEP if loss.dtype.kind == "c" else 0.0)
        self.slopes.append(slopes)
        updated = {u["variable"]: self.updated(u, values) for u in program["updates"]}
        self.state.update(updated)
        self.state.update(self.pending)
        self.sizes.append({name: value.size for name, value in values.items()})
        kept = values if keep_all else program["outputs"]
        self.values.append({name: real(values[name]) for name in kept})
        self.variables.append(dict(self.state))

    def leaf(self, leaf, call):
        name = leaf["name"]
        if leaf["kind"] == "variable" and name in self.state:
            return self.moved(name, self.state[name], call)
        key = (name, call)
        if key not in self.made:
            spec = leaf["data"][call] if leaf["kind"] == "placeholder" else leaf["data"]
            made = data.make(spec, data.shape_in(leaf, call), leaf["dtype"])
            self.made[key] = held(made, leaf["dtype"])
        x = self.made[key]
        if leaf["kind"] == "variable":
            self.state[name] = x
        return self.moved(name, x, call)

    def instead(self, x, fed, call):
        """What is fed in place of a result."""
        shape = data.shape_in(fed, call)
        if x.shape != shape:
            raise ValueError(f"{fed['name']} has shape {x.shape}; {shape} is fed")
        return held(data.make(fed["data"][call], shape, fed["dtype"]), fed["dtype"])

    def moved(self, name, x, call):
        if self.direction is not None and name in self.direction[call]:
            x = x + 1j * STEP * self.direction[call][name]
        return x

    def operations(self, ops, values, dtypes):
        for op in ops:
            self.operation(op, values, dtypes)

    def operation(self, op, values, dtypes):
        entry = TABLE[op["op"]]
        inputs = [values[name] for name in op["in"]]
        types = [dtypes[name] for name in op["in"]]
        made = entry.dtype(op["args"], types, self.floatx)
        made = [made] if isinstance(made, str) else made
        if entry.unify:
            inputs = [held(x, made[0]) for x in inputs]
        noise = self.noise
        if self.direction is not None and noise.rng is not None:
            # Each use of a value by itself, so that what cancels in a derivative shows.
            for i, (x, dtype) in enumerate(zip(inputs, types)):
                if x.dtype.kind in "fc" and not entry.statements:
                    noise.dtype = dtype if is_float(dtype) else "float64"
                    inputs[i] = noise(x)
        if entry.random:
            results = self.drawn(entry, op, inputs)
        elif entry.statements:
            results = entry.value(self, op["args"], inputs, types)
        else:
            noise.dtype = next((t for t in [*made, *types] if is_float(t)), "float64")
            results = entry.value(noise, op["args"], *inputs)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for name, y, dtype in zip(op["out"], results, made):
            y = np.asarray(y)
            if is_float(dtype):
                noise.dtype = dtype
                y = held(y, dtype)
                if not entry.exact:
                    y = noise(y)
                elif noise.narrow and dtype != "float64" and y.dtype.kind == "f":
                    y = y.astype(dtype).astype("float64")
                if y.dtype.kind == "c" and not np.isfinite(y.imag).all():
                    self.singular = True
            values[name], dtypes[name] = y, dtype

    def descent(self, update):
        """A part of the gradient that was seen, which compare.py looks at by itself."""
        i, j = update["gradient"]
        name = self.program["gradients"][i]["wrt"][j]
        g = None if self.observed is None else self.observed[self.call]["gradients"][i][j]
        return 0.125 * (self.state[name] if g is None else np.asarray(g).astype("float64"))

    def drawn(self, entry, op, inputs):
        """A random result is taken from the run that it came from."""
        seen = (
            None if self.observed is None else self.observed[self.call]["outputs"].get(op["out"][0])
        )
        if seen is not None:
            seen = np.asarray(seen)
            seen = seen.astype("float64") if seen.dtype.kind == "f" else seen
            self.bad = self.bad or entry.check(seen, op["args"], *inputs)
        return entry.value(seen, op["args"], *inputs)

    def body(self, body, arguments, types):
        """Results of the body of a loop or branch, with their dtypes."""
        names = body["parameters"] + body["captured"]
        values, dtypes = dict(zip(names, arguments)), dict(zip(names, types))
        self.operations(body["ops"], values, dtypes)
        return [values[n] for n in body["results"]]

    def updated(self, update, values):
        """The new value of a variable; all are found before one changes."""
        name = update["variable"]
        if update["kind"] == "descend":
            new = self.descent(update)
        else:
            new = values[update["value"]]
        dtype = next(x["dtype"] for x in self.program["leaves"] if x["name"] == name)
        old, self.noise.dtype = self.state[name], dtype if is_float(dtype) else "float64"
        new = new.real if new.dtype.kind == "c" else new
        kind = update["kind"]
        if kind in ("update", "pair"):
            made = new
        elif kind == "update_add":
            made = self.noise(old + new)
        elif kind in ("update_sub", "descend"):
            made = self.noise(old - new)
        else:
            m = update["momentum"]
            made = self.noise(old * m + new * (1 - m), np.abs(old) * m + np.abs(new))
        return held(np.broadcast_to(made, old.shape), dtype)


def gradients_of(program, which, call):
    """All elements of a gradient, one derivative each; None for more than 64."""
    values, made = Evaluation(program, keep_all=True).values[call], []
    for name in program["gradients"][which]["wrt"]:
        shape = values[name].shape
        g = np.full(shape, np.nan)
        for at in np.ndindex(*shape) if g.size <= 64 else ():
            one = np.zeros(shape)
            one[at] = 1
            run = Evaluation(
                program,
                direction=[{name: one} if c == call else {} for c in range(program["calls"])],
            )
            g[at] = run.slopes[call][which]
        made.append(g)
    return made
