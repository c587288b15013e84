"""Reductions and running sums along axes."""

import numpy as np
from fuzz.ops.entry import (
    Op,
    always,
    dual,
    floating,
    magnitude,
    real,
    same,
    widest_number,
)

OPS = []


def axes_of(g, x):
    """None, an axis, or several."""
    kind = g.choice(["none", "one", "one", "one", "many"])
    if kind == "none" or not x.rank:
        return None
    if kind == "one":
        axis = g.below(x.rank)
        return axis - x.rank if g.chance(0.4) else axis
    return sorted(g.sample(range(x.rank), g.between(1, x.rank)))


def count(x, axis):
    axis = tuple(range(x.ndim)) if axis is None else axis
    return np.prod(
        [x.shape[i] for i in (axis if isinstance(axis, tuple) else (axis,))], dtype=float
    )


def reduction(name, f, wants=None, dtype=same, keeps_zero=True, **more):
    def draw(g):
        x = g.pick(wants or (lambda v: v.is_float or v.is_int))
        if x is None:
            return None
        axis = axes_of(g, x)
        a = {"axis": axis}
        if g.chance(0.4):
            a["keepdims"] = True
        if not keeps_zero and g.reduces_nothing(x, axis):
            return None
        return [x], a

    def code(a, x):
        keep = ", keepdims=True" if a.get("keepdims") else ""
        return f"K.{name}({x[0]}, axis={a['axis']!r}{keep})"

    def value(r, a, x):
        axis = tuple(a["axis"]) if isinstance(a["axis"], list) else a["axis"]
        return f(r, x, axis, bool(a.get("keepdims")))

    OPS.append(Op(name, draw, code, value, dtype, covers=(name,), **more))


def number(x):
    return x.astype("float64") if x.dtype == bool else x


def total_of(x, axis, keep):
    """The sum of floats. In long double, because NumPy adds row after row along outer axes, and so loses more than we do."""
    wide = np.clongdouble if x.dtype.kind == "c" else np.longdouble
    return np.sum(x, axis=axis, keepdims=keep, dtype=wide).astype(x.dtype)


def sum_value(r, x, axis, keep):
    x = number(x)
    if x.dtype.kind in "iu":
        return np.sum(x, axis=axis, keepdims=keep, dtype=x.dtype)
    size = np.sum(magnitude(x), axis=axis, keepdims=keep) * r.partial_sums(count(x, axis))
    return r(total_of(x, axis, keep), size)


def mean_value(r, x, axis, keep):
    x = number(x)
    n = count(x, axis)
    total = r(
        total_of(x.astype(complex if x.dtype.kind == "c" else float), axis, keep),
        np.sum(magnitude(x), axis=axis, keepdims=keep) * r.partial_sums(n),
    )
    return total / n if n else total * np.nan


def var_value(r, x, axis, keep):
    x = number(x)
    x = x.astype(float) if x.dtype.kind in "iu" else x
    mean = mean_value(r, x, axis, True)
    d = r(x - mean, magnitude(x))
    return mean_value(r, d * d, axis, keep) + shift_of_variance(r, x, mean, axis, keep)


def shift_of_variance(r, x, mean, axis, keep):
    """What a variance gains in a derivative along which all numbers move together, which is nothing but rounding: going back,
    the differences to the mean are summed, and have no sum of 0 because the mean is rounded."""
    if x.dtype.kind != "c" or r.rng is None:
        return 0.0
    size = magnitude(mean) if keep else np.squeeze(magnitude(mean), axis)
    return 2j * r.off(size) * np.mean(x.imag, axis=axis, keepdims=keep)


def root(x):
    return dual(
        x,
        lambda t: np.sqrt(np.maximum(t, 0)),
        lambda t: np.where(t > 0, 0.5 / np.sqrt(np.maximum(t, 1e-300)), np.nan),
    )


def std_value(r, x, axis, keep):
    return root(r(var_value(r, x, axis, keep)))


def extreme(largest):
    def value(r, x, axis, keep):
        t = real(x)
        if t.dtype.kind == "f":
            start = -np.inf if largest else np.inf
        else:
            info = np.iinfo(t.dtype)
            start = info.min if largest else info.max
        f = np.max if largest else np.min
        y = f(t, axis=axis, keepdims=True, initial=start)
        if x.dtype.kind == "c":
            hit = t == y
            share = (hit * x.imag).sum(axis=axis, keepdims=True) / hit.sum(axis=axis, keepdims=True)
            y = y + 1j * share
        if keep:
            return y
        return y.reshape(np.sum(np.zeros(x.shape), axis=axis).shape)

    return value


