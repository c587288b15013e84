"""NaN, infinities, zeros with their signs, subnormal numbers: every element-wise function and every
reduction against NumPy, at several places of arrays of several lengths.

    special_values.py            compares, prints one JSON line, ends with 1 for a difference that
                                 is not listed in DIFFERENCES
    special_values.py --page     prints docs/special_values.md

What NumPy says is computed in a wider type (float64, or the 80 bits of long double) and rounded.
NaN, infinities and zeros must then be the same, zeros with their sign; other numbers may differ by
some units in the last place.
"""

import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import horngate as K
import numpy as np

DTYPES = ("float16", "float32", "float64")
WIDE = {"float16": "float64", "float32": "float64", "float64": "longdouble"}
LENGTHS = (1, 7, 8, 16, 33, 200)


def specials(dtype):
    """What rows of the table are made of, and limits of functions beside them."""
    info = np.finfo(dtype)
    tiny, least, top = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    some = [
        0.0,
        least,
        tiny / 2,
        tiny,
        top,
        np.inf,
        1.0,
        0.5,
        1.5,
        2.5,
        2.0,
        3.0,
        0.3,
        float(info.eps),
    ]
    some += [float(np.nextafter(np.array(0.5, dtype), np.array(0, dtype)))]
    some += [1 + 2.0**-11 + 2.0**-40]  # of float64: halfway between two of float16, but for little
    some += [
        1 + float(info.eps),
        20.0,
        88.5,
        89.5,
        104.5,
        709.5,
        746.5,
        0.999,
        1e-3,
        8388609.0,
        1e9,
    ]
    with np.errstate(over="ignore"):
        values = np.array([np.nan, *some, *(-v for v in some)]).astype(dtype)
    return values


def few_specials(dtype):
    info = np.finfo(dtype)
    some = [0.0, info.smallest_subnormal, info.tiny, info.max, np.inf, 1.0, 0.5, 2.0, 3.0, 1.75]
    return np.array([np.nan, *some, *(-v for v in some)]).astype(dtype)


@dataclass
class Function:
    name: str  # as in the catalogue, or an operator
    label: str
    ours: Callable
    numpys: Callable
    ulps: float = 0.5  # of difference to NumPy's number, rounded; 0.5: none
    zero_sign: bool = True


UNARY, BINARY, REDUCTIONS = [], [], []


def unary(name, numpys, ulps=0.5, label=None, ours=None, **keywords):
    UNARY.append(Function(name, label or name, ours or getattr(K, name), numpys, ulps, **keywords))


def binary(name, ours, numpys, ulps=0.5, **keywords):
    BINARY.append(Function(name, name, ours, numpys, ulps, **keywords))


def reduction(name, numpys, ulps=8, ours=None, label=None, **keywords):
    REDUCTIONS.append(
        Function(name, label or name, ours or getattr(K, name), numpys, ulps, **keywords)
    )


FIFTH = [0.2]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, 0, x)))


unary("abs", np.abs)
unary("square", np.square)
unary("sqrt", np.sqrt)
unary("exp", np.exp, 2)
unary("log", np.log, 2)
unary("sin", np.sin, 2)
unary("cos", np.cos, 2)
unary("round", np.rint)
unary("sign", np.sign)
unary("tanh", np.tanh, 4)
unary("sigmoid", sigmoid, 4)
# 0.2 is a number of the dtype that computes first.
unary("hard_sigmoid", lambda x: np.clip(x * x.dtype.type(FIFTH[0]) + 0.5, 0, 1), 4)
unary("softplus", lambda x: np.logaddexp(x.dtype.type(0), x), 4)
unary("softsign", lambda x: x / (1 + np.abs(x)), 1.5)
unary("elu", elu, 4)
unary("elu", lambda x: elu(x, 0.5), 4, "elu, alpha=0.5", lambda x: K.elu(x, 0.5))
unary("relu", lambda x: np.maximum(x, 0), zero_sign=False)
unary(
    "relu",
    lambda x: np.where(x > 0, x, x * x.dtype.type(0.25)),
    1,
    "relu, alpha=0.25",
    lambda x: K.relu(x, alpha=0.25),
)
unary(
    "relu",
    lambda x: np.where(x <= 0.5, 0, np.minimum(x, 2)),
    label="relu, threshold=0.5, max_value=2",
    ours=lambda x: K.relu(x, threshold=0.5, max_value=2),
    zero_sign=False,
)
unary("clip", lambda x: np.clip(x, -1, 2), label="clip to [-1, 2]", ours=lambda x: K.clip(x, -1, 2))
unary("cast", lambda x: x != 0, label="cast to bool", ours=lambda x: K.cast(x, "bool"))
unary("identity", lambda x: x)
unary("negative", lambda x: -x, ours=lambda x: -x, label="-x")
for to in DTYPES:
    unary(
        "cast",
        lambda x, to=to: x.astype(to),
        label=f"cast to {to}",
        ours=lambda x, to=to: K.cast(x, to),
    )
