"""Element-wise functions, comparisons, casts."""

import numpy as np
from fuzz.dtypes import common, is_float, is_int
from fuzz.ops.entry import (
    Op,
    always,
    dtype_argument,
    dual,
    floating,
    magnitude,
    real,
    same,
    widest_number,
)

OPS = []


def unary(name, f, df, wants=None, ints=False, code=None, args=None, lost=None, **more):
    """An entry for a function of one float tensor (or an integer one). `lost`: the size of what
    cancels in its derivative, when that is made of the result."""

    def draw(g):
        x = g.pick(lambda v: (v.is_float or (ints and v.is_int)) and (wants is None or wants(v)))
        return x and ([x], args(g, x) if args else {})

    def value(r, a, x):
        y = dual(x, lambda t: f(t, **a), lambda t: df(t, **a))
        if lost is not None and y.dtype.kind == "c":
            y = y + 1j * x.imag * r.off(lost(x.real, **a))
        return y

    OPS.append(Op(name, draw, code or f"K.{name}({{0}})", value, same, covers=(name,), **more))


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """As Keras has it: with a max_value nothing above the threshold is negative."""
    y = np.where(x <= threshold, 0, x)
    if max_value is not None:
        y = np.clip(y, 0, max_value)
    if alpha:
        y = y + np.where(x < threshold, alpha * (x - threshold), 0)
    return y


def relu_slope(x, alpha=0.0, max_value=None, threshold=0.0):
    y = np.where(x > threshold, 1.0, 0.0)
    if max_value is not None:
        y = np.where((x > max_value) | ((x > threshold) & (x < 0)), 0.0, y)
    # At the corner the plain leaky form has the slope of the left, as TensorFlow's.
    is_left = (x <= 0) if max_value is None and threshold == 0 else (x < threshold)
    return y + np.where(is_left, alpha, 0.0)


def relu_arguments(g, x):
    a = {}
    if g.chance(0.4):
        a["alpha"] = g.choice([0.125, 0.25, 0.5])
    if g.chance(0.3):
        a["max_value"] = g.choice([1.0, 2.0, 6.0])
    if g.chance(0.2):
        a["threshold"] = g.choice([0.25, 0.5, -0.5]) if "max_value" not in a else 0.25
    return a


def keywords(name):
    return lambda a, x: f"K.{name}({x[0]}{''.join(f', {k}={v!r}' for k, v in a.items())})"


def moderate(v):
    return v.top <= 8