def prod_value(r, x, axis, keep):
    x = number(x)
    if x.dtype.kind in "iu":
        return np.prod(x, axis=axis, keepdims=keep, dtype=x.dtype)
    y = np.prod(x, axis=axis, keepdims=keep)
    return r(y, np.abs(real(y)) * max(count(x, axis) ** 0.5, 1))


def logsumexp_value(r, x, axis, keep):
    top = np.max(real(x), axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    d = r(x - top, magnitude(x))
    total = sum_value(r, r(np.exp(d)), axis, True)
    y = r(np.log(total)) if total.dtype.kind != "c" else dual(total, np.log, lambda t: 1 / t)
    y = y + top
    y = r(y, magnitude(y) + np.abs(top))
    return y if keep else y.reshape(np.sum(np.zeros(x.shape), axis=axis).shape)


def is_float(v):
    return v.is_float


reduction("sum", sum_value, lambda v: True, dtype=widest_number, weight=3)
reduction("mean", mean_value, lambda v: True, dtype=floating, keeps_zero=False, weight=2)
reduction("var", var_value, lambda v: v.is_float and v.top < 100, keeps_zero=False)
reduction("std", std_value, lambda v: v.is_float and v.top < 100, keeps_zero=False, weight=0.7)
reduction("max", extreme(True), exact=True, keeps_zero=False)
reduction("min", extreme(False), exact=True, keeps_zero=False)
reduction("prod", prod_value, lambda v: v.is_float and v.top < 3 and v.size < 60, weight=0.6)
reduction("logsumexp", logsumexp_value, is_float, keeps_zero=False)
reduction(
    "any",
    lambda r, x, axis, keep: np.any(real(x) != 0, axis=axis, keepdims=keep),
    lambda v: True,
    dtype=always("bool"),
    exact=True,
    weight=0.4,
)
reduction(
    "all",
    lambda r, x, axis, keep: np.all(real(x) != 0, axis=axis, keepdims=keep),
    lambda v: True,
    dtype=always("bool"),
    exact=True,
    weight=0.4,
)


def draw_along(wants):
    def draw(g):
        x = g.pick(lambda v: v.rank and wants(v))
        if x is None:
            return None
        axis = g.below(x.rank)
        return [x], {"axis": axis - x.rank if g.chance(0.4) else axis}

    return draw


def draw_arg(g):
    made = draw_along(lambda v: v.is_float or v.is_int)(g)
    return None if made is None or g.reduces_nothing(made[0][0], made[1]["axis"]) else made


for _name, _f in (("argmax", np.argmax), ("argmin", np.argmin)):
    OPS.append(
        Op(
            _name,
            draw_arg,
            f"K.{_name}({{0}}, axis={{axis}})",
            lambda r, a, x, f=_f: f(real(x), axis=a["axis"]).astype("int64"),
            always("int64"),
            exact=True,
            covers=(_name,),
            weight=0.5,
        )
    )


def cumsum_value(r, a, x):
    y = np.cumsum(x, axis=a["axis"], dtype=x.dtype)
    return (
        y
        if x.dtype.kind in "iu"
        else r(y, np.cumsum(magnitude(x), axis=a["axis"]) * r.partial_sums(x.shape[a["axis"]]))
    )


def cumprod_value(r, a, x):
    y = np.cumprod(x, axis=a["axis"], dtype=x.dtype)
    return y if x.dtype.kind in "iu" else r(y, np.abs(real(y)) * 4)


OPS.append(
    Op(
        "cumsum",
        draw_along(lambda v: v.is_float or v.dtype in ("int32", "int64")),
        "K.cumsum({0}, axis={axis})",
        cumsum_value,
        same,
        covers=("cumsum",),
        weight=0.7,
    )
)
OPS.append(
    Op(
        "cumprod",
        draw_along(lambda v: v.is_float and v.top < 2.5 and max(v.shape) < 12),
        "K.cumprod({0}, axis={axis})",
        cumprod_value,
        same,
        covers=("cumprod",),
        weight=0.5,
    )
)
