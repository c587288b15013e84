"""What programs lean to. A generator that draws everything with fixed chances hardly ever draws much of one thing, and
what loops, tails of vectors or many calls do wrong may need much of it."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from fuzz.ops import TABLE

COUNTS = [1, 2, 3, 4, 5, 6, 8, 10, 14, 20]
ALL_DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


@dataclass
class Mood:
    """share      of the seeds
    settle     changes the settings of a program
    weigh      the weight of an operation
    counts     how many operations
    dtypes     of the first leaves, besides that of the program
    """

    share: float
    settle: Callable = lambda rng, settings: {}
    weigh: Callable = lambda rng, op: op.weight
    counts: tuple = tuple(COUNTS)
    dtypes: tuple = ()


def sizes(batches, palettes, limit):
    """Settings with other sizes: one of each palette."""

    def settle(rng, settings):
        return {
            "batch": tuple(rng.choice(batches) for _ in range(settings["calls"])),
            "palette": [rng.choice(palette) for palette in palettes],
            "limit": limit,
            "large": False,
        }

    return settle


def many_calls(rng, settings):
    calls = 6
    return {
        "calls": calls,
        "batch": tuple(rng.choice([0, 1, 2, 3, 5, 17, 33, 64]) for _ in range(calls)),
        "phase": [rng.randint(0, 1) for _ in range(calls)],
    }


MOODS = {
    "plain": Mood(0.46),
    # Some operations often, others never: each program another choice.
    "some": Mood(0.15, weigh=lambda rng, op: op.weight * rng.choice([0, 0, 1, 1, 8])),
    "loops": Mood(0.1, weigh=lambda rng, op: op.weight * (12 if op.statements else 1)),
    "tails": Mood(
        0.08,
        sizes(
            [1, 2, 15, 17, 31, 33, 63, 65, 129],
            [[1, 7, 9, 15, 17], [31, 33, 63, 65], [1, 5, 127, 129], [1, 3]],
            60_000,
        ),
    ),
    "ones": Mood(0.07, sizes([0, 1, 1, 2], [[1], [1, 2], [1], [0, 1, 2]], 4000)),
    "integers": Mood(0.05, dtypes=tuple(ALL_DTYPES)),
    "calls": Mood(0.04, many_calls, counts=(8, 14, 20, 30)),
    "long": Mood(0.03, counts=(30, 45, 60)),
    "middle": Mood(
        0.02,
        sizes(
            [1, 20, 64, 100, 130, 257],
            [[15, 16, 17, 31, 32, 33], [48, 63, 64, 65, 100, 128], [1, 3, 7, 14]],
            400_000,
        ),
    ),
}


def mood_of(seed):
    shares = [mood.share for mood in MOODS.values()]
    return random.Random(f"mood {seed}").choices(list(MOODS), shares)[0]


def weights_of(mood, rng):
    weights = [mood.weigh(rng, op) for op in TABLE.values()]
    return weights if any(weights) else [op.weight for op in TABLE.values()]
