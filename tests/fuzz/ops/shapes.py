"""Changing shapes: views, joining, repeating, padding, resizing, indexing."""

import math

import numpy as np
from fuzz.dtypes import is_float
from fuzz.ops.entry import Op, always, channels_first, dtype_argument, real, same, widest

OPS = []


def op(name, draw, code, value, dtype=same, exact=True, covers=None, **more):
    OPS.append(Op(name, draw, code, value, dtype, exact=exact, covers=covers or (name,), **more))


def one(wants=None, args=None):
    def draw(g):
        x = g.pick(wants)
        if x is None:
            return None
        a = args(g, x) if args else {}
        return None if a is None else ([x], a)

    return draw


def signed(g, axis, rank):
    return axis - rank if g.chance(0.4) else axis


# Joining


def draw_concatenate(g):
    x = g.pick(lambda v: v.rank)
    if x is None:
        return None
    axis = g.below(x.rank)

    def fits(v):
        return (
            v.rank == x.rank
            and v.dtype == x.dtype
            and all(v.dims[i] == x.dims[i] for i in range(x.rank) if i != axis)
        )

    parts = [x]
    for _ in range(g.choice([1, 1, 1, 2, 3])):
        if g.chance(0.2) and x.is_float:
            dims = [n if i != axis else g.small() for i, n in enumerate(x.dims)]
            if math.prod(np.max(n) for n in dims) > g.limit:
                return None  # x is empty along the axis, and large along others
            parts.append(g.new(dims, x.dtype))
        else:
            parts.append(g.pick(fits))
    g.shuffle(parts)
    return parts, {"axis": signed(g, axis, x.rank)}


op(
    "concatenate",
    draw_concatenate,
    lambda a, x: f"K.concatenate([{', '.join(x)}], axis={a['axis']})",
    lambda r, a, *x: np.concatenate(x, a["axis"]),
    widest,
    unify=True,
    weight=4,
)


def draw_stack(g):
    x = g.pick(lambda v: v.rank < 5)
    if x is None:
        return None
    parts = [x] + [
        g.pick(lambda v: v.dims == x.dims and v.dtype == x.dtype) for _ in range(g.between(0, 2))
    ]
    return parts, {"axis": signed(g, g.below(x.rank + 1), x.rank + 1)}


op(
    "stack",
    draw_stack,
    lambda a, x: f"K.stack([{', '.join(x)}], axis={a['axis']})",
    lambda r, a, *x: np.stack(x, a["axis"]),
    widest,
    unify=True,
)


# The same elements


def reshape_arguments(g, x):
    """Factors of the size in another order; what depends on the call becomes -1."""
    fixed = [n[0] for n in x.dims if len(set(n)) == 1 and not x.may_be_open]
    varying = len(fixed) < x.rank
    if varying and x.size == 0:
        return None
    factors = []
    for n in fixed:
        for p in (2, 3, 5):
            while n > 1 and n % p == 0:
                factors.append(p)
                n //= p
        if n != 1:
            factors.append(n)
    g.shuffle(factors)
    shape = []
    while factors:
        n = 1
        for _ in range(min(len(factors), g.between(1, 3))):
            n *= factors.pop()
        shape.append(n)
    if g.chance(0.3):
        shape.insert(g.below(len(shape) + 1), 1)
    if varying:
        shape.insert(g.below(len(shape) + 1), -1)
    elif shape and x.size and g.chance(0.3):
        shape[g.below(len(shape))] = -1
    return {"shape": shape} if len(shape) <= 5 else None


op(
    "reshape",
    one(None, reshape_arguments),
    "K.reshape({0}, {shape})",
    lambda r, a, x: x.reshape(a["shape"]),
    weight=2,
)
op("flatten", one(), "K.flatten({0})", lambda r, a, x: x.reshape(-1), weight=0.5)
op(
    "batch_flatten",
    one(lambda v: v.rank >= 2 and v.size),
    "K.batch_flatten({0})",
    lambda r, a, x: x.reshape(x.shape[0], -1),
    weight=0.5,
)


def permutation(g, x):
    pattern = list(range(x.rank))
    g.shuffle(pattern)
    return {"pattern": pattern}


op(
    "permute_dimensions",
    one(lambda v: v.rank >= 1, permutation),
    "K.permute_dimensions({0}, {pattern})",
    lambda r, a, x: x.transpose(a["pattern"]),
    weight=2,
)
op("transpose", one(), "K.transpose({0})", lambda r, a, x: x.T)
op(
    "expand_dims",
    one(lambda v: v.rank < 5, lambda g, x: {"axis": signed(g, g.below(x.rank + 1), x.rank + 1)}),
    "K.expand_dims({0}, axis={axis})",
    lambda r, a, x: np.expand_dims(x, a["axis"]),
)


def squeeze_arguments(g, x):
    ones = [i for i in range(x.rank) if set(x.dims[i]) == {1}]
    return {"axis": g.choice(ones)} if ones else None


