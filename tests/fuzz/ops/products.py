"""Products of matrices."""

import numpy as np
from fuzz.ops.entry import Op, magnitude, widest

OPS = []


def draw_dot(g):
    x = g.pick(lambda v: v.is_float and v.rank >= 1 and v.top < 1e3)
    if x is None:
        return None
    if x.rank == 1:
        x2 = g.pick(lambda v: v.is_float and v.rank >= 2 and v.top < 1e3)
        x = x2 or x
    if x.rank < 2:
        return None
    inner = x.dims[-1]

    def fits(v):
        return v.dtype == x.dtype and v.rank >= 2 and v.dims[-2] == inner and v.top < 1e3

    y = g.pick(fits) if g.chance(0.5) else None
    if y is None or x.size * (y.size // max(inner[0], 1)) > g.limit * 4:
        y = g.new([inner, g.width()], x.dtype, weight=True)
    return [x, y], {}


def contract(x, y, i, j):
    """Sums products over an axis of each. NumPy's libraries may leave out what is multiplied by 0,
    also when that is infinity or NaN."""
    if np.isfinite(x).all() and np.isfinite(y).all():
        return np.tensordot(x, y, (i, j))
    x, y = np.moveaxis(x, i, -1), np.moveaxis(y, j, 0)
    left, right = list(range(1, x.ndim)), list(range(x.ndim, x.ndim + y.ndim - 1))
    return np.einsum(x, [*left, 0], y, [0, *right], [*left, *right])


def rows(x, y):
    """x @ y as one product of matrices: NumPy takes a stack of them one by one."""
    return contract(x, y, -1, 0)


def dot_value(r, a, x, y):
    if y.ndim > 2:
        made = contract(x, y, -1, -2)
        size = contract(magnitude(x), magnitude(y), -1, -2)
    else:
        made, size = rows(x, y), rows(magnitude(x), magnitude(y))
    return r(made, size * r.partial_sums(x.shape[-1]))


OPS.append(
    Op("dot", draw_dot, "K.dot({0}, {1})", dot_value, widest, exact=True, covers=("dot",), weight=4)
)


def draw_batch_dot(g):
    x = g.pick(lambda v: v.is_float and v.rank in (2, 3, 4) and v.top < 1e3 and v.size < 2000)
    if x is None:
        return None
    pairs = []
    for y in g.values:
        if y.dtype != x.dtype or y.rank not in (2, 3, 4) or y.dims[0] != x.dims[0] or y.top > 1e3:
            continue
        for i in range(1, x.rank):
            for j in range(1, y.rank):
                if x.dims[i] == y.dims[j] and x.rank + y.rank <= 7:
                    pairs.append((y, i, j))
    if not pairs:
        return None
    y, i, j = g.choice(pairs)
    axes = [i, j]
    if i == j and g.chance(0.5):
        axes = i
    return [x, y], {"axes": axes}


def batch_dot(x, y, i, j):
    samples = [contract(p, q, i - 1, j - 1) for p, q in zip(x, y)]
    shape = [n for k, n in enumerate(x.shape) if k != i]
    shape += [n for k, n in enumerate(y.shape) if k not in (0, j)]
    made = np.array(samples, np.result_type(x, y)).reshape(shape)
    return made[:, None] if made.ndim == 1 else made


def batch_dot_value(r, a, x, y):
    i, j = (a["axes"], a["axes"]) if isinstance(a["axes"], int) else a["axes"]
    size = batch_dot(magnitude(x), magnitude(y), i, j)
    return r(batch_dot(x, y, i, j), size * r.partial_sums(x.shape[i]))


OPS.append(
    Op(
        "batch_dot",
        draw_batch_dot,
        "K.batch_dot({0}, {1}, axes={axes})",
        batch_dot_value,
        widest,
        exact=True,
        covers=("batch_dot",),
        weight=1.5,
    )
)
