"""Whether what the library gave is what the evaluator says, up to what the program loses by itself.

Tolerances come from noisy runs of the evaluator (README.md, "How exact"). A few runs are enough to
let nearly all right answers pass; only what they reject is looked at with many."""

import numpy as np
from fuzz.dtypes import ROUNDOFF, TINY, is_float
from fuzz.evaluate import STEP, Evaluation, Noise

FACTOR = 8.0
FEW, MANY = 3, 40


class Reference:
    """The evaluator's answer to a program, and how far right answers may lie from it."""

    def __init__(self, program, observed=None):
        self.program, self.observed = program, observed
        self.exact = Evaluation(program, observed=observed)
        self.noisy = []
        self.directions, self.slopes, self.noisy_slopes = [], [], []
        self.rng = np.random.default_rng(program["seed"] if isinstance(program["seed"], int) else 0)
        self.more(FEW)
        if program["gradients"]:
            self.differentiate()

    def more(self, count):
        """More noisy runs."""
        for i in range(count):
            noise = Noise(self.rng, narrow=i % 3 == 1, amplitude=1.5 if i % 2 else 3.0)
            self.noisy.append(Evaluation(self.program, noise, observed=self.observed))

    def differentiate(self):
        """The derivative of each loss along a random direction in each of its variables."""
        program = self.program
        leaves = {x["name"]: x for x in program["leaves"]}
        for gradient in program["gradients"]:
            for i, name in enumerate(gradient["wrt"]):
                leaf, direction = leaves[name], []
                for call in range(program["calls"]):
                    shape = [n if isinstance(n, int) else n[call] for n in leaf["dims"]]
                    direction.append({name: self.rng.standard_normal(shape)})
                self.directions.append((gradient, i, direction))
        for _, _, direction in self.directions:
            run = Evaluation(program, direction=direction, observed=self.observed)
            self.slopes.append(run.slopes)
        self.noisy_slopes = [[] for _ in self.directions]
        self.more_slopes(FEW)

    def more_slopes(self, count):
        for i in range(count):
            for found, (_, _, direction) in zip(self.noisy_slopes, self.directions):
                noise = Noise(self.rng, amplitude=3.0, absolute=0.0 if i % 3 else 2.0)
                run = Evaluation(self.program, noise, direction, self.observed)
                found.append(run.slopes)

    def array_fault(self, got, which, name, call):
        """None, or where `got` is wrong. `which` is "values" or "variables"."""
        wanted = getattr(self.exact, which)[call][name]
        dtype = self.exact.dtypes[name]
        if got.shape != wanted.shape:
            return {"kind": "shape", "wanted": wanted.shape, "got": got.shape}
        if got.dtype.name != dtype:
            return {"kind": "dtype", "wanted": dtype, "got": got.dtype.name}
        if not got.size:
            return None
        runs = [getattr(run, which)[call][name] for run in self.noisy]
        with np.errstate(all="ignore"):
            if is_float(dtype):
                return float_fault(got.astype("float64"), wanted, runs, dtype)
            wrong = got != wanted
            if wrong.any():
                for run in runs:
                    wrong &= run == wanted
        if not wrong.any():
            return None
        at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
        return {
            "kind": "value",
            "index": at,
            "wanted": wanted[at].item(),
            "got": got[at].item(),
            "tolerance": 0,
        }

    def slope_fault(self, gradients, number, call):
        """None, or how a gradient disagrees with the derivative along a direction."""
        gradient, i, direction = self.directions[number]
        which = self.program["gradients"].index(gradient)
        name = gradient["wrt"][i]
        got = gradients[which][i]
        v = direction[call][name]
        wanted = self.slopes[number][call][which]
        if got is not None:
            if got.shape != v.shape:
                return {"kind": "shape", "wanted": v.shape, "got": got.shape}
            if not np.isfinite(got).all():
                found = [s[call][which] for s in self.noisy_slopes[number]]
                if np.isfinite([wanted, *found]).all():
                    return {"kind": "gradient", "wanted": wanted, "got": float("nan"), "tolerance": 0.0}
                return None
        terms = np.zeros(()) if got is None else got.astype("float64") * v
        total, size = float(terms.sum()), float(np.abs(terms).sum())
        found = [s[call][which] for s in self.noisy_slopes[number]]
        if not np.isfinite([wanted, *found]).all():
            return None
        dtype = self.loss_dtype(gradient)
        spread = max(abs(s - wanted) for s in found)
        roundoff = ROUNDOFF[dtype]
        # Reverse order rounds each element of the gradient by itself.
        tolerance = FACTOR * spread + 32 * roundoff * (size + abs(wanted)) + 1e3 * TINY[dtype] * np.abs(v).sum()
        if abs(total - wanted) <= tolerance:
            return None
        return {"kind": "gradient", "wanted": wanted, "got": total, "tolerance": tolerance, "of": name}

    def loss_dtype(self, gradient):
        """The least precise float dtype of the program: gradients may pass through it."""
        types = [t for t in self.exact.dtypes.values() if is_float(t)]
        return min(types, key=["float16", "float32", "float64"].index)