op(
    "squeeze",
    one(lambda v: any(set(n) == {1} for n in v.dims), squeeze_arguments),
    "K.squeeze({0}, {axis})",
    lambda r, a, x: np.squeeze(x, a["axis"]),
)
op("identity", one(), "K.identity({0})", lambda r, a, x: x, weight=0.3)
op("to_dense", one(), "K.to_dense({0})", lambda r, a, x: x, weight=0.1)


# Repeating


def axis_and_count(g, x):
    axis = g.below(x.rank)
    return {"rep": g.between(1, 3), "axis": axis}


op(
    "repeat_elements",
    one(lambda v: v.rank and v.size < 500, axis_and_count),
    "K.repeat_elements({0}, {rep}, {axis})",
    lambda r, a, x: np.repeat(x, a["rep"], a["axis"]),
)
op(
    "repeat",
    one(lambda v: v.rank == 2 and v.size < 500, lambda g, x: {"n": g.between(1, 4)}),
    "K.repeat({0}, {n})",
    lambda r, a, x: np.repeat(x[:, None], a["n"], 1),
)
op(
    "tile",
    one(
        lambda v: v.rank and v.size < 300,
        lambda g, x: {"n": [g.between(1, 3) if g.chance(0.5) else 1 for _ in range(x.rank)]},
    ),
    "K.tile({0}, {n})",
    lambda r, a, x: np.tile(x, a["n"]),
)
op(
    "reverse",
    one(
        lambda v: v.rank,
        lambda g, x: {
            "axes": g.below(x.rank)
            if g.chance(0.6)
            else sorted(g.sample(range(x.rank), g.between(1, x.rank)))
        },
    ),
    "K.reverse({0}, {axes})",
    lambda r, a, x: np.flip(x, a["axes"]),
)


# Parts


def index_arguments(g, x):
    """One entry per axis: [start, stop, step], a number, or None for a new axis."""
    items = []
    for axis in range(x.rank):
        least = min(x.dims[axis])
        kind = g.choice(["all", "all", "part", "part", "number", "step"])
        if kind == "number" and least:
            i = g.below(least)
            items.append(i if g.chance(0.6) else i - least)
        elif kind == "part" and least:
            start = g.below(least)
            stop = g.between(start, least) if g.chance(0.7) else None
            if g.chance(0.3):
                start, stop = -g.between(1, least), None
            elif g.chance(0.2):
                start, stop = None, -g.between(1, least)
            items.append([start, stop, None])
        elif kind == "step" and least:
            items.append([None, None, g.choice([2, -1, 3])])
        else:
            items.append([None, None, None])
    if all(i == [None, None, None] for i in items):
        return None
    if g.chance(0.1):
        items.insert(g.below(len(items) + 1), None)
    return {"index": items}


def index_of(items):
    return tuple(slice(*i) if isinstance(i, list) else i for i in items)


def index_code(a, x):
    def part(i):
        if not isinstance(i, list):
            return repr(i)
        start, stop, step = ("" if n is None else str(n) for n in i)
        return f"{start}:{stop}" + (f":{step}" if step else "")

    return f"{x[0]}[{', '.join(map(part, a['index']))}]"


op(
    "getitem",
    one(lambda v: v.rank, index_arguments),
    index_code,
    lambda r, a, x: x[index_of(a["index"])],
    covers=("",),
    weight=4,
)


def slice_arguments(g, x):
    start, size = [], []
    for n in x.dims:
        least = min(n)
        begin = g.below(least) if least else 0
        start.append(begin)
        size.append(-1 if g.chance(0.4) or least == begin else g.between(1, least - begin))
    return {"start": start, "size": size}


op(
    "slice",
    one(lambda v: v.rank, slice_arguments),
    "K.slice({0}, {start}, {size})",
    lambda r, a, x: x[
        tuple(slice(i, None if n < 0 else i + n) for i, n in zip(a["start"], a["size"]))
    ],
    covers=("slice",),
)


def draw_gather(g):
    x = g.pick(lambda v: v.rank and min(v.dims[0]) > 0)
    if x is None:
        return None
    least = min(x.dims[0])
    found = g.pick(lambda v: v.is_int and v.size < 50 and v.low >= 0 and v.top < least)
    if found is None or g.chance(0.5):
        shape = [g.small() for _ in range(g.choice([1, 1, 2, 0]))]
        kind = g.choice(["int32", "int64", "int32", "uint8"]) if least < 256 else "int32"
        found = g.new(shape, kind, whole=(0, least))
    if found.size * x.size / least > g.limit:
        return None
    return [x, found], {}


op("gather", draw_gather, "K.gather({0}, {1})", lambda r, a, x, i: x[i])


def draw_one_hot(g):
    x = g.pick(lambda v: v.is_int and v.size < 100 and v.rank < 4)
    return x and ([x], {"n": g.between(1, 5)})


op(
    "one_hot",
    draw_one_hot,
    "K.one_hot({0}, {n})",
    lambda r, a, x: (x[..., None] == np.arange(a["n"])).astype("float64"),
    always("float32"),
    weight=0.5,
)


