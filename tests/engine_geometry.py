"""Random convolutions and pools, the same ones on every engine: python engine_geometry.py SEED DRAWS [ONLY].

Results are compared with the oracles of tests/cases in float64. What has no oracle, the gradients, is written to
standard output as numbers, so that whoever starts this on two engines can compare them.
"""

import dataclasses
import json
import os
import sys

os.environ.setdefault("HORNGATE_QUIET", "1")
os.environ.setdefault("HORNGATE_NO_CONFIG_WRITE", "1")

import horngate as K
import numpy as np
from cases import oracles

# Per dtype: the unit of rounding, with which the error of a sum of n products grows.
UNIT = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}


@dataclasses.dataclass
class Draw:
    """A function of K, shapes of its operands, and its options."""

    function: str
    shapes: list
    options: dict
    dtype: str

    def program(self):
        """The same as a program to copy."""
        words = ", ".join(f"{k}={v!r}" for k, v in self.options.items())
        xs = ", ".join(f"K.placeholder({tuple(s)}, dtype={self.dtype!r})" for s in self.shapes)
        return f"K.{self.function}({xs}, {words})"


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def sizes(rng, n, most):
    return [int(v) for v in rng.integers(1, most + 1, n)]


def with_channels(first, batch, room, channels):
    return [batch, channels, *room] if first else [batch, *room, channels]


def draw(rng):
    """A draw whose windows fit, so that the result has elements."""
    while True:
        made = pick(rng, conv, conv, depthwise, depthwise, transposed, pool, pool)(rng)
        if made:
            return made


def window_of(rng, rank):
    """(sizes of the data, of the window, strides, padding)"""
    room = sizes(rng, rank, 9 if rank < 3 else 5)
    padding = pick(rng, "valid", "same", "same")
    size = sizes(rng, rank, pick(rng, 3, 5, 5, 9) if rank < 3 else 4)
    strides = sizes(rng, rank, 4)
    if rng.random() < 0.4:
        strides = [strides[0]] * rank
    return room, size, strides, padding


def fits(room, spans, padding):
    return padding != "valid" or all(n >= s for n, s in zip(room, spans))


def conv(rng):
    rank = int(rng.integers(1, 4))
    room, size, strides, padding = window_of(rng, rank)
    dilation = sizes(rng, rank, 3) if rng.random() < 0.3 else [1] * rank
    if max(dilation) > 1:
        strides = [1] * rank  # not both, by the rules of Keras
    if not fits(room, [(k - 1) * d + 1 for k, d in zip(size, dilation)], padding):
        return None
    first = rng.random() < 0.5
    batch, c, out = sizes(rng, 3, 4)
    if rank == 1:
        strides, dilation = strides[0], dilation[0]
        if padding == "same" and not first and rng.random() < 0.3:
            padding = "causal"
    options = {
        "strides": strides,
        "padding": padding,
        "data_format": "channels_first" if first else "channels_last",
        "dilation_rate": dilation,
    }
    shapes = [with_channels(first, batch, room, c), [*size, c, out]]
    return Draw(f"conv{rank}d", shapes, options, pick(rng, *UNIT))


def depthwise(rng):
    rank = pick(rng, 1, 2, 2)
    room, size, strides, padding = window_of(rng, rank)
    strides = [strides[0]] * rank
    dilation = sizes(rng, rank, 3) if rng.random() < 0.3 else [1] * rank
    if max(dilation) > 1:
        strides = [1] * rank
    if not fits(room, [(k - 1) * d + 1 for k, d in zip(size, dilation)], padding):
        return None
    first = rng.random() < 0.5
    batch, c, times, out = sizes(rng, 4, 4)
    shapes = [with_channels(first, batch, room, c), [*size, c, times]]
    is_separable = rank == 1 or rng.random() < 0.5
    if is_separable:
        shapes.append([*[1] * rank, c * times, out])
    options = {
        "strides": strides[0] if rank == 1 else strides,
        "padding": padding,
        "data_format": "channels_first" if first else "channels_last",
        "dilation_rate": dilation[0] if rank == 1 else dilation,
    }
    name = f"separable_conv{rank}d" if is_separable else "depthwise_conv2d"
    return Draw(name, shapes, options, pick(rng, *UNIT))


