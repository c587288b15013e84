"""Random results. They are outputs too, and with what is seen there the evaluator goes on."""

import numpy as np
from fuzz.dtypes import TINY, is_float
from fuzz.ops.entry import Op, dtype_argument, real, same

OPS = []


def generator(name, f, arguments, check):
    """An entry for a function that draws a tensor of a shape."""

    def draw(g):
        shape = [g.small() for _ in range(g.between(0, 3))]
        a = {"shape": shape, "seed": g.between(1, 9999), "dtype": g.floatx}
        a.update(arguments(g))
        return [], a

    def code(a, x):
        more = "".join(f", {k}={v!r}" for k, v in a.items() if k != "shape")
        return f"K.{name}({a['shape']}{more})"

    def value(seen, a):
        if seen is not None:
            return seen
        made = f(np.random.default_rng(a["seed"]), a)
        return made.astype("float64" if is_float(a["dtype"]) else a["dtype"])

    def checked(seen, a):
        if list(seen.shape) != a["shape"]:
            return f"{name}: shape {seen.shape}, not {a['shape']}"
        return check(name, seen, a) if seen.size else None

    OPS.append(
        Op(
            name,
            draw,
            code,
            value,
            dtype_argument,
            exact=True,
            random=True,
            covers=(name,),
            check=checked,
            weight=0.15,
        )
    )


def within(low, high, spread=True):
    def check(name, seen, a):
        bottom, top = low(a), high(a)
        if not (np.isfinite(seen).all() and (seen >= bottom).all() and (seen <= top).all()):
            return f"{name}: {seen.min()} to {seen.max()}, outside of [{bottom}, {top}]"
        if spread and seen.size > 30 and len(np.unique(seen)) < 3:
            return f"{name}: {seen.size} numbers, and they are {np.unique(seen)}"
        return None

    return check


def normal_arguments(g):
    return {"mean": g.choice([0.0, 1.0, -0.5]), "stddev": g.choice([1.0, 0.5])}


generator(
    "random_uniform",
    lambda rng, a: rng.uniform(a["minval"], a["maxval"], a["shape"]),
    lambda g: {"minval": g.choice([0.0, -1.0]), "maxval": g.choice([1.0, 2.0])},
    within(lambda a: a["minval"], lambda a: a["maxval"]),
)
generator(
    "random_normal",
    lambda rng, a: rng.normal(a["mean"], a["stddev"], a["shape"]),
    normal_arguments,
    within(lambda a: a["mean"] - 9 * a["stddev"], lambda a: a["mean"] + 9 * a["stddev"]),
)
generator(
    "truncated_normal",
    lambda rng, a: np.clip(rng.normal(a["mean"], a["stddev"], a["shape"]), -1, 1),
    normal_arguments,
    within(lambda a: a["mean"] - 2.001 * a["stddev"], lambda a: a["mean"] + 2.001 * a["stddev"]),
)
generator(
    "random_binomial",
    lambda rng, a: rng.integers(0, 2, a["shape"]),
    lambda g: {"p": g.choice([0.25, 0.5, 0.0, 1.0])},
    lambda name, seen, a: (
        None
        if np.isin(seen, {0.0: [0], 1.0: [1]}.get(a["p"], [0, 1])).all()
        else f"{name}: other numbers than 0 and 1"
    ),
)


def draw_dropout(g):
    # Where x is 0 the result does not tell whether it was dropped; too small a number becomes 0.
    x = g.pick(lambda v: v.is_float and v.finite and v.lowest_size > TINY[v.dtype])
    return x and ([x], {"level": g.choice([0.25, 0.5, 0.75]), "seed": g.between(1, 9999)})


def dropout_value(seen, a, x):
    if seen is None:
        seen = np.random.default_rng(a["seed"]).random(x.shape) >= a["level"]
    elif seen.shape != x.shape:
        seen = np.ones(x.shape)
    return np.where(seen != 0, x / (1 - a["level"]), 0 * x)


def dropout_check(seen, a, x):
    if seen.shape != real(x).shape:
        return f"dropout: shape {seen.shape}, not {x.shape}"
    kept = (seen != 0).mean() if seen.size > 200 and (real(x) != 0).all() else None
    if kept is not None and abs(kept - (1 - a["level"])) > 0.25:
        return f"dropout: {kept:.2f} of the entries stayed, with level {a['level']}"
    return None


OPS.append(
    Op(
        "dropout",
        draw_dropout,
        "K.dropout({0}, {level}, seed={seed})",
        dropout_value,
        same,
        random=True,
        covers=("dropout",),
        check=dropout_check,
        weight=0.4,
    )
)