def draw_arange(g):
    start, stop, step = g.choice(
        [(0, 5, 1), (2, 8, 3), (8, 2, -2), (0, 1, 1), (3, 3, 1), (1, 4, 1)]
    )
    dtype = g.choice(["int32", "int32", "int64", g.floatx])
    return [], {"start": start, "stop": stop, "step": step, "dtype": dtype}


op(
    "arange",
    draw_arange,
    "K.arange({start}, {stop}, {step}, dtype={dtype})",
    lambda r, a: np.arange(a["start"], a["stop"], a["step"]).astype(
        "float64" if is_float(a["dtype"]) else a["dtype"]
    ),
    dtype_argument,
    weight=0.3,
)


def draw_arange_of_size(g):
    x = g.pick(lambda v: v.rank)
    return x and ([x], {"axis": g.below(x.rank)})


op(
    "arange_of_shape",
    draw_arange_of_size,
    "K.arange(K.shape({0})[{axis}])",
    lambda r, a, x: np.arange(x.shape[a["axis"]], dtype="int32"),
    always("int32"),
    covers=("arange", "shape"),
    weight=0.3,
)
op(
    "shape",
    one(lambda v: v.rank),
    "K.shape({0})",
    lambda r, a, x: np.array(x.shape, "int32"),
    always("int32"),
    weight=0.3,
)
op(
    "size",
    one(),
    "K.size({0})",
    lambda r, a, x: np.array(x.size, "int32"),
    always("int32"),
    weight=0.2,
)
for _name, _full in (("zeros_like", 0), ("ones_like", 1)):
    op(
        _name,
        one(),
        f"K.{_name}({{0}})",
        lambda r, a, x, full=_full: np.full_like(real(x), full),
        weight=0.4,
    )


# Padding and resizing


def pads(g, n):
    return [[g.between(0, 2), g.between(0, 2)] for _ in range(n)]


def padded(x, padding, first):
    widths = [[0, 0]] * x.ndim
    widths[first : first + len(padding)] = padding
    return np.pad(x, widths)


op(
    "temporal_padding",
    one(lambda v: v.rank == 3 and v.dtype != "bool", lambda g, x: {"padding": pads(g, 1)[0]}),
    "K.temporal_padding({0}, {padding})",
    lambda r, a, x: padded(x, [a["padding"]], 1),
)
op(
    "asymmetric_temporal_padding",
    one(lambda v: v.rank == 3 and v.dtype != "bool", lambda g, x: {"padding": pads(g, 1)[0]}),
    lambda a, x: f"K.asymmetric_temporal_padding({x[0]}, {a['padding'][0]}, {a['padding'][1]})",
    lambda r, a, x: padded(x, [a["padding"]], 1),
    weight=0.2,
)
for _n in (2, 3):
    op(
        f"spatial_{_n}d_padding",
        one(
            lambda v, n=_n: v.rank == n + 2 and v.dtype != "bool",
            lambda g, x, n=_n: {"padding": pads(g, n), "data_format": g.data_format()},
        ),
        f"K.spatial_{_n}d_padding({{0}}, {{padding}}, data_format={{data_format}})",
        lambda r, a, x: padded(x, a["padding"], 2 if channels_first(a) else 1),
    )


def resized(x, factors, first):
    first = 2 if first else 1
    for axis, factor in enumerate(factors):
        x = np.repeat(x, factor, first + axis)
    return x


def resize_arguments(g, x):
    return {
        "factors": [g.between(1, 3), g.between(1, 2)],
        "data_format": g.data_format(False),
        "interpolation": "bilinear"
        if x.is_float and x.finite and x.size and g.chance(0.4)
        else "nearest",
    }


def resize_images_value(r, a, x):
    if a["interpolation"] == "nearest":
        return resized(x, a["factors"], channels_first(a))
    first = 2 if channels_first(a) else 1
    for i, factor in enumerate(a["factors"]):
        axis = first + i
        at = np.arange(x.shape[axis] * factor)
        low = at // factor
        high = np.minimum(low + 1, x.shape[axis] - 1)
        share = (at / factor - low).reshape([-1] + [1] * (x.ndim - 1 - axis))
        a_part, b_part = np.take(x, low, axis), np.take(x, high, axis)
        x = r(
            a_part * (1 - share) + b_part * share,
            np.abs(real(a_part)) + np.abs(real(b_part)),
        )
    return x


op(
    "resize_images",
    one(lambda v: v.rank == 4 and v.size < 400 and v.dtype != "bool", resize_arguments),
    lambda a, x: (
        f"K.resize_images({x[0]}, {a['factors'][0]}, {a['factors'][1]}, {a['data_format']!r}, "
        f"interpolation={a['interpolation']!r})"
    ),
    resize_images_value,
    exact=True,
)
op(
    "resize_volumes",
    one(
        lambda v: v.rank == 5 and v.size < 400 and v.dtype != "bool",
        lambda g, x: {
            "factors": [g.between(1, 2) for _ in range(3)],
            "data_format": g.data_format(False),
        },
    ),
    lambda a, x: (
        f"K.resize_volumes({x[0]}, {', '.join(map(str, a['factors']))}, {a['data_format']!r})"
    ),
    lambda r, a, x: resized(x, a["factors"], channels_first(a)),
)
