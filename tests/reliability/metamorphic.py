"""The same thing said in two ways gives the same numbers, forward and backward.

    metamorphic.py [--draws N] [--seed S] [--relation NAME] [--only K]

Relations, drawn in turn with random shapes, options and dtypes:
    format    channels_first is channels_last, transposed: layers alone and networks of them
    loop      rnn, foldl, foldr, map_fn in a loop, unrolled, and written out by hand
    batch     a batch is the stack of its samples, each run alone
    spelling  calls of older Keras versions are those of today

Prints the seed and one JSON line; ends with 1 after a difference, with the numbers that bring it
back (--seed S --only K).
"""

import argparse
import json
import sys
import time
import warnings

import horngate as K
import numpy as np

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


class Mismatch(AssertionError):
    pass


class Rand:
    def __init__(self, seed, index):
        self.rng = np.random.default_rng([seed, index])
        self.dtype = self.choice("float64", "float32")

    def int(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def flag(self):
        return bool(self.rng.integers(2))

    def choice(self, *options):
        return options[int(self.rng.integers(len(options)))]

    def normal(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype(self.dtype)


def results(call, arrays, open_first=False):
    """Values of call(*tensors) and, of a weighted sum of them, the gradients with respect to all
    float arrays. The weights are functions of the results, so that they follow transpositions."""
    xs = [
        K.placeholder(
            (None, *a.shape[1:]) if open_first and i == 0 else a.shape, dtype=str(a.dtype)
        )
        for i, a in enumerate(arrays)
    ]
    ys = call(*xs)
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    loss = None
    for y in ys:
        if K.dtype(y).startswith("float"):
            part = K.sum(K.sin(y) + 0.5 * K.square(y))
            loss = part if loss is None else loss + part
    floats = [x for x, a in zip(xs, arrays, strict=True) if a.dtype.kind == "f"]
    grads = K.gradients(loss, floats) if loss is not None else []
    there = [g for g in grads if g is not None]
    made = [np.asarray(v) for v in K.function(xs, ys + there)(arrays)]
    values, rest = made[: len(ys)], iter(made[len(ys) :])
    return values, [None if g is None else next(rest) for g in grads]


def agree(a, b, what, limit, scale=1.0):
    """limit: the greatest difference, relative to scale."""
    if (a is None) != (b is None):
        raise Mismatch(f"{what}: None on one side only")
    if a is None:
        return
    if a.shape != b.shape or a.dtype != b.dtype:
        raise Mismatch(f"{what}: {a.dtype} {a.shape} and {b.dtype} {b.shape}")
    if a.dtype.kind != "f":
        if not np.array_equal(a, b):
            raise Mismatch(f"{what}: {a.ravel()[:5]} and {b.ravel()[:5]}")
        return
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        raise Mismatch(f"{what}: other infinities or NaNs")
    worst = distance(a, b) / scale
    if not worst <= limit:
        raise Mismatch(f"{what}: differ by {worst:.2e} of the largest, more than {limit:.1e}")


def distance(a, b):
    if a is None or a.dtype.kind != "f":
        return 0.0
    finite = np.isfinite(a) & np.isfinite(b)
    return float(np.max(np.abs(a - b), where=finite, initial=0.0))


def scale_of(made):
    """The largest number of all results and gradients, or 1: a gradient that is 0 because large
    terms cancel has their rounding errors."""
    scale = 1.0
    for a in [*made[0], *made[1]]:
        if a is not None and a.dtype.kind == "f":
            scale = max(scale, float(np.max(np.abs(a), where=np.isfinite(a), initial=0.0)))
    return scale


# Sums of thousands of rounded terms and some layers of them: what rounding does to one number, it
# does less than so many times.
ROUNDINGS = 256


def limits(run, arrays, dtype):
    """How far rounding may take each result: as far as it goes when the arguments themselves move
    by some roundings. run(arrays) gives (values, gradients); it is asked in float64, where the
    movement is seen without rounding errors of its own."""
    wide = [a.astype("float64") if a.dtype.kind == "f" else a for a in arrays]
    rng = np.random.default_rng(0)
    step = 2.0**-30

    def moved(a):
        return a * (1 + step * rng.uniform(-1, 1, a.shape)) if a.dtype.kind == "f" else a

    K.set_floatx("float64")
    here, there = run(wide), run([moved(a) for a in wide])
    K.set_floatx(dtype)
    made, scale = [], scale_of(here)
    for one, other in zip(here, there, strict=True):
        per_step = [distance(b, a) / step / scale for a, b in zip(one, other, strict=True)]
        made.append([ROUNDINGS * EPSILON[dtype] * max(1.0, d) for d in per_step])
    return made


def compare(one, other, limit):
    scale = scale_of(other)
    for i, (a, b) in enumerate(zip(one[0], other[0], strict=True)):
        agree(a, b, f"result {i}", limit[0][i], scale)
    for i, (a, b) in enumerate(zip(one[1], other[1], strict=True)):
        agree(a, b, f"gradient {i}", limit[1][i], scale)


# format


def to_first(a):
    return np.ascontiguousarray(np.moveaxis(a, -1, 1))


def last_of(y):
    """A channels_first tensor as channels_last."""
    n = K.ndim(y)
    return K.permute_dimensions(y, (0, *range(2, n), 1))


def windows(r, n):
    kernel = tuple(r.int(1, 3) for _ in range(n))
    strides, dilation = (1,) * n, (1,) * n
    if r.flag():
        strides = tuple(r.int(1, 2) for _ in range(n))
    elif r.flag():
        dilation = tuple(r.int(1, 2) for _ in range(n))
    return kernel, strides, dilation, r.choice("same", "valid")


def one(values):
    return values[0] if len(values) == 1 else values


def layer_conv(r, n, c):
    kernel, strides, dilation, padding = windows(r, n)
    f = r.int(1, r.choice(4, 20))
    w = r.normal(*kernel, c, f, scale=0.5)
    name = f"conv{n}d"
    options = {"strides": one(strides), "padding": padding, "dilation_rate": one(dilation)}
    call = lambda x, w, form: getattr(K, name)(x, w, data_format=form, **options)
    return call, [w], f"{name} {kernel} {options}", f


def layer_depthwise(r, n, c):
    kernel, strides, dilation, padding = windows(r, 2)
    strides = (strides[0],) * 2
    m = r.int(1, 3)
    w = r.normal(*kernel, c, m, scale=0.5)
    options = {"strides": strides, "padding": padding, "dilation_rate": dilation}
    call = lambda x, w, form: K.depthwise_conv2d(x, w, data_format=form, **options)
    return call, [w], f"depthwise {kernel} {options}", c * m


def layer_separable(r, n, c):
    kernel, strides, dilation, padding = windows(r, n)
    strides = (strides[0],) * n
    m, f = r.int(1, 2), r.int(1, 5)
    d, p = r.normal(*kernel, c, m, scale=0.5), r.normal(*([1] * n), c * m, f, scale=0.5)
    options = {"strides": one(strides), "padding": padding, "dilation_rate": one(dilation)}
    name = f"separable_conv{n}d"
    call = lambda x, d, p, form: getattr(K, name)(x, d, p, data_format=form, **options)
    return call, [d, p], f"{name} {kernel} {options}", f


def layer_pool(r, n, c):
    size = tuple(r.int(1, 3) for _ in range(n))
    strides = tuple(r.int(1, 3) for _ in range(n))
    options = {"padding": r.choice("same", "valid"), "pool_mode": r.choice("max", "avg")}
    call = lambda x, form: getattr(K, f"pool{n}d")(x, size, strides, data_format=form, **options)
    return call, [], f"pool{n}d {size} {strides} {options}", c


def layer_pad(r, n, c):
    padding = tuple((r.int(0, 2), r.int(0, 2)) for _ in range(n))
    call = lambda x, form: getattr(K, f"spatial_{n}d_padding")(x, padding, form)
    return call, [], f"padding {padding}", c


def layer_resize(r, n, c):
    factors = tuple(r.int(1, 3) for _ in range(n))
    if n == 3:
        return (lambda x, form: K.resize_volumes(x, *factors, form)), [], f"resize {factors}", c
    how = r.choice("nearest", "bilinear")
    call = lambda x, form: K.resize_images(x, *factors, form, interpolation=how)
    return call, [], f"resize {factors} {how}", c


def layer_bias(r, n, c):
    b = r.normal(c)
    return (lambda x, b, form: K.bias_add(x, b, data_format=form)), [b], "bias", c


def layer_normalize(r, n, c):
    g, b = r.normal(c), r.normal(c)

    def call(x, g, b, form):
        axis = 1 if form == "channels_first" else n + 1
        axes = [i for i in range(n + 2) if i != axis]
        return K.normalize_batch_in_training(x, g, b, axes, epsilon=0.1)[0]

    return call, [g, b], "normalize", c


def layer_statistics(r, n, c):
    m, v = r.normal(c), r.rng.uniform(0.5, 2, c).astype(r.dtype)

    def call(x, m, v, form):
        axis = 1 if form == "channels_first" else n + 1
        shape = [1] * (n + 2)
        shape[axis] = c
        return K.batch_normalization(x, K.reshape(m, shape), K.reshape(v, shape), None, None, axis)

    return call, [m, v], "batch_normalization", c


def layer_activation(r, n, c):
    name = r.choice("relu", "tanh", "sigmoid", "elu", "softplus")
    return (lambda x, form: getattr(K, name)(x)), [], name, c


def layer_softmax(r, n, c):
    call = lambda x, form: K.softmax(x, axis=1 if form == "channels_first" else -1)
    return call, [], "softmax", c


def layer_join(r, n, c):
    def call(x, form):
        axis = 1 if form == "channels_first" else -1
        return K.concatenate([K.tanh(x), x * 0.5, K.relu(x)], axis=axis)

    return call, [], "concatenate", 3 * c


def layer_residual(r, n, c):
    w = r.normal(*([3] * n), c, c, scale=0.2)

    def call(x, w, form):
        return x + K.relu(getattr(K, f"conv{n}d")(x, w, padding="same", data_format=form))

    return call, [w], "residual", c


def layer_transposed(r, n, c):
    kernel, strides = tuple(r.int(1, 3) for _ in range(n)), (r.int(1, 2),) * n
    f = r.int(1, 4)
    w = r.normal(*kernel, f, c, scale=0.5)

    def call(x, w, form):
        shape = K.int_shape(x)
        sizes = shape[2:] if form == "channels_first" else shape[1:-1]
        out = [m * s for m, s in zip(sizes, strides, strict=True)]
        batch = K.shape(x)[0]
        out = (batch, f, *out) if form == "channels_first" else (batch, *out, f)
        name = f"conv{n}d_transpose"
        return getattr(K, name)(x, w, out, strides=strides, padding="same", data_format=form)

    return call, [w], f"transposed {kernel} {strides}", f


LAYERS = {
    1: [layer_conv, layer_separable, layer_bias, layer_activation, layer_softmax, layer_join],
    2: [
        layer_conv,
        layer_conv,
        layer_depthwise,
        layer_separable,
        layer_pool,
        layer_pad,
        layer_resize,
    ]
    + [layer_bias, layer_normalize, layer_statistics, layer_activation, layer_softmax, layer_join]
    + [layer_residual, layer_transposed],
    3: [layer_conv, layer_pool, layer_pad, layer_resize, layer_bias, layer_activation, layer_join]
    + [layer_transposed, layer_normalize],
}
MOST_ELEMENTS = 40000


def formats(r):
    n = r.choice(1, 2, 2, 2, 3)
    sizes = tuple(r.int(4, 8 if n == 3 else 14) for _ in range(n))
    c = r.choice(1, 2, 3, 8, 16) if n == 2 else r.int(1, 4)
    x = r.normal(r.int(1, 3), *sizes, c)
    depth = r.choice(1, 1, 2, 3, 5)
    steps, weights, text = [], [], [str(x.shape), r.dtype]
    shape, open_first = x.shape, r.flag()
    for _ in range(depth):
        call, w, label, c_next = r.choice(*LAYERS[n])(r, n, shape[-1])
        try:  # windows that do not fit into what is left by now
            probe = K.placeholder(shape, dtype=r.dtype)
            args = [K.placeholder(a.shape, dtype=r.dtype) for a in w]
            out = K.int_shape(call(probe, *args, "channels_last"))
        except ValueError:
            continue
        if int(np.prod(out)) > MOST_ELEMENTS or min(out) < 1:
            continue
        steps.append((call, len(w)))
        weights += w
        text.append(label)
        shape = out
    if not steps:
        return "nothing fits", lambda x: None, x

    def net(form):
        def call(x, *ws):
            at = 0
            for step, count in steps:
                x = step(x, *ws[at : at + count], form)
                at += count
            return x

        return call

    def check(x):
        run = lambda arrays: results(net("channels_last"), arrays, open_first=open_first)
        first = results(
            lambda x, *ws: last_of(net("channels_first")(x, *ws)),
            [to_first(x), *weights],
            open_first=open_first,
        )
        if first[1][0] is not None:
            first[1][0] = np.ascontiguousarray(np.moveaxis(first[1][0], 1, -1))
        compare(first, run([x, *weights]), limits(run, [x, *weights], r.dtype))

    return " ".join(text), check, x


# loop


def cell(r, n, m):
    """(step, arrays, number of states, label): a step function with weights from outside."""
    kind = r.choice("simple", "gated", "two states", "constants", "image")
    if kind == "simple":
        arrays = [r.normal(n, m, scale=0.5), r.normal(m, m, scale=0.5)]

        def step(w, u):
            def run(x, s):
                h = K.tanh(K.dot(x, w) + K.dot(s[0], u))
                return h, [h]

            return run

        return step, arrays, 1, kind
    if kind == "gated":
        arrays = [r.normal(n, 4 * m, scale=0.4), r.normal(m, 4 * m, scale=0.4), r.normal(4 * m)]

        def step(w, u, b):
            def run(x, s):
                z = K.dot(x, w) + K.dot(s[0], u) + b
                i, f, g, o = (z[:, k * m : (k + 1) * m] for k in range(4))
                c = K.sigmoid(f) * s[1] + K.sigmoid(i) * K.tanh(g)
                h = K.sigmoid(o) * K.tanh(c)
                return h, [h, c]

            return run

        return step, arrays, 2, kind
    if kind == "two states":
        arrays = [r.normal(n, m, scale=0.5), r.normal(m)]

        def step(w, b):
            def run(x, s):
                a = K.softsign(K.dot(x, w) + s[1] * b)
                return K.concatenate([a, s[0]]), [K.maximum(a, s[0] * 0.9), a + s[1] * 0.5]

            return run

        return step, arrays, 2, kind
    if kind == "constants":
        arrays = [r.normal(n, m, scale=0.5)]

        def step(w):
            def run(x, s):
                h = K.sigmoid(K.dot(x, w)) * s[0] + s[1]
                return K.square(h), [h]

            return run

        return step, arrays, 1, kind
    arrays = [r.normal(m, m, scale=0.3)]

    def step(u):
        def run(x, s):
            h = K.elu(K.sum(x, axis=-1, keepdims=True) * 0.3 + K.dot(K.softmax(s[0]), u))
            return h, [h]

        return run

    return step, arrays, 1, kind


def by_hand(step, x, states, mask, constants, backwards, length):
    """What rnn does, with a Python loop: a masked step keeps output and states."""
    order = range(length - 1, -1, -1) if backwards else range(length)
    outputs, last = [], None
    for t in order:
        y, new = step(x[:, t], states + constants)
        if mask is not None:
            on = K.expand_dims(mask[:, t], -1)
            y = K.switch(on, y, K.zeros_like(y) if last is None else last)
            new = [K.switch(on, a, b) for a, b in zip(new, states, strict=True)]
        outputs.append(y)
        last, states = y, list(new)
    return [last, K.stack(outputs, axis=1), *states]


def loops(r):
    if r.int(0, 4) == 0:
        return folds(r)
    b, t, n, m = r.int(1, 5), r.int(1, r.choice(6, 12)), r.int(1, 5), r.int(1, 6)
    step, weights, states, kind = cell(r, n, m)
    masked, backwards = r.flag(), r.flag()
    arrays = [r.normal(b, t, n), *weights, *(r.normal(b, m, scale=0.5) for _ in range(states))]
    if kind == "constants":
        arrays.append(r.normal(b, m))
    if masked:
        arrays.append((r.rng.uniform(size=(b, t)) < 0.7).astype("bool"))
    open_batch = r.flag()

    def program(how):
        def call(x, *rest):
            rest = list(rest)
            ws, rest = rest[: len(weights)], rest[len(weights) :]
            first, rest = rest[:states], rest[states:]
            constants = [rest.pop(0)] if kind == "constants" else []
            mask = rest[0] if masked else None
            if how == "hand":
                return by_hand(step(*ws), x, first, mask, constants, backwards, t)
            options = {"go_backwards": backwards, "constants": constants or None, "mask": mask}
            options |= {"unroll": how == "unrolled", "input_length": t}
            last, outputs, end = K.rnn(step(*ws), x, first, **options)
            return [last, outputs, *end]

        return call

    def check(x):
        given = [x, *arrays[1:]]
        loop = results(program("loop"), given, open_first=open_batch)
        limit = limits(lambda a: results(program("hand"), a), given, r.dtype)
        compare(results(program("unrolled"), given), loop, limit)
        compare(results(program("hand"), given), loop, limit)

    text = f"rnn {kind} {(b, t, n, m)} mask={masked} backwards={backwards} {r.dtype}"
    return text, check, arrays[0]


def folds(r):
    name = r.choice("foldl", "foldr", "map_fn")
    t, n = r.int(1, 7), r.int(1, 5)
    x, w, first = r.normal(t, n), r.normal(n, scale=0.7), r.normal(n)

    def loop(x, w, first):
        if name == "map_fn":
            return K.map_fn(lambda v: K.tanh(v * w) + K.sum(v) + first, x)
        return getattr(K, name)(lambda a, v: K.tanh(a * w) + v, x, initializer=first)

    def hand(x, w, first):
        if name == "map_fn":
            return K.stack([K.tanh(x[i] * w) + K.sum(x[i]) + first for i in range(t)], axis=0)
        a = first
        for i in range(t) if name == "foldl" else range(t - 1, -1, -1):
            a = K.tanh(a * w) + x[i]
        return a

    def check(x):
        arrays = [x, w, first]
        limit = limits(lambda a: results(hand, a), arrays, r.dtype)
        compare(results(hand, arrays), results(loop, arrays), limit)

    return f"{name} {(t, n)} {r.dtype}", check, x


# batch


def sample_steps(r, shape):
    """Functions that treat every sample alone, on tensors of the shape (batch, *shape)."""
    rank = len(shape) + 1
    n = shape[-1]
    steps = [
        ("tanh", [], lambda x: K.tanh(x)),
        ("softmax", [], lambda x: K.softmax(x)),
        ("l2", [], lambda x: K.l2_normalize(x, axis=-1)),
        ("flatten", [], lambda x: K.batch_flatten(x)),
        ("sum", [], lambda x: x - K.mean(x, axis=-1, keepdims=True)),
        ("max", [], lambda x: K.max(x, axis=-1, keepdims=True) * x),
        ("std", [], lambda x: x / (K.std(x, axis=-1, keepdims=True) + 0.5)),
        ("cumsum", [], lambda x: K.cumsum(x, axis=-1) * 0.3),
        ("logsumexp", [], lambda x: x - K.logsumexp(x, axis=-1, keepdims=True)),
        ("reverse", [], lambda x: K.reverse(x, rank - 1)),
        ("repeat", [], lambda x: K.repeat_elements(x, 2, rank - 1)),
        ("elu", [], lambda x: K.elu(x) + K.square(x) * 0.1),
        (
            "normalize",
            [],
            lambda x: K.batch_normalization(x, K.zeros((n,)), K.ones((n,)) * 2.0, None, None),
        ),
    ]
    if n == 1:  # they give one number for all elements, whose std has no derivative
        steps = [s for s in steps if s[0] not in ("softmax", "l2", "sum", "logsumexp", "std")]
    m = r.int(1, 9)
    w, b = r.normal(n, m, scale=0.5), r.normal(m)
    steps += [("dense", [w, b], lambda x, w, b: K.bias_add(K.dot(x, w), b, "channels_last"))] * 3
    if rank == 2:
        e = r.normal(n, m)
        steps.append(("lookup", [e], lambda x, e: K.gather(e, K.argmax(x))))
        steps.append(("steps", [], lambda x: K.repeat(x, 3)))
    if rank == 3:
        w1 = r.normal(2, n, m, scale=0.5)
        conv = lambda x, w: K.conv1d(x, w, padding="same", data_format="channels_last")
        steps += [("conv1d", [w1], conv)] * 2
        steps.append(("batch_dot", [], lambda x: K.batch_dot(x, x, axes=(2, 2)) * 0.2))
        wr, ur = r.normal(n, 4, scale=0.5), r.normal(4, 4, scale=0.5)

        def rnn(x, w, u):
            def step(v, s):
                h = K.tanh(K.dot(v, w) + K.dot(s[0], u))
                return h, [h]

            start = K.tile(K.sum(x, axis=(1, 2))[:, None], (1, 4)) * 0.1
            return K.rnn(step, x, [start], input_length=shape[0])[1]

        steps += [("rnn", [wr, ur], rnn)] * 2
        steps.append(("transpose", [], lambda x: K.permute_dimensions(x, (0, 2, 1))))
    if rank == 4:
        w2 = r.normal(r.int(1, 3), r.int(1, 3), n, m, scale=0.4)
        wd = r.normal(2, 2, n, 2, scale=0.5)
        last = {"data_format": "channels_last"}
        steps += [("conv2d", [w2], lambda x, w: K.conv2d(x, w, padding="same", **last))] * 3
        steps.append(
            ("depthwise", [wd], lambda x, w: K.depthwise_conv2d(x, w, padding="same", **last))
        )
        steps.append(("pool", [], lambda x: K.pool2d(x, (2, 2), (1, 1), "same", **last)))
        steps.append(
            ("avg", [], lambda x: K.pool2d(x, (2, 2), (2, 2), "same", pool_mode="avg", **last))
        )
        steps.append(("resize", [], lambda x: K.resize_images(x, 2, 1, "channels_last")))
    return steps


def batches(r):
    shape = r.choice(
        (r.int(2, 9),), (r.int(2, 6), r.int(1, 6)), (r.int(2, 8), r.int(2, 8), r.int(1, 9))
    )
    batch = r.choice(2, 3, 5, 8)
    x = r.normal(batch, *shape)
    steps, weights, text = [], [], []
    now = shape
    for _ in range(r.int(1, 5)):
        name, ws, call = r.choice(*sample_steps(r, now))
        probe = K.placeholder((2, *now), dtype=r.dtype)
        out = K.int_shape(call(probe, *[K.placeholder(w.shape, dtype=r.dtype) for w in ws]))
        if int(np.prod(out)) > MOST_ELEMENTS:
            continue
        steps.append((call, len(ws)))
        weights += ws
        text.append(name)
        now = tuple(out[1:])

    def net(x, *ws):
        at = 0
        for call, count in steps:
            x = call(x, *ws[at : at + count])
            at += count
        return x

    def whole(arrays):
        return results(net, arrays, open_first=True)

    def check(x):
        if not steps:
            return
        limit = limits(whole, [x, *weights], r.dtype)
        together = whole([x, *weights])
        xs = K.placeholder((None, *shape), dtype=r.dtype)
        ws = [K.placeholder(w.shape, dtype=r.dtype) for w in weights]
        y = net(xs, *ws)
        grads = K.gradients(K.sum(K.sin(y) + 0.5 * K.square(y)), [xs, *ws])
        there = [g for g in grads if g is not None]
        f = K.function([xs, *ws], [y, *there])
        parts = [f([x[i : i + 1], *weights]) for i in range(batch)]
        joined, at = [], 1
        for i, g in enumerate(grads):
            if g is None:
                joined.append(None)
                continue
            pieces = [np.asarray(p[at]) for p in parts]
            at += 1
            # Samples have gradients of their own; those of weights add up.
            joined.append(
                np.concatenate(pieces) if i == 0 else np.sum(pieces, axis=0, dtype=r.dtype)
            )
        compare(([np.concatenate([p[0] for p in parts])], joined), together, limit)

    return f"{x.shape} {' '.join(text)} {r.dtype}", check, x


# spelling


def spellings(r):
    """(then, today): two calls on the same arrays."""
    form, old = r.choice(("channels_last", "tf"), ("channels_first", "th"))
    first = form == "channels_first"
    c, f = r.int(1, 4), r.int(1, 4)
    padding = r.choice("same", "valid")
    strides = (r.int(1, 2), r.int(1, 2))

    def image(n, sizes=None):
        sizes = sizes or [r.int(3, 7) for _ in range(n)]
        return r.normal(2, c, *sizes) if first else r.normal(2, *sizes, c)

    def kernel(n):
        return r.normal(*[r.int(1, 3) for _ in range(n)], c, f)

    def then(k, n):
        """Keras 1 had (out, in, ..) kernels for th."""
        return np.ascontiguousarray(np.transpose(k, (n + 1, n, *range(n)))) if first else k

    def conv2d():
        x, k = image(2), kernel(2)
        return (
            "conv2d",
            [x, k],
            lambda x, k: K.conv2d(
                x, K.permute_dimensions(k, (3, 2, 0, 1)) if first else k,
                strides=strides, border_mode=padding, dim_ordering=old,
            ),
            lambda x, k: K.conv2d(x, k, strides=strides, padding=padding, data_format=form),
        )  # fmt: skip

    def conv3d():
        x, k = image(3, [4, 4, 3]), kernel(3)
        return (
            "conv3d",
            [x, k],
            lambda x, k: K.conv3d(
                x, K.permute_dimensions(k, (4, 3, 0, 1, 2)) if first else k,
                border_mode=padding, dim_ordering=old,
            ),
            lambda x, k: K.conv3d(x, k, padding=padding, data_format=form),
        )  # fmt: skip

    def pool2d():
        x, mode = image(2), r.choice("max", "avg")
        size = (r.int(1, 3), r.int(1, 3))
        return (
            "pool2d",
            [x],
            lambda x: K.pool2d(
                x, size, strides, border_mode=padding, dim_ordering=old, pool_mode=mode
            ),
            lambda x: K.pool2d(x, size, strides, padding=padding, data_format=form, pool_mode=mode),
        )

    def pool3d():
        x, mode = image(3, [4, 5, 4]), r.choice("max", "avg")
        return (
            "pool3d",
            [x],
            lambda x: K.pool3d(x, (2, 2, 2), border_mode=padding, dim_ordering=old, pool_mode=mode),
            lambda x: K.pool3d(x, (2, 2, 2), padding=padding, data_format=form, pool_mode=mode),
        )

    def resize():
        x, h, w = image(2), r.int(1, 3), r.int(1, 3)
        return (
            "resize_images",
            [x],
            lambda x: K.resize_images(X=x, height_factor=h, width_factor=w, dim_ordering=old),
            lambda x: K.resize_images(x, h, w, data_format=form),
        )

    def volumes():
        x, d = image(3, [2, 3, 2]), r.int(1, 3)
        return (
            "resize_volumes",
            [x],
            lambda x: K.resize_volumes(X=x, depth_factor=d, height_factor=2, width_factor=1,
                                       dim_ordering=old),
            lambda x: K.resize_volumes(x, d, 2, 1, data_format=form),
        )  # fmt: skip

    def padding_2d():
        x, p, q = image(2), r.int(0, 3), r.int(0, 3)
        return (
            "spatial_2d_padding",
            [x],
            lambda x: K.spatial_2d_padding(x, (p, q), dim_ordering=old),
            lambda x: K.spatial_2d_padding(x, ((p, p), (q, q)), data_format=form),
        )

    def temporal():
        x, p, q = r.normal(2, 4, 3), r.int(0, 3), r.int(0, 3)
        if r.flag():
            return (
                "temporal_padding",
                [x],
                lambda x: K.temporal_padding(x, p),
                lambda x: K.temporal_padding(x, (p, p)),
            )
        return (
            "asymmetric_temporal_padding",
            [x],
            lambda x: K.asymmetric_temporal_padding(x, p, q),
            lambda x: K.temporal_padding(x, (p, q)),
        )

    def expand():
        x, axis = r.normal(3, 4), r.int(-2, 2)
        return (
            "expand_dims",
            [x],
            lambda x: K.expand_dims(x, dim=axis),
            lambda x: K.expand_dims(x, axis),
        )

    def less():
        x, y, e = r.normal(3, 4), r.normal(4), r.flag()
        return (
            "lesser",
            [x, y],
            lambda x, y: K.lesser_equal(x, y) if e else K.lesser(x, y),
            lambda x, y: K.less_equal(x, y) if e else K.less(x, y),
        )

    def normalize():
        n = r.int(1, 5)
        arrays = [r.normal(4, n), r.normal(n), r.rng.uniform(0.5, 2, n).astype(r.dtype)]
        arrays += [r.normal(n), r.normal(n)]
        return (
            "normalize_batch",
            arrays,
            lambda x, m, v, b, g: K.normalize_batch(x, m, v, b, g, epsilon=0.01),
            lambda x, m, v, b, g: K.batch_normalization(x, m, v, b, g, epsilon=0.01),
        )

    def one_hot():
        x, classes = r.rng.integers(0, 5, (3, 4)).astype("int32"), r.int(1, 6)
        return (
            "one_hot",
            [x],
            lambda x: K.one_hot(x, nb_classes=classes),
            lambda x: K.one_hot(x, num_classes=classes),
        )

    def transposed():
        s = r.int(1, 2)
        x, k = image(2, [3, 4]), r.normal(3, 2, f, c)
        out = (2, f, 3 * s, 4 * s) if first else (2, 3 * s, 4 * s, f)
        # Keras 1: (rows, cols, in, out), or (out, in, rows, cols)
        perm = (2, 3, 0, 1) if first else (0, 1, 3, 2)
        return (
            "deconv2d",
            [x, k],
            lambda x, k: K.deconv2d(x, K.permute_dimensions(k, perm), out, strides=(s, s),
                                    border_mode="same", dim_ordering=old),
            lambda x, k: K.conv2d_transpose(x, k, out, strides=(s, s), padding="same",
                                            data_format=form),
        )  # fmt: skip

    kinds = [conv2d, conv2d, conv3d, pool2d, pool3d, resize, volumes, padding_2d, temporal]
    kinds += [expand, less, normalize, one_hot, transposed]
    name, arrays, old_call, new_call = r.choice(*kinds)()

    def check(x):
        # The same graph, up to a transposed kernel.
        given = [x, *arrays[1:]]
        limit = limits(lambda a: results(new_call, a), given, r.dtype)
        compare(results(old_call, given), results(new_call, given), limit)

    text = f"{name} {[a.shape for a in arrays]} {form} {padding} {strides} {r.dtype}"
    return text, check, arrays[0]


RELATIONS = {"format": formats, "loop": loops, "batch": batches, "spelling": spellings}


# Between two roundings of float32 relu, max and argmax may choose the other side. That is rare, and
# another x is not there again; a wrong program is wrong for every x.
TRIES = 3


def draw(index, seed, only=None):
    """(relation, text, error or None, how often x was drawn again) of one draw."""
    names = [only] if only else list(RELATIONS)
    relation = names[index % len(names)]
    K.clear_session()
    K.set_image_data_format("channels_last")
    r = Rand(seed, index)
    K.set_floatx(r.dtype)
    text, again = "while drawing", 0
    try:
        text, check, x = RELATIONS[relation](r)
        while True:
            try:
                check(x)
                break
            except Mismatch:
                again += 1
                if again == TRIES or r.dtype != "float32" or x.dtype.kind != "f":
                    raise
                x = r.normal(*x.shape)
    except Exception as e:  # noqa: BLE001 - an error is a difference, too
        return relation, text, f"{type(e).__name__}: {e}", again
    finally:
        K.set_floatx("float32")
    return relation, text, None, again


def run(draws, seed, relation=None, only=None):
    start = time.time()
    counts = {name: 0 for name in RELATIONS}
    failures, again = [], 0
    for index in [only] if only is not None else range(draws):
        name, text, error, redrawn = draw(index, seed, relation)
        counts[name] += 1
        again += redrawn > 0 and not error
        if error:
            failures.append(f"--seed {seed} --only {index}: {name}: {text}: {error}")
    return {
        "test": "metamorphic",
        "seed": seed,
        "draws": sum(counts.values()),
        **counts,
        "another x agreed": again,
        "failures": len(failures),
        "first": failures[:20],
        "seconds": round(time.time() - start, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=None, help="left out: a fresh one")
    parser.add_argument("--relation", choices=list(RELATIONS))
    parser.add_argument("--only", type=int, help="the number of one draw")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    seed = (
        options.seed if options.seed is not None else int(np.random.SeedSequence().entropy % 2**31)
    )
    print(f"seed {seed}", flush=True)
    figures = run(options.draws, seed, options.relation, options.only)
    print(json.dumps(figures))
    return 1 if figures["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
