"""Reductions and scans."""

import numpy as np
from draws import Draw, draws


@draws("max", "min", "sum", "prod", "mean", "var", "std", "logsumexp", count=14)
def reduce(r):
    shape = r.shape(0, 4)
    axis, keepdims = r.axes(len(shape)), r.flag()
    x = r.apart(*shape) if r.name in ("max", "min") else r.normal(*shape)
    one = r.name == "std" and np.prod(np.array(shape)[_list(axis, shape)], initial=1) == 1
    return Draw(
        [x],
        lambda K, x: getattr(K, r.name)(x, axis=axis, keepdims=keepdims),
        f"{shape} axis={axis} keepdims={keepdims}" + (" of one value" if one else ""),
        grad=not one,
    )


@draws("std", count=4)
def std_of_equal_values(r):
    x = np.full((3, 4), 1.5, r.dtype)
    return Draw([x], lambda K, x: K.std(x, axis=1), "std of equal values")


@draws("max", "min", count=4)
def tied(r):
    x = r.ints(0, 3, 4, 6, dtype=r.dtype)
    axis = r.choice(None, 0, 1)
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=axis), f"ties axis={axis}")


@draws("prod", "cumprod", count=4)
def with_zeros(r):
    x = r.normal(3, 5)
    x[r.rng.uniform(size=x.shape) < 0.25] = 0
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=1), "zeros")


@draws("sum", "prod", "max", "min", "mean", count=6)
def of_ints(r):
    x = r.ints(-4, 5, 3, 4, dtype=r.choice("int32", "int64"))
    axis = r.choice(None, 0, -1)
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=axis), f"{x.dtype}", grad=False)


@draws("mean", "var", "std", "sum", "max", "min", "prod", count=2)
def of_bools(r):
    x = r.ints(0, 2, 3, 4).astype("bool")
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=1), "bool", grad=False)


@draws("any", "all")
def logical(r):
    shape = r.shape(0, 4)
    axis, keepdims = r.axes(len(shape)), r.flag()
    x = r.ints(0, 3, *shape, dtype=r.choice("bool", "int32", r.dtype))
    return Draw(
        [x],
        lambda K, x: getattr(K, r.name)(x, axis=axis, keepdims=keepdims),
        f"{x.dtype} {shape} axis={axis} keepdims={keepdims}",
        grad=False,
    )


@draws("argmax", "argmin")
def arg(r):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    x = r.ints(0, 4, *shape, dtype=r.choice(r.dtype, "int32")) if r.flag() else r.normal(*shape)
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=axis), f"axis={axis}")


@draws("argmax", "argmin", count=2)
def arg_plain(r):
    return Draw([r.normal(3, 4)], lambda K, x: getattr(K, r.name)(x), "default axis")


@draws("cumsum", "cumprod")
def scan(r):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    x = r.normal(*shape)
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=axis), f"{shape} axis={axis}")


@draws("logsumexp", count=4)
def large(r):
    x = r.normal(4, 5, scale=300)
    return Draw([x], lambda K, x: K.logsumexp(x, axis=-1), "large values")


@draws("logsumexp", "max", "min", count=2)
def infinite(r):
    x = r.normal(4, 5)
    x[0] = -np.inf
    x[1, 2] = np.inf
    x[2, 3] = np.nan
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=-1), "inf and nan", grad=False)


@draws("sum", "mean", "prod", "max", "min", "var", count=2)
def of_nothing(r):
    x = np.zeros((3, 0), r.dtype)
    return Draw([x], lambda K, x: getattr(K, r.name)(x, axis=1), "no values", grad=False)


def _list(axis, shape):
    if axis is None:
        return list(range(len(shape)))
    return axis if isinstance(axis, list) else [axis]
