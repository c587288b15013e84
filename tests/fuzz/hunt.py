"""One process that hunts: programs of a list of seeds, run under configurations, and compared."""

import random
import time

from fuzz import compare, generate
from fuzz.configurations import Worker, of_engine
from fuzz.ops import TABLE

# How many programs a configuration beside the default one is kept for: starting one takes a while.
TURN = 150

# Messages of the library that are right: what a graph asks for cannot be had with open sizes.
REFUSALS = (
    "must be known",
    "needs inputs with a fixed number",
)


class Hunt:
    def __init__(self, engine="native", seed=0, only=None, mood=None):
        self.random = random.Random(seed)
        self.mood = mood
        configurations = of_engine(engine, self.random)
        self.default = Worker(configurations[0])
        self.in_order = configurations[0].in_order()
        others = configurations[1:]
        if only is not None:
            others = [c for c in others if only in c.name]
        self.others = [Worker(c) for c in others if c.every is None]
        self.rare = [Worker(c) for c in others if c.every]
        self.random.shuffle(self.others)
        self.turn = 0
        self.counts = {"graphs": 0, "refused": 0, "findings": 0}
        self.refusals = {}

    def other(self, program):
        for worker in self.rare:
            seed = program["seed"]
            if isinstance(seed, int) and seed % worker.configuration.every == 0:
                return worker
        if not self.others:
            return None
        number, self.turn = self.turn // TURN, self.turn + 1
        if self.turn % TURN == 1 and number:
            self.others[(number - 1) % len(self.others)].stop()
        return self.others[number % len(self.others)]

    def one(self, seed):
        """None, or what is wrong with the program of a seed."""
        return self.check(generate.program_of(seed, self.mood))

    def check(self, program):
        self.counts["graphs"] += 1
        other = self.other(program)
        self.default.send(program)
        if other:
            other.send(program)
        reference = None
        if not needs_observation(program):
            reference = compare.Reference(program, in_order=self.in_order)
        result = self.default.receive()
        second = other.receive() if other else None
        if "error" in result and any(text in result["text"] for text in REFUSALS):
            self.counts["refused"] += 1
            return None
        if reference is None:
            observed = None if "error" in result else result["calls"]
            reference = compare.Reference(program, observed, self.in_order)
        finding = finding_of(program, reference, result, self.default.configuration)
        if finding is None and other:
            in_order = other.configuration.in_order()
            if reference.observed is not None and "error" not in second:
                reference = compare.Reference(program, second["calls"], in_order)
            elif in_order != self.in_order:
                reference = compare.Reference(program, reference.observed, in_order)
            finding = finding_of(program, reference, second, other.configuration, result)
        if finding:
            self.counts["findings"] += 1
        return finding

    def stop(self):
        for worker in [self.default, *self.others, *self.rare]:
            worker.stop()


def needs_observation(program):
    """Whether the evaluator goes on with what the library drew or differentiated."""
    drawn = any(TABLE[op["op"]].random for op in program["ops"])
    return drawn or any(u["kind"] == "descend" for u in program["updates"])


def finding_of(program, reference, result, configuration, default=None):
    fault = compare.fault_of(reference, result)
    if fault is None and default is not None and configuration.same_bits:
        fault = compare.bits_fault(default, result)
    if fault is None:
        return None
    return {
        "program": program,
        "fault": fault,
        "configuration": configuration.name,
        "environment": configuration.environment,
    }


def seeds_until(seconds, first, step):
    end = time.monotonic() + seconds
    seed = first
    while time.monotonic() < end:
        yield seed
        seed += step
