"""Makes a program that fails smaller, as long as it still fails in the same way."""

import copy
import time

from fuzz import compare, hunt
from fuzz.configurations import Configuration, Worker
from fuzz.evaluate import Evaluation
from fuzz.program import cleaned


def candidates(program):
    """Programs that are a little smaller."""
    for key in ("gradients", "updates", "fed"):
        for i in range(len(program.get(key, []))):
            yield {**program, key: program[key][:i] + program[key][i + 1 :]}
    for i in range(len(program["outputs"])):
        yield {**program, "outputs": program["outputs"][:i] + program["outputs"][i + 1 :]}
    for i, g in enumerate(program["gradients"]):
        for k in range(len(g["wrt"])):
            if len(g["wrt"]) > 1:
                fewer = {**g, "wrt": g["wrt"][:k] + g["wrt"][k + 1 :]}
                yield {
                    **program,
                    "gradients": [*program["gradients"][:i], fewer, *program["gradients"][i + 1 :]],
                }
    yield from fewer_calls(program)
    if program["phase"]:
        yield {**program, "phase": None}
    yield from cut_ops(program)
    yield from cut_bodies(program)
    yield from drop_captured(program)
    yield from simpler_leaves(program)


def fewer_calls(program):
    for gone in range(program["calls"]):
        if program["calls"] < 2:
            return
        made = copy.deepcopy(program)
        made["calls"] -= 1
        for leaf in [*made["leaves"], *made.get("fed", [])]:
            leaf["dims"] = [
                n if isinstance(n, int) else [m for c, m in enumerate(n) if c != gone]
                for n in leaf["dims"]
            ]
            if leaf.get("kind", "placeholder") == "placeholder":
                del leaf["data"][gone]
        if made["phase"]:
            del made["phase"][gone]
        yield made


def renamed(program, old, new):
    """All uses of a value become uses of another."""
    made = copy.deepcopy(program)
    for op in made["ops"]:
        op["in"] = [new if n == old else n for n in op["in"]]
    made["outputs"] = list(dict.fromkeys(new if n == old else n for n in made["outputs"]))
    for g in made["gradients"]:
        g["loss"] = new if g["loss"] == old else g["loss"]
    for u in made["updates"]:
        if u.get("value") == old:
            u["value"] = new
    return made


def cut_ops(program):
    """An operation gone, with one of its operands or a new leaf in place of its result."""
    for op in reversed(program["ops"]):
        for out in op["out"]:
            for name in dict.fromkeys(op["in"]):
                yield renamed(program, out, name)
    values = Evaluation(program, keep_all=True)
    for op in program["ops"]:
        for out in op["out"]:
            made = copy.deepcopy(program)
            shapes = [values.values[c][out].shape for c in range(program["calls"])]
            dtype = values.dtypes[out]
            dims = [n[0] if len(set(n)) == 1 else list(n) for n in zip(*shapes)]
            if dtype == "bool" or "float" in dtype:
                spec = {"kind": "normal", "seed": 1}
            else:
                spec = {"kind": "whole", "seed": 1, "low": 0, "high": 3}
            leaf = {
                "name": out,
                "kind": "placeholder",
                "dtype": dtype,
                "dims": dims,
                "open": [not isinstance(n, int) for n in dims],
                "data": [dict(spec) for _ in range(program["calls"])],
            }
            made["ops"] = [o for o in made["ops"] if o["out"] != op["out"]]
            if len(op["out"]) == 1:
                made["leaves"].append(leaf)
                yield made


def bodies_of(op):
    args = op["args"]
    return [args["body"]] if "body" in args else args.get("bodies", [])


def cut_bodies(program):
    """An operation of a body gone, with one of its operands in place of its result."""
    for i, op in enumerate(program["ops"]):
        for j, body in enumerate(bodies_of(op)):
            for k in reversed(range(len(body["ops"]))):
                gone = body["ops"][k]
                for name in dict.fromkeys(gone["in"]) if len(gone["out"]) == 1 else ():
                    made = copy.deepcopy(program)
                    inside = bodies_of(made["ops"][i])[j]
                    del inside["ops"][k]
                    old = gone["out"][0]
                    for later in inside["ops"]:
                        later["in"] = [name if n == old else n for n in later["in"]]
                    inside["results"] = [name if n == old else n for n in inside["results"]]
                    yield made


def drop_captured(program):
    """A captured value that a loop does not need any more."""
    for i, op in enumerate(program["ops"]):
        body = op["args"].get("body")
        if body is None:
            continue
        used = {n for inner in body["ops"] for n in inner["in"]} | set(body["results"])
        for k, name in enumerate(body["captured"]):
            if name not in used:
                made = copy.deepcopy(program)
                del made["ops"][i]["in"][k - len(body["captured"])]
                del made["ops"][i]["args"]["body"]["captured"][k]
                yield made


