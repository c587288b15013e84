"""Arrays that a program is fed with, described by a few words instead of by their elements.

{"kind": "normal", "seed": 7, "scale": 1.0}     floats around 0, of a dtype's own precision
{"kind": "positive", "seed": 7}                 floats of [0.1, 2)
{"kind": "whole", "seed": 7, "low": 0, "high": 5}   whole numbers of [low, high), in any dtype
{"kind": "special", "seed": 7}                  normal, and NaN, infinities, zeros of both signs
{"kind": "probabilities", "seed": 7}            the last axis sums to 1
{"kind": "thin", "seed": 7}                     mostly zeros
{"kind": "full", "value": 0.5}
{"kind": "list", "value": [..]}
"""

import numpy as np


def shape_in(x, call):
    """The shape that a leaf, or what is fed in place of a result, has in a call."""
    return tuple(n if isinstance(n, int) else n[call] for n in x["dims"])


def make(spec, shape, dtype):
    kind = spec["kind"]
    shape = tuple(shape)
    if kind == "full":
        return np.full(shape, spec["value"], dtype)
    if kind == "list":
        return np.array(spec["value"]).astype(dtype).reshape(shape)
    rng = np.random.default_rng(spec["seed"])
    if dtype == "bool":
        return rng.random(shape) < 0.6
    if kind == "normal":
        return (rng.standard_normal(shape) * spec.get("scale", 1.0)).astype(dtype)
    if kind == "thin":
        return np.where(rng.random(shape) < 0.3, rng.standard_normal(shape), 0).astype(dtype)
    if kind == "positive":
        return (0.1 + 1.9 * rng.random(shape)).astype(dtype)
    if kind == "whole":
        return rng.integers(spec["low"], spec["high"], shape).astype(dtype)
    if kind == "probabilities":
        x = 0.05 + rng.random(shape)
        return (x / x.sum(-1, keepdims=True)).astype(dtype)
    assert kind == "special", kind
    x = rng.standard_normal(shape)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
    return np.where(rng.random(shape) < 0.25, rng.choice(odd, shape), x).astype(dtype)


def laid_out(x, layout):
    """The same array in other memory: feeds need not be contiguous."""
    if layout == "fortran" and x.ndim:
        return np.asfortranarray(x)
    if layout == "strided" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if layout == "backwards" and x.ndim:
        return np.ascontiguousarray(x[::-1])[::-1]
    return x


def source(spec, shape, dtype, layout=None):
    """Python that makes the same array without this module."""
    x = make(spec, shape, dtype)
    if spec["kind"] == "full":
        made = f"np.full({tuple(shape)}, {spec['value']!r}, {dtype!r})"
    elif x.size <= 24:
        made = f"np.array({literal(x)}, {dtype!r})"
        if x.size == 0:
            made += f".reshape({x.shape})"
    else:
        made = drawn(spec, tuple(shape), dtype)
    if layout == "fortran" and x.ndim:
        made = f"np.asfortranarray({made})"
    elif layout == "strided" and x.ndim:
        made = f"np.repeat({made}, 2, -1)[..., ::2]"
    elif layout == "backwards" and x.ndim:
        made = f"np.ascontiguousarray({made}[::-1])[::-1]"
    return made


def literal(x):
    text = repr(x.astype("float64").tolist() if x.dtype.kind == "f" else x.tolist())
    return text.replace("nan", "np.nan").replace("inf", "np.inf")


def drawn(spec, shape, dtype):
    rng = f"np.random.default_rng({spec.get('seed', 0)})"
    kind = spec["kind"]
    if kind == "list":
        return f"np.array({literal(make(spec, shape, dtype))}, {dtype!r})"
    if dtype == "bool":
        return f"({rng}.random({shape}) < 0.6)"
    if kind == "normal":
        scale = spec.get("scale", 1.0)
        return f"({rng}.standard_normal({shape}) * {scale}).astype({dtype!r})"
    if kind == "thin":
        return (
            f"(lambda rng: np.where(rng.random({shape}) < 0.3, rng.standard_normal({shape}), 0)"
            f".astype({dtype!r}))({rng})"
        )
    if kind == "positive":
        return f"(0.1 + 1.9 * {rng}.random({shape})).astype({dtype!r})"
    if kind == "whole":
        return f"{rng}.integers({spec['low']}, {spec['high']}, {shape}).astype({dtype!r})"
    if kind == "probabilities":
        return (
            f"(lambda x: (x / x.sum(-1, keepdims=True)).astype({dtype!r}))"
            f"(0.05 + {rng}.random({shape}))"
        )
    odd = "[np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]"
    return (
        f"(lambda rng: (lambda x: np.where(rng.random({shape}) < 0.25, "
        f"rng.choice({odd}, {shape}), x))"
        f"(rng.standard_normal({shape})).astype({dtype!r}))({rng})"
    )