for a in (0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5, 1.5, 2.5, np.nan, np.inf, -np.inf):
    unary(
        "pow",
        # NumPy takes the square root for 0.5, but not of long doubles.
        lambda x, a=a: np.sqrt(x) if a == 0.5 else np.power(x, x.dtype.type(a)),
        4,
        f"pow to {a:g}",
        lambda x, a=a: K.pow(x, a),
    )
for label, ours in {
    "x + 0": lambda x: x + 0.0,
    "x - 0": lambda x: x - 0.0,
    "x - -0": lambda x: x - -0.0,
    "x * 1": lambda x: x * 1.0,
    "x / 1": lambda x: x / 1.0,
    "x * 0": lambda x: x * 0.0,
    "0 - x": lambda x: 0.0 - x,
    "x * -1": lambda x: x * -1.0,
    "x / 4": lambda x: x / 4.0,
    "x / 3": lambda x: x / 3.0,
    "1 / x": lambda x: 1.0 / x,
    "x - x": lambda x: x - x,
    "x / x": lambda x: x / x,
}.items():
    # The same operators on arrays.
    unary("operators", ours, label=label, ours=ours)

binary("x + y", lambda x, y: x + y, np.add)
binary("x - y", lambda x, y: x - y, np.subtract)
binary("x * y", lambda x, y: x * y, np.multiply)
binary("x / y", lambda x, y: x / y, np.divide)
binary("x // y", lambda x, y: x // y, np.floor_divide, 1)
binary("x % y", lambda x, y: x % y, np.mod, 1)
binary("x ** y", lambda x, y: x**y, np.power, 4)
binary("maximum", K.maximum, np.maximum, zero_sign=False)
binary("minimum", K.minimum, np.minimum, zero_sign=False)
binary("equal", K.equal, np.equal)
binary("not_equal", K.not_equal, np.not_equal)
binary("greater", K.greater, np.greater)
binary("greater_equal", K.greater_equal, np.greater_equal)
binary("less", K.less, np.less)
binary("less_equal", K.less_equal, np.less_equal)
binary("lesser", K.lesser, np.less)
binary("lesser_equal", K.lesser_equal, np.less_equal)
binary("switch", lambda x, y: K.switch(x > y, x, y), lambda x, y: np.where(x > y, x, y))


def softmax(x, axis):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def l2_normalize(x, axis):
    norm = np.maximum(np.sum(x * x, axis=axis, keepdims=True), 1e-12)
    return x / np.sqrt(norm)


reduction("sum", np.sum)
reduction("mean", np.mean)
reduction("prod", np.prod)
reduction("max", np.max, 0.5, zero_sign=False)
reduction("min", np.min, 0.5, zero_sign=False)
reduction("var", np.var, 64)
reduction("std", np.std, 64)
reduction("logsumexp", lambda x, axis: np.logaddexp.reduce(x, axis=axis), 32)
reduction("any", lambda x, axis: np.any(x != 0, axis=axis))
reduction("all", lambda x, axis: np.all(x != 0, axis=axis))
reduction("argmax", np.argmax)
reduction("argmin", np.argmin)
reduction("cumsum", np.cumsum, 64)
reduction("cumprod", np.cumprod, 64)
reduction("softmax", softmax, 64)
reduction("l2_normalize", l2_normalize, 64)


@dataclass
class Difference:
    """Where the result is not NumPy's, and why that stays so."""

    functions: tuple
    what: str
    reason: str
    holds: Callable  # (operands, ours, NumPy's), as numbers


DIFFERENCES = [
    Difference(
        ("sqrt",),
        "`sqrt` of what is below 0 (and of -0) is 0, not NaN (not -0)",
        "Keras clips to [0, inf] before it takes the root, and so do its other engines.",
        lambda operands, got, want: operands[0] <= 0 and got == 0 and not np.signbit(got),
    ),
    Difference(
        ("x + 0", "x - -0"),
        "`x + 0` and `x - -0`, with 0 a number that the program names, leave -0 as it is",
        "A sum with nothing (Python's `sum` begins with 0) is no step of the program. Fed zeros add"
        " as in NumPy.",
        lambda operands, got, want: operands[0] == 0 and got == 0 and want == 0,
    ),
    Difference(
        ("cast to float16",),
        "`cast` of float64 to float16 rounds to float32 first: what lies less than 2^-25 of itself"
        " beside the middle of two float16 numbers goes to the even one",
        "There is no instruction for it. TensorFlow does the same.",
        lambda operands, got, want: abs(operands[0]) == 1 + 2.0**-11 + 2.0**-40
        and abs(got - want) == 2.0**-10,
    ),
]
# What is compared without the sign of a zero: NumPy itself gives one or the other, depending on the
# place in the array.
EITHER_ZERO = ("maximum", "minimum", "max", "min", "relu")


def explained(function, operands, got, want):
    for i, d in enumerate(DIFFERENCES):
        if function.label in d.functions and d.holds(operands, got, want):
            return i
    return None


class Comparison:
    def __init__(self):
        self.compared, self.unexplained, self.explained = 0, [], [0] * len(DIFFERENCES)

    def check(self, function, dtype, where, operands, got, want):
        """operands: arrays of the shape of got and want, or a description of a row."""
        got, want = np.asarray(got), np.asarray(want)
        self.compared += got.size
        bad = differences(function, got, want)
        for i in np.flatnonzero(bad):
            values = tuple(
                float(np.broadcast_to(o, got.shape).flat[i]) if isinstance(o, np.ndarray) else o
                for o in operands
            )
            ours, numpys = got.flat[i], want.flat[i]
            reason = explained(function, values, float(ours), float(numpys))
            if reason is not None:
                self.explained[reason] += 1
                continue
            self.unexplained.append(
                f"{function.label} {dtype} {where} of {values}: {ours!r}, NumPy {numpys!r}"
            )


def differences(function, got, want):
    if got.dtype.kind != "f":
        return (got != want).ravel()
    assert got.dtype == want.dtype, (function.label, got.dtype, want.dtype)
    with np.errstate(all="ignore"):
        return ~same_floats(function, got, want).ravel()


def same_floats(function, got, want):
    g, w = got.astype("longdouble"), want.astype("longdouble")
    both_nan = np.isnan(g) & np.isnan(w)
    info = np.finfo(got.dtype)
    unit = np.maximum(np.abs(w), np.longdouble(info.tiny)) * np.longdouble(info.eps)
    close = np.abs(g - w) <= (function.ulps if function.ulps >= 1 else 0) * unit
    special = np.isnan(g) | np.isnan(w) | np.isinf(g) | np.isinf(w) | (w == 0) | (g == 0)
    small = function.ulps >= 1
    sign = (np.signbit(g) == np.signbit(w)) | (not function.zero_sign)
    same = np.where(special, (g == w) & ((w != 0) | sign), close)
    if small:  # a subnormal number may round to zero where the rest of the computation does
        under = (
            np.abs(g - w) <= function.ulps * np.longdouble(info.smallest_subnormal)
        ) & ~np.isinf(g)
        same |= under & ((g != 0) | (w != 0)) & (np.signbit(g) == np.signbit(w))
    return same | both_nan


def wide_of(f, dtype):
    """What NumPy computes in. A function that rounds once would round twice through long double."""
    return "float64" if f.ulps < 1 else WIDE[dtype]


def in_dtype(value, dtype):
    return value if value.dtype.kind != "f" else value.astype(dtype)


def compare_unary(c, f, dtype):
    values = specials(dtype)
    x = K.placeholder((None,), dtype=dtype)
    y = f.ours(x)
    run = K.function([x], [y])
    want = in_dtype(np.asarray(f.numpys(values.astype(wide_of(f, dtype)))), K.dtype(y))
    for length in LENGTHS:
        # Every value gets to every place of a vector at some length.
        for shift in range(0, len(values), 1 if length < 16 else 11):
            at = (np.arange(length) + shift) % len(values)
            [got] = run([values[at]])
            c.check(f, dtype, f"length {length}", (values[at],), got, want[at])
    # In the middle of other steps, where compiled loops keep it in a register.
    w = K.placeholder((None,), dtype=dtype)
    inner = f.ours(x * w)
    outer = inner if K.dtype(inner) == "bool" else inner * 1.0
    [got] = K.function([x, w], [outer])([np.resize(values, 150), np.ones(150)])
    at = np.arange(150) % len(values)
    c.check(f, dtype, "between others", (values[at],), got, want[at])


def compare_binary(c, f, dtype):
    values = few_specials(dtype)
    a, b = (v.ravel() for v in np.meshgrid(values, values))
    x, y = K.placeholder((None,), dtype=dtype), K.placeholder((None,), dtype=dtype)
    s = K.placeholder((), dtype=dtype)
    z = f.ours(x, y)
    run = K.function([x, y], [z])
    wide = wide_of(f, dtype)
    want = in_dtype(f.numpys(a.astype(wide), b.astype(wide)), K.dtype(z))
    for length in (*LENGTHS, len(a)):
        for shift in range(0, len(a), 1 if length == 1 else max(1, length - 3)):
            at = (np.arange(length) + shift) % len(a)
            [got] = run([a[at], b[at]])
            c.check(f, dtype, f"length {length}", (a[at], b[at]), got, want[at])
    scalar_right = K.function([x, s], [f.ours(x, s)])
    scalar_left = K.function([s, y], [f.ours(s, y)])
    for v in values:
        for length in (7, len(values), 200):
            row = np.resize(values, length)
            for run, operands in ((scalar_right, (row, v)), (scalar_left, (v, row))):
                [got] = run(list(operands))
                p, q = (np.broadcast_to(np.asarray(o, dtype), row.shape) for o in operands)
                want_row = in_dtype(f.numpys(p.astype(wide), q.astype(wide)), K.dtype(z))
                c.check(f, dtype, f"a scalar, length {length}", (p, q), got, want_row)


def rows_of(dtype, length, rng):
    """Rows with some special values at some places; each has the same place in every row's text."""
    info = np.finfo(dtype)
    least = float(info.smallest_subnormal)
    kinds = [(np.nan,), (np.inf,), (-np.inf,), (np.inf, -np.inf), (np.nan, np.inf), (0.0,), (-0.0,)]
    kinds += [(least,), (-least,), (0.0, -0.0), (float(info.tiny),)]
    rows, texts = [], []
    for kind in kinds:
        for filler in ("ones", "normal", "same"):
            for place in sorted({0, length // 2, length - 1}):
                row = {
                    "ones": np.ones(length),
                    "normal": np.where(rng.random(length) < 0.5, 1, -1)
                    * rng.uniform(0.5, 1.5, length),
                    "same": np.full(length, kind[0]),
                }[filler]
                for i, v in enumerate(kind):
                    row[(place + i * 3) % length] = v
                rows.append(row)
                texts.append(f"{kind} at {place} among {filler}")
    return np.array(rows).astype(dtype), texts


def compare_reduction(c, f, dtype):
    rng = np.random.default_rng(5)
    scans = f.name in ("cumsum", "cumprod", "softmax", "l2_normalize")
    for length in (*LENGTHS, 1030):
        rows, texts = rows_of(dtype, length, rng)
        wide = rows.astype(WIDE[dtype])
        for axis in (0, 1):
            x = K.placeholder((None, None), dtype=dtype)
            y = f.ours(x, axis=axis)
            data = rows if axis == 1 else np.ascontiguousarray(rows.T)
            [got] = K.function([x], [y])([data])
            want = in_dtype(
                np.asarray(f.numpys(wide if axis == 1 else wide.T, axis=axis)), K.dtype(y)
            )
            got, want = (v if axis == 1 or not scans else v.T for v in (got, want))
            for i, text in enumerate(texts):
                where = f"axis {axis}, length {length}"
                # The row's numbers say how large rounding errors may be.
                f_row = Function(**{**f.__dict__, "ulps": f.ulps})
                if f.ulps >= 1:
                    f_row.ulps = f.ulps * condition(f, rows[i], want[i])
                c.check(f_row, dtype, where, (text,), np.atleast_1d(got[i]), np.atleast_1d(want[i]))


def condition(f, row, want):
    """Sums that cancel: the error is one of the largest partial sum."""
    finite = np.abs(row[np.isfinite(row)].astype("longdouble"))
    if f.name in ("sum", "mean", "cumsum") and finite.size:
        size = finite.sum() / (len(row) if f.name == "mean" else 1)
        w = np.abs(np.atleast_1d(want).astype("longdouble"))
        w = w[np.isfinite(w) & (w > 0)]
        return float(min(1e12, max(1, size / w.min()))) if w.size else 1.0
    return float(max(1, len(row) ** 0.5))


def compare_all():
    c = Comparison()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in DTYPES:
            FIFTH[0] = np.array(0.2, "float64" if dtype == "float64" else "float32")
            for f in UNARY:
                compare_unary(c, f, dtype)
            for f in BINARY:
                compare_binary(c, f, dtype)
            for f in REDUCTIONS:
                compare_reduction(c, f, dtype)
    return c


INTRO = """# NaN, infinities, zeros, subnormal numbers

What functions make of special values, in float32. Made by `tests/reliability/special_values.py --page`; do not edit.

The test of that name compares every element-wise function and every reduction with NumPy: float16, float32, float64;
{values} values and all pairs of {few}, at every place of vectors of 1 to 200 elements; with `HORNGATE_SIMD=sse4`, `avx2` and
`avx512`, with and without compiled loops, with `HORNGATE_PLAIN=1`. NaN, infinities and zeros have to be NumPy's, zeros with
their sign. Subnormal numbers are numbers like others: none is taken for 0. Where a result is not NumPy's it is marked * in
the tables and explained below.
"""


def text_of(v):
    if isinstance(v, (bool, np.bool_)):
        return "true" if v else "false"
    if isinstance(v, (int, np.integer)):
        return str(int(v))
    v = float(v)
    if np.isnan(v):
        return "NaN"
    return f"{v:.5g}"


def row_of(f, columns, ours, numpys):
    """A row of a table; * where ours is not NumPy's."""
    cells = []
    for operands in columns:
        got, want = np.asarray(ours(*operands)), np.asarray(numpys(*operands))
        star = " *" if differences(f, got.ravel(), in_dtype(want, got.dtype).ravel()).any() else ""
        cells.append(text_of(got.ravel()[0]) + star)
    return f"| `{f.label}` | " + " | ".join(cells) + " |"


def heading(first, columns):
    return f"| {first} | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1)


def page():
    info = np.finfo("float32")
    least = float(info.smallest_subnormal)
    lines = [INTRO.format(values=len(specials("float32")), few=len(few_specials("float32")))]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FIFTH[0] = np.array(0.2, "float32")
        columns = [np.nan, np.inf, -np.inf, 0.0, -0.0, least, -least, float(info.max), -1.0]
        titles = ["NaN", "inf", "-inf", "0", "-0", text_of(least), text_of(-least), "largest", "-1"]
        lines += ["## Element-wise, one operand\n", heading("x", titles)]
        x = K.placeholder((None,), dtype="float32")
        for f in UNARY:
            run = K.function([x], [f.ours(x)])
            lines.append(
                row_of(
                    f,
                    [(np.float32([v]),) for v in columns],
                    lambda v, run=run: run([v])[0],
                    lambda v, f=f: f.numpys(v.astype("float64")),
                )
            )
        pairs = [(np.nan, 1.0), (np.inf, np.inf), (np.inf, -np.inf), (np.inf, 0.0), (0.0, -0.0)]
        pairs += [(-0.0, -0.0), (1.0, -0.0), (-1.0, np.inf), (least, 2.0)]
        lines += [
            "\n## Element-wise, two operands\n",
            heading("x, y", [f"{text_of(a)}, {text_of(b)}" for a, b in pairs]),
        ]
        y = K.placeholder((None,), dtype="float32")
        for f in BINARY:
            run = K.function([x, y], [f.ours(x, y)])
            lines.append(
                row_of(
                    f,
                    [(np.float32([a]), np.float32([b])) for a, b in pairs],
                    lambda a, b, run=run: run([a, b])[0],
                    lambda a, b, f=f: f.numpys(a.astype("float64"), b.astype("float64")),
                )
            )
        rows = [[1, np.nan, 2], [1, np.inf, 2], [1, -np.inf, 2], [np.inf, 1, -np.inf]]
        rows += [[0.0, -0.0, 0.0], [-0.0, -0.0, -0.0], [least, least, least]]
        lines += [
            "\n## Reductions\n\nOf functions that give as much as they take, the last element.\n",
            heading("x", [", ".join(map(text_of, r)) for r in rows]),
        ]
        z = K.placeholder((None, None), dtype="float32")
        for f in REDUCTIONS:
            run = K.function([z], [f.ours(z, axis=1)])
            lines.append(
                row_of(
                    f,
                    [(np.float32([r]),) for r in rows],
                    lambda v, run=run: run([v])[0].ravel()[-1:],
                    lambda v, f=f: np.asarray(f.numpys(v.astype("float64"), axis=1)).ravel()[-1:],
                )
            )
    lines += ["\n## Where it is not NumPy's\n"]
    lines += [f"- {d.what}. {d.reason}" for d in DIFFERENCES]
    names = ", ".join(f"`{n}`" for n in EITHER_ZERO)
    lines += [
        f"- {names} of 0 and -0 may give either. IEEE 754 leaves it open, and NumPy's own answer"
        " depends on the place in the array.",
        CASTS,
    ]
    return "\n".join(lines)


CASTS = """
## Casts to integers

The same for constants, fed values, variables, shape arithmetic and step functions, at every SIMD level:

- Integers are taken modulo 2^bits: 300 to uint8 is 44, -1 to uint16 is 65535.
- Floats are cut off after the point. To int8, int16, int32, uint8 and uint16 they become int32 first, to int64 and uint32
  int64 first, and then are taken modulo 2^bits: 300.7 to uint8 is 44.
- What int32 (int64) does not hold, infinities and NaN become its least number, as x86-64 has it and NumPy there: 3e9 to int32
  is -2147483648, to uint8 0, NaN to int64 -9223372036854775808. (NumPy gives other numbers for uint32 in long arrays
  than in short ones; here the rule above holds.)
- uint64 takes floats up to 2^64; from there on they are 0.
- Everything but 0 is true as bool, NaN too.

The engines `tensorflow` and `onnx` do the same. The others cast with their libraries' operations: numbers that the
integer type holds are the same there, others may not be.

## Engines beside `native`

With `KERAS_BACKEND=tensorflow` or `onnx` the test finds the same NaN, infinities and numbers. It tells differences in the signs of
zeros, and in numbers below the normal ones: `tensorflow` takes them for 0, `onnx` gives fewer of their digits in `elu`, `sigmoid` and
`tanh`.
"""


def main():
    if "--page" in sys.argv:
        print(page(), end="")
        return 0
    c = compare_all()
    explained_by = {d.what: n for d, n in zip(DIFFERENCES, c.explained, strict=True)}
    print(
        json.dumps(
            {
                "test": "special values",
                "compared": c.compared,
                "functions": len({f.name for f in UNARY + BINARY + REDUCTIONS}),
                "explained": explained_by,
                "unexplained": len(c.unexplained),
                "first": c.unexplained[:40],
            }
        )
    )
    return 1 if c.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