def float_fault(got, wanted, runs, dtype):
    spread = np.zeros(wanted.shape)
    settled = np.ones(wanted.shape, bool)
    finite = np.isfinite(wanted)
    for run in runs:
        spread = np.maximum(spread, np.where(finite, np.abs(run - wanted), 0))
        settled &= np.where(finite, np.isfinite(run), (run == wanted) | (np.isnan(run) & np.isnan(wanted)))
    tolerance = FACTOR * spread + 8 * ROUNDOFF[dtype] * np.abs(wanted) + 8 * TINY[dtype]
    right = np.where(
        finite,
        np.abs(got - wanted) <= tolerance,
        (got == wanted) | (np.isnan(got) & np.isnan(wanted)),
    )
    wrong = settled & ~right
    if not wrong.any():
        return None
    at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.ndim else ()
    return {
        "kind": "value",
        "index": at,
        "wanted": float(wanted[at]),
        "got": float(got[at]),
        "tolerance": float(np.broadcast_to(tolerance, wanted.shape)[at]),
        "share": float(wrong.mean()),
    }


def first_fault(reference, result):
    """The first fault of a result, or None."""
    if "error" in result:
        return {"kind": "error", **{k: result[k] for k in ("error", "text", "where")}}
    if result["repeated"] is False:
        return {"kind": "repeated", "text": "the same call gave other bits"}
    if reference.exact.bad:
        return {"kind": "random", "text": reference.exact.bad}
    for name, (dtype, shape) in result["types"].items():
        if dtype != reference.exact.dtypes[name]:
            return {"kind": "dtype", "name": name, "wanted": reference.exact.dtypes[name], "got": dtype}
        for values in reference.exact.values:
            sizes = values[name].shape
            if len(shape) != len(sizes) or any(n not in (None, m) for n, m in zip(shape, sizes)):
                return {"kind": "static shape", "name": name, "wanted": sizes, "got": shape}
    for call, made in enumerate(result["calls"]):
        for number, (name, got) in enumerate(made["outputs"].items()):
            fault = reference.array_fault(np.asarray(got), "values", name, call)
            if fault:
                return {**fault, "call": call, "output": number, "name": name}
        for name, got in made["variables"].items():
            fault = reference.array_fault(np.asarray(got), "variables", name, call)
            if fault:
                return {**fault, "call": call, "variable": name, "name": name}
        for number in range(len(reference.directions)):
            fault = reference.slope_fault(made["gradients"], number, call)
            if fault:
                return {**fault, "call": call, "name": f"gradient {number}"}
    return None


def fault_of(reference, result):
    """The same, after a second look with many noisy runs at what a few rejected."""
    fault = first_fault(reference, result)
    if fault is None or fault["kind"] in ("error", "repeated", "random", "shape", "dtype", "static shape"):
        return fault
    if len(reference.noisy) < MANY:
        reference.more(MANY - len(reference.noisy))
        if reference.directions:
            reference.more_slopes(MANY - FEW)
        fault = first_fault(reference, result)
    return fault


def bits_fault(a, b):
    """None, or the first output that has other bits in two results."""
    for call, (x, y) in enumerate(zip(a["calls"], b["calls"])):
        for name in x["outputs"]:
            p, q = np.asarray(x["outputs"][name]), np.asarray(y["outputs"][name])
            if p.tobytes() != q.tobytes():
                return {"kind": "bits", "call": call, "name": name}
        for g, h in zip(x["gradients"], y["gradients"]):
            for p, q in zip(g, h):
                if (p is None) != (q is None) or (p is not None and p.tobytes() != q.tobytes()):
                    return {"kind": "bits", "call": call, "name": "gradient"}
    return None
