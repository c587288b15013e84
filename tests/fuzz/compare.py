"""Whether what the library gave is what the evaluator says, up to what the program loses by itself.

Tolerances come from noisy runs of the evaluator (README.md, "How exact"): none for what agrees to a
few units in the last place, a few for the rest, many for what those reject."""

import numpy as np
from fuzz import data
from fuzz.dtypes import LARGEST, ROUNDOFF, TINY, is_float
from fuzz.evaluate import Evaluation, Noise

FACTOR = 8.0
# Noise goes forward, along a direction; gradients go back, through sums that it does not meet.
SLOPE_FACTOR = 16.0
# The part of an output's size that noise moves an element by, when it is chaos.
CHAOS = 0.1
# Derivatives below this part of the largest number are finite in each element.
NEAR_END = 1e-3
RUNS = (0, 3, 8, 40)  # noisy ones, as long as something is rejected
HELD = 1 << 30  # bytes


class Reference:
    """The evaluator's answer to a program, and how far right answers may lie from it.

    Noisy runs cost time: there are none at first, and more only while something is rejected."""

    def __init__(self, program, observed=None, in_order=False):
        self.program, self.observed, self.made = program, observed, {}
        self.in_order = in_order  # a library of others runs it, whose sums may add term after term
        self.rng = np.random.default_rng(program["seed"] if isinstance(program["seed"], int) else 0)
        self.direction = self.draw_direction() if program["gradients"] else None
        self.exact = self.run()
        if self.exact.singular:
            # Complex products make NaN of infinity times 0 in the other part: values without them.
            plain = self.run(direction=False)
            self.exact.values, self.exact.variables = plain.values, plain.variables
        self.noisy, self.noisy_slopes = [], []
        size = sum(x.nbytes for call in self.exact.values for x in call.values())
        self.most = max(3, HELD // (size + 1))  # noisy runs, all of which are held
        self.unstable = False  # noise made an index leave its range, or a size another one

    def run(self, noise=None, direction=True):
        direction = self.direction if direction else None
        return Evaluation(self.program, noise, direction, self.observed, made=self.made)

    def noise(self, **how):
        return Noise(self.rng, in_order=self.in_order, **how)

    def draw_direction(self):
        """A random direction in all that the program differentiates by, for each call."""
        leaves = {x["name"]: x for x in self.program["leaves"]}
        names = dict.fromkeys(n for g in self.program["gradients"] for n in g["wrt"])
        values = None
        if not names.keys() <= leaves.keys():  # sizes of results
            values = Evaluation(
                self.program, observed=self.observed, keep_all=True, made=self.made
            ).values
        direction = []
        for call in range(self.program["calls"]):
            direction.append({})
            for name in names:
                leaf = leaves.get(name)
                shape = data.shape_in(leaf, call) if leaf else values[call][name].shape
                direction[-1][name] = self.rng.standard_normal(shape)
        return direction

    def more(self, count):
        """More noisy runs."""
        try:
            self.more_runs(count)
        except (ValueError, IndexError):
            self.unstable = True

    def more_runs(self, count):
        for i in range(min(count, self.most - len(self.noisy))):
            noise = self.noise(
                narrow=i % 3 == 1, faint=i % 6 == 4, amplitude=1.5 if i % 2 else 3.0
            )
            if len(self.noisy) == 1:  # rounds after each step and does nothing else
                noise.amplitude = 0.0
            self.noisy.append(self.run(noise, direction=False))
            if self.direction is not None:
                noise = self.noise(narrow=i % 3 == 1, amplitude=3.0, absolute=0.0 if i % 3 else 2.0)
                self.noisy_slopes.append(self.run(noise).slopes)

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
        if any(run.shape != wanted.shape for run in runs):
            return None
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

    def slope_fault(self, which, gradients, call):
        """None, or how a gradient disagrees with the derivative along a direction."""
        names, wanted = self.program["gradients"][which]["wrt"], self.exact.slopes[call][which]
        found = [s[call][which] for s in self.noisy_slopes]
        total = size = length = 0.0
        for name, got in zip(names, gradients[which]):
            v = self.direction[call][name]
            length += float(np.abs(v).sum())
            if got is None:
                continue
            if got.shape != v.shape:
                return {"kind": "shape", "wanted": v.shape, "got": got.shape}
            terms = got.astype("float64") * v
            total += float(terms.sum())
            size += float(np.abs(terms).sum())
        # What the gradient is not asked for moves the loss all the same.
        if set(names) != set(self.direction[call]):
            return None
        if not np.isfinite([wanted, *found]).all():
            return None
        if self.exact.singular and not np.isfinite(total):
            return None
        dtype = self.least_dtype()
        spread = max((abs(s - wanted) for s in found), default=0.0)
        # Before the tolerance, which such a gradient would make as large as itself.
        if not np.isfinite(total) and abs(wanted) + spread < NEAR_END * LARGEST[dtype]:
            return self.fault_of_slope(which, wanted, total, 0.0)
        # Reverse order rounds each element of the gradient by itself.
        roundings = 32 + (self.terms(names, call) if self.in_order else 0)
        tolerance = SLOPE_FACTOR * spread + roundings * ROUNDOFF[dtype] * (size + abs(wanted))
        # Derivatives ride on steps of 1e-200 and vanish below that.
        tolerance += max(1e3 * TINY[dtype], 1e-100) * length
        # An infinite one: the derivative is beyond what the dtype holds.
        if abs(total - wanted) <= tolerance or not np.isfinite(tolerance):
            return None
        return self.fault_of_slope(which, wanted, total, tolerance)

    def fault_of_slope(self, which, wanted, got, tolerance):
        return {
            "kind": "gradient",
            "gradient": which,
            "wanted": float(wanted),
            "got": float(got),
            "tolerance": float(tolerance),
            "of": self.program["gradients"][which]["wrt"],
        }

    def terms(self, names, call):
        """How many terms an element of a gradient may have: what is repeated on the way forward is summed on the way back."""
        sizes = self.exact.sizes[call]
        return max(sizes.values()) / max(1, min(sizes[name] for name in names))

    def least_dtype(self):
        """The least precise float dtype of the program: gradients may pass through it."""
        types = [t for t in self.exact.dtypes.values() if is_float(t)]
        return min(types, key=["float16", "float32", "float64"].index)


def float_fault(got, wanted, runs, dtype):
    spread = np.zeros(wanted.shape)
    settled = np.ones(wanted.shape, bool)
    finite = np.isfinite(wanted)
    for run in runs:
        spread = np.maximum(spread, np.where(finite, np.abs(run - wanted), 0))
        settled &= np.where(
            finite, np.isfinite(run), (run == wanted) | (np.isnan(run) & np.isnan(wanted))
        )
    # Where noise turns much of an output over (a loop of hundreds of steps that forgets its beginning), which elements it
    # meets is chance.
    scale = np.max(np.abs(wanted), where=finite, initial=0.0)
    if np.mean(spread > CHAOS * scale) > 0.01:
        spread = np.maximum(spread, np.max(spread, where=np.isfinite(spread), initial=0.0))
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
    if result["repeated"] not in (None, True):
        text = f"the same call gave other bits: {result['repeated']}"
        return {"kind": "repeated", "text": text}
    if reference.exact.bad:
        return {"kind": "random", "text": reference.exact.bad}
    for name, (dtype, shape) in result["types"].items():
        if dtype != reference.exact.dtypes[name]:
            return {
                "kind": "dtype",
                "name": name,
                "wanted": reference.exact.dtypes[name],
                "got": dtype,
            }
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
        for number in range(len(made["gradients"])):
            fault = reference.slope_fault(number, made["gradients"], call)
            if fault:
                return {**fault, "call": call, "name": f"gradient {number}"}
    return None


def fault_of(reference, result):
    """The same, after noisy runs have said how much of what was rejected is rounding."""
    for count in RUNS:
        if len(reference.noisy) < count:
            reference.more(count - len(reference.noisy))
        if reference.unstable:
            return None
        fault = first_fault(reference, result)
        if fault is None or fault["kind"] not in ("value", "gradient"):
            return fault
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