def transposed(rng):
    """The data of a convolution is the result, and the other way round."""
    rank = pick(rng, 2, 2, 3)
    room, size, strides, padding = window_of(rng, rank)
    if not fits(room, size, padding):
        return None
    places = [oracles.window_padding(n, k, s, padding)[2] for n, k, s in zip(room, size, strides)]
    first = rng.random() < 0.5
    batch, c, out = sizes(rng, 3, 3)
    options = {
        "output_shape": tuple(with_channels(first, batch, room, c)),
        "strides": strides,
        "padding": padding,
        "data_format": "channels_first" if first else "channels_last",
    }
    shapes = [with_channels(first, batch, places, out), [*size, c, out]]
    return Draw(f"conv{rank}d_transpose", shapes, options, pick(rng, *UNIT))


def pool(rng):
    rank = pick(rng, 2, 2, 3)
    room, size, strides, padding = window_of(rng, rank)
    if not fits(room, size, padding):
        return None
    first = rng.random() < 0.5
    batch, c = sizes(rng, 2, 4)
    options = {
        "pool_size": tuple(size),
        "strides": tuple(strides),
        "padding": padding,
        "data_format": "channels_first" if first else "channels_last",
        "pool_mode": pick(rng, "max", "avg"),
    }
    # Numbers of a half float are often equal, and then two of them are the largest.
    dtype = pick(rng, "float32", "float64")
    return Draw(f"pool{rank}d", [with_channels(first, batch, room, c)], options, dtype)


ORACLES = {"conv": oracles.conv, "depthwise": oracles.depthwise_conv, "pool": oracles.pool}


def oracle_of(name):
    if name.endswith("_transpose"):
        return oracles.conv_transpose
    if name.startswith("separable"):
        return oracles.separable_conv
    return next(f for key, f in ORACLES.items() if name.startswith(key))


def reach(d):
    """About how many products a result or a gradient is the sum of."""
    return max(8, *(int(np.prod(s)) for s in d.shapes))


def check(d, rng):
    """(complaint or None, gradients)"""
    arrays = [rng.uniform(-1, 1, s).astype(d.dtype) for s in d.shapes]
    xs = [K.placeholder(tuple(s), dtype=d.dtype) for s in d.shapes]
    y = getattr(K, d.function)(*xs, **d.options)
    wide = [a.astype("float64") for a in arrays]
    expected = oracle_of(d.function)(*wide, **d.options)
    weights = rng.uniform(-1, 1, expected.shape).astype(d.dtype)
    grads = K.gradients(K.sum(y * K.constant(weights, dtype=d.dtype)), xs)
    got, *grads = K.function(xs, [y, *grads])(arrays)
    limit = UNIT[d.dtype] * (8 + 2 * reach(d) ** 0.5) * max(1.0, np.abs(expected).max())
    if got.shape != expected.shape:
        return f"shape {got.shape} instead of {expected.shape}", grads
    error = np.abs(got.astype("float64") - expected).max()
    return None if error <= limit else f"error {error:.3g}, at most {limit:.3g}", grads


def main(seed, draws, only=None):
    """Prints a line of JSON for each draw."""
    for i in range(draws):
        rng = np.random.default_rng([seed, i])
        d = draw(rng)
        if only is not None and i != only:
            continue
        try:
            complaint, grads = check(d, rng)
        except Exception as e:  # noqa: BLE001 - told by whoever reads it
            complaint, grads = f"{type(e).__name__}: {e}", []
        line = {
            "draw": i,
            "program": d.program(),
            "complaint": complaint,
            "unit": UNIT[d.dtype] * (8 + 2 * reach(d) ** 0.5),
            "gradients": [np.asarray(g, "float64").ravel().tolist() for g in grads],
        }
        print(json.dumps(line), flush=True)
        K.clear_session()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
