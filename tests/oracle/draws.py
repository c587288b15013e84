"""Draws: a K function called with random arguments. Both sides import the same draws, so that each
calls the same functions with the same numbers.

    @draws("softmax")
    def softmax(r):
        x, axis = r.normal(*r.shape(2, 4)), ...
        return Draw([x], lambda K, x: K.softmax(x, axis=axis), f"axis={axis}")

`call` takes the side's backend module and one tensor per array, and returns a tensor, or lists of
tensors, arrays and plain values. Odd draws are in float64, even ones in float32.
"""

import importlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# name of a K function -> list of (maker of a draw, how many)
makers: dict[str, list] = {}


@dataclass(eq=False)
class Draw:
    arrays: list
    call: Callable
    label: str = ""
    grad: bool = True  # with respect to every float array
    tol: float = 1.0  # what the usual tolerance is multiplied by
    # ours runs once more with open first dimensions: of all arrays (True), or of the first alone
    open: bool | str = True
    static: bool = True  # our result's shape is known before it runs
    raw: bool = False  # call takes arrays, makes its own tensors and returns values
    graph: bool = False  # theirs runs inside a tf.Graph, where placeholders exist
    statistics: bool = False  # the results are samples: compare distributions
    their_call: Callable | None = None  # what theirs runs instead; its K has tf too
    their_dtype: str | None = None  # what theirs computes in, where it has no float64
    after: Callable | None = None  # from results, as arrays, to what is compared
    refused: bool = False  # both sides raise an error
    phase: int | None = None  # learning phase
    floatx: str | None = None  # the draw's dtype, if left out
    function: str = ""
    index: int = 0
    dtype: str = ""

    @property
    def key(self):
        return f"{self.function}/{self.index}"

    @property
    def checksum(self):
        sums = 0
        for a in self.arrays:
            sums = zlib.crc32(np.ascontiguousarray(a).tobytes(), sums)
        return zlib.crc32(self.label.encode(), sums)


class Rand:
    """Where a draw's numbers come from; the same for the same name and index."""

    def __init__(self, name: str, index: int, seed: int):
        self.rng = np.random.default_rng([seed, zlib.crc32(f"{name}/{index}".encode())])
        self.index = index
        self.dtype = ("float32", "float64")[index % 2]

    def normal(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(self.dtype)

    def uniform(self, low, high, *shape):
        return self.rng.uniform(low, high, shape).astype(self.dtype)

    def ints(self, low, high, *shape, dtype="int32"):
        return self.rng.integers(low, high, shape).astype(dtype)

    def apart(self, *shape, low=-3.0, high=3.0):
        """Values of which no two are close: no ties, no kinks near zero."""
        n = int(np.prod(shape))
        values = np.linspace(low, high, 2 * n + 1)[1::2] + 0.1 / (n + 1)
        return self.rng.permutation(values).reshape(shape).astype(self.dtype)

    def probabilities(self, *shape, axis=-1):
        e = np.exp(self.rng.standard_normal(shape))
        return (e / e.sum(axis=axis, keepdims=True)).astype(self.dtype)

    def int(self, low, high):
        """low <= result <= high"""
        return int(self.rng.integers(low, high + 1))

    def choice(self, *options) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def flag(self):
        return bool(self.rng.integers(2))

    def shape(self, low_rank, high_rank, low=1, high=5):
        rank = self.int(low_rank, high_rank)
        return tuple(self.int(low, high) for _ in range(rank))

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def axes(self, rank):
        """None, one axis, or several."""
        kind = self.int(0, 2)
        if kind == 0 or rank == 0:
            return None
        if kind == 1:
            return self.axis(rank)
        some = self.rng.permutation(rank)[: self.int(1, rank)]
        return [int(a) - rank * self.int(0, 1) for a in some]

    def broadcastable(self, shape):
        """A shape that broadcasts with `shape`."""
        cut = shape[self.int(0, len(shape)) :]
        return tuple(1 if self.int(0, 3) == 0 else n for n in cut)


def draws(*names: str, count: int = 8):
    def register(make):
        for name in names:
            makers.setdefault(name, []).append((make, count))
        return make

    return register


def load():
    for path in sorted(Path(__file__).parent.glob("draw_*.py")):
        importlib.import_module(path.stem)


def all_draws(only=(), times=1, seed=0):
    """Every draw, in a fixed order; `times` as many as the files say."""
    load()
    for name in sorted(makers):
        if only and name not in only:
            continue
        index = 0
        for make, count in makers[name]:
            for _ in range(count * times):
                r = Rand(f"{make.__module__}.{make.__name__}.{name}", index, seed)
                r.name = name
                d = make(r)
                d.function, d.index, d.dtype = name, index, r.dtype
                yield d
                index += 1
