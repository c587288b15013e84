"""Cases: a K function, inputs, options and an oracle. A file of this folder calls `case`, `error` and
`check` while it is imported; each call becomes tests of several modes, on every engine and dtype.

    case(K.softmax, [rand(4, 5)], axis=1, oracle=oracles.softmax)
    error(K.softmax, [rand(2, 3)], axis=2, text="softmax: axis must be in [-2, 2) ...")

    @check(dtype=("float32", "float64"))
    def sums_to_one(dtype): ...

`case` takes, beside the arguments of the K function:
    oracle      takes the arrays and the same options; float arrays come to it as float64
    dtypes      of the inputs that leave theirs open
    out         dtype of the result, when it follows from nothing else
    tol         greatest error: a number, a dict by dtype, or ulps(n)
    none        whether to run with open dimensions too; a tuple: the shape that is then still known
    grad        whether to differentiate; "none": gradients must be None; left out: if float64 is of
                the dtypes
    grad_tol    greatest error of a gradient in float64
    second      whether to differentiate twice
    open        whether the shape of the result is known only to a call
    label       what to call it, when the function has no good name
    slow        whether it takes seconds
"""

import importlib
import inspect
import itertools
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import horngate as K
import numpy as np
from cases import engines, inputs

FOLDER = Path(__file__).parent
SUPPORT = {"axes", "conftest", "draws", "engines", "families", "harness", "inputs", "modes"}
SUPPORT |= {"oracles", "worker"}

# What the module that is being imported has registered.
_registered: list = []


@dataclass(frozen=True)
class ulps:
    """A tolerance in units in the last place of the result."""

    n: float


@dataclass(eq=False)
class Case:
    function: Callable
    inputs: list
    options: dict
    oracle: Callable
    dtypes: tuple = ("float32", "float64")
    out: str | None = None
    tol: Any = None
    none: Any = True
    grad: Any = None
    grad_tol: float = 1e-6
    second: bool = False
    open: bool = False
    label: str | None = None
    slow: bool = False
    line: int = 0

    def __post_init__(self):
        if self.grad is None:
            differentiable = any(x.differentiable for x in inputs.leaves(self.inputs))
            self.grad = differentiable and "float64" in self.dtypes and self.out is None
        if self.label is None:
            self.label = label_of(self.function, self.inputs, self.options)

    def rng(self, salt=""):
        return np.random.default_rng(zlib.crc32((self.label + salt).encode()))

    def arrays(self, dtype):
        """One array per input, the same numbers for every dtype."""
        rng = self.rng()
        return [x.array(rng, dtype) for x in inputs.leaves(self.inputs)]

    def expected(self, dtype, wide="float64"):
        """The oracle's arrays."""
        arrays = iter([a.astype(wide) if a.dtype.kind == "f" else a for a in self.arrays(dtype)])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
            made = self.oracle(*inputs.fill(self.inputs, arrays), **self.options)
        return [np.asarray(r) for r in flat(made)]

    def build(self, dtype, open_dims=False):
        """(placeholders, result tensors)."""
        specs = inputs.leaves(self.inputs)
        xs = [K.placeholder(x.placeholder_shape(open_dims), dtype=x.dtype_in(dtype)) for x in specs]
        return xs, flat(self.function(*inputs.fill(self.inputs, iter(xs)), **self.options))

    def program(self, dtype="float32"):
        """(K.function, arrays): what a benchmark times."""
        xs, ys = self.build(dtype)
        return K.function(xs, ys), self.arrays(dtype)

    def items(self):
        """(mode, arguments) of each test."""
        for dtype in self.dtypes:
            yield "value", {"dtype": dtype}
        if self.none is not False:
            yield "none", {"dtype": self.dtypes[0]}
        if self.grad == "none":
            yield "disconnected", {}
        elif self.grad:
            for dtype in ("float32", "float64"):
                if dtype in self.dtypes:
                    yield "gradient", {"dtype": dtype}
            if self.none is not False:
                yield "gradient_none", {}
        if self.second:
            yield "second_gradient", {}