def operations(ops):
    """How many there are, those of bodies too."""
    return len(ops) + sum(operations(b["ops"]) for op in ops for b in bodies_of(op))


def simpler_leaves(program):
    for i, leaf in enumerate(program["leaves"]):

        def changed(**more):
            made = copy.deepcopy(program)
            made["leaves"][i].update(more)
            return made

        if leaf.get("layout"):
            yield changed(layout=None)
        if leaf["kind"] == "placeholder" and any(leaf["open"]):
            if all(isinstance(n, int) for n in leaf["dims"]):
                yield changed(open=[False] * len(leaf["dims"]))
    if program["calls"] == 1 and any(
        isinstance(n, list) for x in program["leaves"] for n in x["dims"]
    ):
        made = copy.deepcopy(program)
        for leaf in made["leaves"]:
            leaf["dims"] = [n if isinstance(n, int) else n[0] for n in leaf["dims"]]
        yield made
    # Smaller sizes: the same number everywhere becomes another.
    sizes = sorted(
        {n for leaf in program["leaves"] for n in leaf["dims"] if isinstance(n, int) and n > 1},
        reverse=True,
    )
    for size in sizes:
        for smaller in dict.fromkeys([1, 2, size // 2, size - 1]):
            if 0 < smaller < size:
                made = copy.deepcopy(program)
                for leaf in made["leaves"]:
                    leaf["dims"] = [smaller if n == size else n for n in leaf["dims"]]
                yield made
    for i, leaf in enumerate(program["leaves"]):
        specs = leaf["data"] if leaf["kind"] == "placeholder" else [leaf["data"]]
        if any(s["kind"] not in ("full", "whole") for s in specs) and "float" in leaf["dtype"]:
            made = copy.deepcopy(program)
            full = {"kind": "full", "value": 0.5}
            made["leaves"][i]["data"] = (
                [full for _ in specs] if leaf["kind"] == "placeholder" else full
            )
            yield made


class Trial:
    """Runs candidates under the configuration of a finding."""

    def __init__(self, finding):
        self.finding = finding
        configuration = Configuration(finding["configuration"], finding["environment"])
        self.worker = Worker(configuration)
        self.default = None
        if finding["fault"]["kind"] == "bits":
            self.default = Worker(Configuration("default", {"HORNGATE_NUM_THREADS": "2"}))

    def fault(self, program):
        """The fault of a candidate when it is of the same kind."""
        try:
            result = self.worker.run(program)
            observed = None
            if hunt.needs_observation(program) and "error" not in result:
                observed = result["calls"]
            reference = compare.Reference(program, observed, self.worker.configuration.in_order())
            fault = compare.fault_of(reference, result)
        except Exception:  # noqa: BLE001: the candidate is no valid program
            return None
        kind = self.finding["fault"]["kind"]
        if self.default is not None and fault is None and "error" not in result:
            fault = compare.bits_fault(self.default.run(program), result)
        if fault is None or fault["kind"] != kind:
            return None
        if kind == "error":
            old = self.finding["fault"]
            if fault["error"] != old["error"] or fault["text"][:25] != old["text"][:25]:
                return None
        return fault

    def stop(self):
        self.worker.stop()
        if self.default:
            self.default.stop()


def smallest(finding, seconds=60):
    """The finding with the smallest program that was found in that time."""
    trial, end = Trial(finding), time.monotonic() + seconds
    best = dict(finding)
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        for candidate in candidates(best["program"]):
            if time.monotonic() > end:
                break
            candidate = cleaned(candidate)
            if candidate is None or weight(candidate) >= weight(best["program"]):
                continue
            fault = trial.fault(candidate)
            if fault is not None:
                best["program"], best["fault"] = candidate, fault
                progress = True
                break
    trial.stop()
    return best


def weight(program):
    """What the reducer makes smaller."""
    total = (
        1000 * operations(program["ops"]) + 300 * len(program["outputs"]) + 500 * program["calls"]
    )
    total += 400 * len(program["updates"]) + (20 if program["phase"] else 0)
    total += sum(300 * len(g["wrt"]) for g in program["gradients"])
    total += 300 * len(program.get("fed", []))
    total += sum(len(op["in"]) for op in program["ops"])
    for leaf in program["leaves"]:
        total += 50 + sum(n if isinstance(n, int) else 30 + sum(n) for n in leaf["dims"])
        total += 10 if leaf.get("layout") else 0
        total += 5 * sum(leaf.get("open", []))
        specs = leaf["data"] if leaf["kind"] == "placeholder" else [leaf["data"]]
        total += sum(1 for s in specs if s["kind"] != "full")
    return total