unary("exp", np.exp, np.exp, moderate)
unary("log", np.log, lambda x: 1 / x, lambda v: v.low > 0 or v.odd)
unary(
    "sqrt",
    lambda x: np.sqrt(np.maximum(x, 0)),
    lambda x: np.where(x > 0, 0.5 / np.sqrt(np.maximum(x, 1e-300)), np.nan),
    lambda v: v.low > 1e-3 or v.odd,
)
unary("square", lambda x: x * x, lambda x: 2 * x, lambda v: v.top < 1e3, ints=True)
unary("abs", np.abs, np.sign, ints=True, exact=True)
unary("sin", np.sin, np.cos, lambda v: v.top < 50)
unary("cos", np.cos, lambda x: -np.sin(x), lambda v: v.top < 50)
unary("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, lost=np.ones_like, weight=2)
unary("sigmoid", sigmoid, lambda x: sigmoid(x) * sigmoid(-x), lost=sigmoid, weight=1.5)
unary("softplus", softplus, sigmoid)
unary("softsign", lambda x: x / (1 + np.abs(x)), lambda x: 1 / (1 + np.abs(x)) ** 2)
unary("round", np.round, np.zeros_like, ints=True, exact=True, weight=0.3)
unary("sign", np.sign, np.zeros_like, ints=True, exact=True, weight=0.3)
unary(
    "elu",
    lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    lambda x, alpha=1.0: np.where(x > 0, 1.0, alpha * np.exp(np.minimum(x, 0))),
    args=lambda g, x: {} if g.chance(0.5) else {"alpha": g.choice([0.5, 2.0])},
    lost=lambda x, alpha=1.0: np.where(x > 0, 0, alpha),
    code=keywords("elu"),
)
unary("relu", relu, relu_slope, args=relu_arguments, code=keywords("relu"), weight=2)
unary("stop_gradient", lambda x: x, np.zeros_like, ints=True, exact=True, weight=0.2)


def negative_value(r, a, x):
    return -x


OPS.append(
    Op(
        "negative",
        lambda g: (lambda x: x and ([x], {}))(g.pick(lambda v: v.is_float or v.is_int)),
        "-{0}",
        negative_value,
        same,
        exact=True,
    )
)


def hard_sigmoid_value(r, a, x):
    t = r(0.2 * x, 0.2 * magnitude(x))
    t = r(t + 0.5)
    return np.where(real(t) <= 0, 0.0, np.where(real(t) >= 1, 1.0, t))


OPS.append(
    Op(
        "hard_sigmoid",
        lambda g: (lambda x: x and ([x], {}))(g.pick_float()),
        "K.hard_sigmoid({0})",
        hard_sigmoid_value,
        same,
        covers=("hard_sigmoid",),
    )
)


def draw_clip(g):
    x = g.pick(lambda v: v.is_float or v.dtype in ("int32", "int64"))
    if not x:
        return None
    if x.is_float:
        low = g.choice([-1.0, -0.5, 0.0, 0.25])
        high = low + g.choice([0.5, 1.0, 2.0])
    else:
        low, high = g.choice([-3, 0, 1]), g.choice([2, 5])
    which = g.choice(["both", "low", "high"])
    return [x], {
        "low": None if which == "high" else low,
        "high": None if which == "low" else high,
    }


def clip_value(r, a, x):
    y, t = x, real(x)
    if a["high"] is not None:
        y = np.where(t > a["high"], np.asarray(a["high"], t.dtype), y)
    if a["low"] is not None:
        y = np.where(real(y) < a["low"], np.asarray(a["low"], t.dtype), y)
    return y


OPS.append(
    Op(
        "clip",
        draw_clip,
        "K.clip({0}, {low}, {high})",
        clip_value,
        same,
        exact=True,
        covers=("clip",),
    )
)


# Two operands


def draw_pair(wants=None, bools=False, right=None):
    def draw(g):
        def fits(v):
            return (bools or v.dtype != "bool") and (wants is None or wants(v))

        pair = g.pair(fits)
        if pair is None or (right is not None and not right(pair[1])):
            return None
        return list(pair), {}

    return draw


def draw_with_number(number, wants=None):
    """A tensor and a number, on either side."""

    def draw(g):
        x = g.pick(
            lambda v: (v.is_float or v.dtype in ("int32", "int64")) and (not wants or wants(v))
        )
        return x and ([x], {"n": number(g, x), "left": g.chance(0.3)})

    return draw


def some_number(g, x):
    if x.is_int:
        return g.choice([1, 2, 3, -1, 5])
    return g.choice([0.5, 2.0, -1.0, 1.5, -0.25, 3.0, 0.125, 1.0])


def nonzero(v):
    return v.lowest_size > 0.05


def operator(name, sign, of, weight=3.0, dtype=widest_number, right=None, wants=None, terms=None):
    """`terms` gives the size of what cancels, when that is more than the result."""

    def f(r, x, y):
        made = of(x, y)
        return made if terms is None or made.dtype.kind in "iu" else r(made, terms(x, y))

    OPS.append(
        Op(
            name,
            draw_pair(right=right, wants=wants),
            f"{{0}} {sign} {{1}}",
            lambda r, a, x, y: f(r, x, y),
            dtype,
            unify=True,
            weight=weight,
        )
    )

    def with_number(r, a, x):
        n = np.asarray(a["n"], x.dtype if x.dtype.kind != "c" else "float64")
        return f(r, n, x) if a["left"] else f(r, x, n)

    OPS.append(
        Op(
            name + "_number",
            draw_with_number(some_number, wants if not right else right),
            lambda a, x: f"{a['n']!r} {sign} {x[0]}" if a["left"] else f"{x[0]} {sign} {a['n']!r}",
            with_number,
            dtype,
            unify=True,
            weight=weight / 3,
        )
    )


def small(v):
    return v.top < 1e3 or v.odd


def divide(x, y):
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        quotient = np.empty(np.broadcast_shapes(x.shape, y.shape), complex)
        a, b = real(x), real(y)
        quotient.real = a / b
        quotient.imag = np.imag(x) / b - a * np.imag(y) / (b * b)
        return quotient
    return x / y


operator("add", "+", lambda x, y: x + y, 6)
operator("subtract", "-", lambda x, y: x - y, 4)
operator("multiply", "*", lambda x, y: x * y, 6, wants=small)
operator("divide", "/", divide, 2, dtype=floating, right=nonzero)


def floordiv_value(x, y):
    return np.floor_divide(real(x), real(y)) if x.dtype.kind in "fc" else x // y


def mod_value(x, y):
    if x.dtype.kind == "c" or y.dtype.kind == "c":
        made = np.empty(np.broadcast_shapes(x.shape, y.shape), complex)
        made.real = np.mod(real(x), real(y))
        made.imag = np.imag(x) - np.floor(real(x) / real(y)) * np.imag(y)
        return made
    return np.mod(x, y)


operator("floordiv", "//", floordiv_value, 0.4, right=nonzero)
operator("mod", "%", mod_value, 0.4, right=nonzero, terms=lambda x, y: magnitude(x) + magnitude(y))


def pick_of(largest):
    def value(r, a, x, y):
        s, t = real(x), real(y)
        if s.dtype.kind == "f" and (np.isnan(s).any() or np.isnan(t).any()):
            return np.maximum(s, t) if largest else np.minimum(s, t)
        take = s >= t if largest else s <= t
        return np.where(take, x, y)

    return value


for _name, _largest in (("maximum", True), ("minimum", False)):
    OPS.append(
        Op(
            _name,
            draw_pair(),
            f"K.{_name}({{0}}, {{1}})",
            pick_of(_largest),
            widest_number,
            exact=True,
            unify=True,
            covers=(_name,),
            weight=1.5,
        )
    )


def compared(f):
    def value(r, a, x, y):
        x, y = real(x), real(y)
        if "f" not in (x.dtype.kind, y.dtype.kind):
            # As K does; NumPy compares uint64 with int64 as they are.
            both = common(x.dtype.name, y.dtype.name)
            return f(x.astype(both), y.astype(both))
        near = r.are_near(x - y, np.maximum(np.abs(x), np.abs(y)))
        return np.where(near, f(0, 0), f(x, y))

    return value


for _name, _f in (
    ("equal", np.equal),
    ("not_equal", np.not_equal),
    ("greater", np.greater),
    ("greater_equal", np.greater_equal),
    ("less", np.less),
    ("less_equal", np.less_equal),
    ("lesser", np.less),
    ("lesser_equal", np.less_equal),
):
    OPS.append(
        Op(
            _name,
            draw_pair(),
            f"K.{_name}({{0}}, {{1}})",
            compared(_f),
            always("bool"),
            covers=(_name,),
            exact=True,
            weight=0.4 if not _name.startswith("lesser") else 0.2,
        )
    )


def draw_pow(g):
    x = g.pick(lambda v: v.is_float and v.top < 10)
    if not x:
        return None
    a = g.choice([2, 3, 0, 1, 2.0, 0.5, -1, 1.5, -0.5])
    if (a != int(a) or a < 0) and x.low < 0.05:
        a = g.choice([2, 3, 1])
    return [x], {"a": a}


def pow_value(r, a, x):
    n = float(a["a"])
    return dual(
        x,
        lambda t: np.power(t, n),
        lambda t: n * np.power(t, n - 1) if n else np.zeros_like(t),
    )


OPS.append(Op("pow_number", draw_pow, "K.pow({0}, {a})", pow_value, same, covers=("pow",)))


def draw_pow_tensor(g):
    x = g.pick(lambda v: v.is_float and v.low > 0.05 and v.top < 10)
    y = x and g.pick(lambda v: v.dtype == x.dtype and v.top < 4 and g.broadcasts(x, v))
    return y and ([x, y], {})


def pow_tensor_value(r, a, x, y):
    base, n = real(x), real(y)
    made = np.power(base, n)
    if x.dtype.kind != "c" and y.dtype.kind != "c":
        return made
    slope = n * np.power(base, n - 1) * np.imag(x) + made * np.log(base) * np.imag(y)
    both = np.empty(made.shape, complex)
    both.real, both.imag = made, slope
    return both


OPS.append(
    Op(
        "pow",
        draw_pow_tensor,
        "K.pow({0}, {1})",
        pow_tensor_value,
        same,
        covers=("pow",),
        weight=0.5,
    )
)


# Casts


def draw_cast(g):
    x = g.pick()
    if x is None:
        return None
    to = g.choice(
        ["float32", "float64", g.floatx, g.floatx, "int32", "int64", "bool", "uint8", "int8"]
    )
    if not g.chance(0.2) and not is_float(to) and x.is_float:
        to = g.floatx
    if (
        x.is_float
        and is_int(to)
        and not (x.finite and x.top < 100 and (x.low >= 0 or to[0] != "u"))
    ):
        return None
    if to == "float16" and x.top > 1e3:
        return None
    return [x], {"dtype": to}


def cast_value(r, a, x):
    to = a["dtype"]
    if is_float(to):
        return x if x.dtype.kind in "fc" else x.astype("float64")
    if to == "bool":
        return real(x) != 0
    return real(x).astype(to)


OPS.append(
    Op("cast", draw_cast, "K.cast({0}, {dtype})", cast_value, dtype_argument, covers=("cast",))
)