@dataclass(eq=False)
class ErrorCase:
    function: Callable
    inputs: list
    options: dict
    text: str
    raises: type = ValueError
    run: bool = False
    label: str | None = None
    slow: bool = False
    line: int = 0

    def __post_init__(self):
        if self.label is None:
            self.label = label_of(self.function, self.inputs, self.options)

    def items(self):
        yield "run_error" if self.run else "error", {}


@dataclass(eq=False)
class Check:
    function: Callable
    values: list
    label: str
    slow: bool = False
    line: int = 0
    needs_numbers: bool = True

    def items(self):
        for arguments in self.values:
            yield "check", arguments


@dataclass
class Item:
    """One test: a case, a mode, an engine."""

    case: Any
    mode: str
    arguments: dict
    engine: engines.Engine
    name: str = field(default="")

    def __post_init__(self):
        words = [self.mode, *map(str, self.arguments.values())]
        self.name = f"{self.case.label}-{'-'.join(words)}@{self.engine.name}"


def flat(made):
    """The tensors or arrays in nested results, in order; None is nothing."""
    if made is None:
        return []
    if inputs.is_sequence(made):
        return [r for part in made for r in flat(part)]
    return [made]


def label_of(function, tree, options):
    shapes = [str(x) for x in inputs.leaves(tree)]
    words = [w for w in tree if isinstance(w, (int, float, str))]
    words += [f"{key}={value}" for key, value in options.items()]
    text = ", ".join(map(str, shapes + words))
    return f"{name_of(function)}({text[:160].replace('::', ':')})"


def name_of(function):
    return getattr(function, "__name__", str(function)).strip("<>")


def _line():
    # case, error and check are called by the file of an op, two frames up.
    return inspect.currentframe().f_back.f_back.f_lineno


def case(function, tree, *, oracle, **keywords):
    own = {k: keywords.pop(k) for k in list(keywords) if k in _CASE_KEYWORDS}
    made = Case(function, list(tree), keywords, oracle, line=_line(), **own)
    _registered.append(made)


def error(function, tree, *, text, **keywords):
    """Demands an error of this very text. raises: its type; run: it comes when the graph is run."""
    own = {k: keywords.pop(k) for k in list(keywords) if k in _ERROR_KEYWORDS}
    _registered.append(ErrorCase(function, list(tree), keywords, text, line=_line(), **own))


def check(function=None, *, slow=False, needs_numbers=True, **values):
    """Registers a function that tests by itself, once for each combination of the values."""
    line = _line()

    def register(body):
        combinations = [dict(zip(values, v)) for v in itertools.product(*values.values())]
        _registered.append(Check(body, combinations, body.__name__, slow, line, needs_numbers))
        return body

    return register(function) if function else register


_CASE_KEYWORDS = (
    "dtypes",
    "out",
    "tol",
    "none",
    "grad",
    "grad_tol",
    "second",
    "open",
    "label",
    "slow",
)
_ERROR_KEYWORDS = ("raises", "run", "label", "slow")


def is_case_file(path):
    path = Path(path)
    return path.parent == FOLDER and path.suffix == ".py" and path.stem not in SUPPORT


def load(path):
    """The cases of a file."""
    _registered.clear()
    module = importlib.import_module("cases." + Path(path).stem)
    if not hasattr(module, "_cases"):
        module._cases = list(_registered)
    return module._cases


def all_cases():
    """(name of the file, case) of everything; for the benchmark of ops."""
    for path in sorted(filter(is_case_file, FOLDER.glob("*.py"))):
        for found in load(path):
            if isinstance(found, Case):
                yield path.stem, found


def items_of(path, wanted=None):
    """The tests of a file, under names that are unique in it."""
    seen: dict = {}
    for found in load(path):
        for (mode, arguments), engine in itertools.product(
            found.items(), wanted or engines.wanted()
        ):
            item = Item(found, mode, arguments, engine)
            seen[item.name] = seen.get(item.name, 0) + 1
            if seen[item.name] > 1:
                item.name += f"#{seen[item.name]}"
            if engines.is_in_sample(engine, item.name):
                yield item
