"""Softmax, losses, normalisation, bias."""

import numpy as np
from fuzz.ops.elementwise import softplus
from fuzz.ops.entry import Op, always, channels_first, dual, magnitude, real, same, widest
from fuzz.ops.reductions import (
    axes_of,
    logsumexp_value,
    mean_value,
    root,
    shift_of_variance,
    sum_value,
)

OPS = []
EPSILON = 1e-7


def axis_of(g, x):
    axis = g.below(x.rank)
    return axis - x.rank if g.chance(0.4) else axis


def draw_softmax(g):
    x = g.pick(lambda v: v.is_float and v.rank >= 1)
    if x is None:
        return None
    a = {"axis": -1 if g.chance(0.5) else axis_of(g, x)}
    return None if g.reduces_nothing(x, a["axis"]) else ([x], a)


def softmax_value(r, a, x):
    top = np.max(real(x), axis=a["axis"], keepdims=True, initial=-np.inf)
    e = r(np.exp(r(x - top, magnitude(x) + np.abs(top))))
    return e / sum_value(r, e, a["axis"], True)


OPS.append(
    Op(
        "softmax",
        draw_softmax,
        "K.softmax({0}, axis={axis})",
        softmax_value,
        same,
        covers=("softmax",),
        weight=2.5,
    )
)


def draw_l2(g):
    x = g.pick(lambda v: v.is_float and v.top < 100 and v.dtype != "float16")
    return x and ([x], {"axis": axes_of(g, x)})


def l2_value(r, a, x):
    axis = tuple(a["axis"]) if isinstance(a["axis"], list) else a["axis"]
    total = sum_value(r, x * x, axis, True)
    total = np.where(real(total) < 1e-12, 1e-12, total)
    return x / r(root(total))


OPS.append(
    Op(
        "l2_normalize",
        draw_l2,
        "K.l2_normalize({0}, axis={axis})",
        l2_value,
        same,
        covers=("l2_normalize",),
    )
)


# Losses


def is_probability(v):
    return v.is_float and v.rank >= 1 and v.low > 1e-3 and v.top < 0.999 and v.dtype != "float16"


def is_logit(v):
    return v.is_float and v.rank >= 1 and v.top < 30 and v.dtype != "float16"


def draw_output(g, ranks=(1, 2, 3, 4)):
    """Probabilities or logits, whichever is there."""
    logits = g.chance(0.5)
    wants = is_logit if logits else is_probability
    x = g.pick(lambda v: wants(v) and v.rank in ranks and 0 not in v.shape)
    return x, logits


def draw_categorical(g):
    x, logits = draw_output(g)
    if x is None:
        return None
    axis = -1 if g.chance(0.6) else axis_of(g, x)
    if g.reduces_nothing(x, axis):
        return None
    t = g.new(x.dims, x.dtype, positive=True)
    return [t, x], {"from_logits": logits, "axis": axis}


def categorical_value(r, a, t, x):
    axis = a["axis"]
    if a["from_logits"]:
        log_p = r(x - logsumexp_value(r, x, axis, True), magnitude(x))
    else:
        p = r(x / sum_value(r, x, axis, True))
        p = np.where(real(p) < EPSILON, EPSILON, np.where(real(p) > 1 - EPSILON, 1 - EPSILON, p))
        log_p = r(dual(p, np.log, lambda u: 1 / u), 1.0)
    return -sum_value(r, t * log_p, axis, False)


OPS.append(
    Op(
        "categorical_crossentropy",
        draw_categorical,
        "K.categorical_crossentropy({0}, {1}, from_logits={from_logits}, axis={axis})",
        categorical_value,
        widest,
        covers=("categorical_crossentropy",),
        weight=0.7,
    )
)


def draw_sparse_categorical(g):
    x, logits = draw_output(g)
    if x is None or x.rank < 2:
        return None
    axis = -1 if g.chance(0.6) else axis_of(g, x)
    if len(set(x.dims[axis])) > 1 or g.reduces_nothing(x, axis):
        return None
    rows = [n for i, n in enumerate(x.dims) if i != axis % x.rank]
    dtype = g.choice(["int32", "int64", x.dtype])
    t = g.new(rows, dtype, whole=(0, x.shape[axis]))
    return [t, x], {"from_logits": logits, "axis": axis}


def sparse_categorical_value(r, a, t, x):
    axis = a["axis"]
    if not a["from_logits"]:
        x = np.where(real(x) < EPSILON, EPSILON, np.where(real(x) > 1 - EPSILON, 1 - EPSILON, x))
        x = r(dual(x, np.log, lambda u: 1 / u), 1.0)
    log_p = r(x - logsumexp_value(r, x, axis, True), magnitude(x))
    rows = np.moveaxis(log_p, axis, -1)
    at = real(t).astype(int)
    is_class = (at >= 0) & (at < rows.shape[-1])
    picked = np.take_along_axis(rows, np.where(is_class, at, 0)[..., None], -1)[..., 0]
    return np.where(is_class, -picked, np.nan)


OPS.append(
    Op(
        "sparse_categorical_crossentropy",
        draw_sparse_categorical,
        "K.sparse_categorical_crossentropy({0}, {1}, from_logits={from_logits}, axis={axis})",
        sparse_categorical_value,
        lambda args, dtypes, floatx: dtypes[1],
        covers=("sparse_categorical_crossentropy",),
        weight=0.7,
    )
)


def draw_binary(g):
    x, logits = draw_output(g)
    if x is None:
        return None
    return [g.new(x.dims, x.dtype, positive=True), x], {"from_logits": logits}


def binary_value(r, a, t, x):
    if a["from_logits"]:
        s = r(dual(x, softplus, lambda u: 1 / (1 + np.exp(-u))))
        return r(s - x * t, magnitude(s) + magnitude(x * t))
    p = np.where(real(x) < EPSILON, EPSILON, np.where(real(x) > 1 - EPSILON, 1 - EPSILON, x))

    def log(u):
        return r(dual(u, np.log, lambda w: 1 / w), 1.0)

    left = t * log(r(p + EPSILON))
    right = (1 - t) * log(r(1 - p + EPSILON, 1.0))
    return r(-(left + right), magnitude(left) + magnitude(right))


OPS.append(
    Op(
        "binary_crossentropy",
        draw_binary,
        "K.binary_crossentropy({0}, {1}, from_logits={from_logits})",
        binary_value,
        widest,
        covers=("binary_crossentropy",),
        weight=0.7,
    )
)


# Normalisation


def along(t, x, axis):
    if t is None or t.ndim != 1:
        return t
    shape = [1] * x.ndim
    shape[axis] = -1
    return t.reshape(shape)


def draw_statistics(g, name):
    x = g.pick(lambda v: v.is_float and v.rank >= 2 and v.top < 100)
    if x is None:
        return None
    axis = -1 if name == "normalize_batch" or g.chance(0.5) else axis_of(g, x)
    if len(set(x.dims[axis])) > 1:
        return None
    n = x.shape[axis]
    inputs = [x, g.new([n], x.dtype), g.new([n], x.dtype, positive=True)]
    beta, gamma = g.chance(0.7), g.chance(0.7)
    inputs += [g.new([n], x.dtype)] if beta else []
    inputs += [g.new([n], x.dtype)] if gamma else []
    return inputs, {"beta": beta, "gamma": gamma, "axis": axis, "epsilon": g.choice([0.001, 0.125])}


def optional(a, names):
    rest = iter(names[3:])
    beta = next(rest) if a["beta"] else None
    gamma = next(rest) if a["gamma"] else None
    return beta, gamma


def statistics_value(r, a, *inputs):
    x, mean, var = inputs[:3]
    beta, gamma = optional(a, inputs)
    axis = a["axis"]
    mean = along(mean, x, axis)
    d = r(x - mean, magnitude(x) + magnitude(mean))
    scale = r(1 / root(along(var, x, axis) + a["epsilon"]), None)
    y = r(d * scale)
    y = y if gamma is None else r(y * along(gamma, x, axis))
    if beta is not None:
        beta = along(beta, x, axis)
        # The same as x * scale + shift, which rounds in another order.
        y = r(y + beta, magnitude(y) + magnitude(beta))
    factor = 1.0 if gamma is None else magnitude(along(gamma, x, axis))
    # Of statistics that are not finite it is x * scale + shift, as in TensorFlow, where infinities may meet.
    whole = scale if gamma is None else scale * along(gamma, x, axis)
    shift = (0.0 if beta is None else beta) - mean * whole
    y = np.where(np.isfinite(real(shift)) & np.isfinite(real(whole)), y, x * whole + shift)
    return r(y, (magnitude(x) + magnitude(mean)) * magnitude(scale) * factor + magnitude(y))


def statistics_code(name):
    def code(a, x):
        beta, gamma = optional(a, x)
        axis = f"axis={a['axis']}, " if name != "normalize_batch" else ""
        return f"K.{name}({x[0]}, {x[1]}, {x[2]}, {beta}, {gamma}, {axis}epsilon={a['epsilon']})"

    return code


for _name, _weight in (("batch_normalization", 1.0), ("normalize_batch", 0.1)):
    OPS.append(
        Op(
            _name,
            lambda g, name=_name: draw_statistics(g, name),
            statistics_code(_name),
            statistics_value,
            same,
            exact=True,
            covers=(_name,),
            weight=_weight,
        )
    )


def draw_training(g):
    x = g.pick(lambda v: v.is_float and v.rank >= 2 and v.top < 100 and 0 not in v.shape)
    if x is None or any(0 in n for n in x.dims):
        return None
    kept = g.below(x.rank) if g.chance(0.4) else x.rank - 1
    if len(set(x.dims[kept])) > 1:
        return None
    axes = [i for i in range(x.rank) if i != kept]
    n = x.shape[kept]
    gamma, beta = g.chance(0.7), g.chance(0.7)
    inputs = (
        [x] + ([g.new([n], x.dtype)] if gamma else []) + ([g.new([n], x.dtype)] if beta else [])
    )
    return inputs, {"gamma": gamma, "beta": beta, "axes": axes, "epsilon": g.choice([0.001, 0.125])}


def training_value(r, a, *inputs):
    x, rest = inputs[0], iter(inputs[1:])
    gamma = next(rest) if a["gamma"] else None
    beta = next(rest) if a["beta"] else None
    axes = tuple(a["axes"])
    if not x.size:
        raise ValueError("statistics of nothing")
    mean = mean_value(r, x, axes, True)
    d = r(x - mean, magnitude(x) + magnitude(mean))
    var = mean_value(r, r(d * d, magnitude(d) * (magnitude(d) + 0)), axes, True)
    var = var + shift_of_variance(r, x, mean, axes, True)
    scale = r(1 / root(var + a["epsilon"]))
    y = r(d * scale)
    factor = 1.0
    if gamma is not None:
        gamma = gamma.reshape(mean.shape)
        y, factor = r(y * gamma), magnitude(gamma)
    if beta is not None:
        beta = beta.reshape(mean.shape)
        y = r(y + beta, magnitude(y) + magnitude(beta))
    y = r(y, (magnitude(x) + magnitude(mean)) * magnitude(scale) * factor + magnitude(y))
    top = np.sqrt(np.max(magnitude(x) ** 2, axis=axes, keepdims=True, initial=0))
    # Sums of squares may be gathered around another point than the mean.
    var = r(var, magnitude(var) + top * np.sqrt(magnitude(var)))
    return y, np.squeeze(mean, axes), np.squeeze(var, axes)


def training_code(a, x):
    rest = iter(x[1:])
    gamma = next(rest) if a["gamma"] else None
    beta = next(rest) if a["beta"] else None
    return f"K.normalize_batch_in_training({x[0]}, {gamma}, {beta}, {a['axes']}, epsilon={a['epsilon']})"


OPS.append(
    Op(
        "normalize_batch_in_training",
        draw_training,
        training_code,
        training_value,
        lambda args, dtypes, floatx: [dtypes[0]] * 3,
        exact=True,
        covers=("normalize_batch_in_training",),
    )
)


def draw_bias(g):
    x = g.pick(lambda v: v.is_float and v.rank >= 2)
    if x is None:
        return None
    a = {"data_format": g.data_format()}
    first = channels_first(a) and 3 <= x.rank <= 5
    channels = x.dims[1 if first else -1]
    if len(set(channels)) > 1:
        return None
    dims = [channels]
    if g.chance(0.3) and not any(len(set(n)) > 1 for n in x.dims[1:]):
        dims = [*(x.dims[2:] if first else x.dims[1:-1]), channels]
    return [x, g.new(dims, x.dtype)], a


def bias_value(r, a, x, bias):
    if channels_first(a) and 3 <= x.ndim <= 5:
        if bias.ndim > 1:
            bias = bias.reshape(bias.shape[-1], *bias.shape[:-1])
        else:
            bias = bias.reshape(-1, *(1,) * (x.ndim - 2))
    return x + bias


OPS.append(
    Op(
        "bias_add",
        draw_bias,
        "K.bias_add({0}, {1}, data_format={data_format})",
        bias_value,
        widest,
        covers=("bias_add",),
        weight=1.5,
    )
)


def draw_in_top_k(g):
    x = g.pick(lambda v: v.is_float and v.rank == 2 and v.finite and min(v.dims[1]) > 0)
    if x is None:
        return None
    targets = g.new([x.dims[0]], g.choice(["int32", "int64"]), whole=(0, min(x.dims[1])))
    return [x, targets], {"k": g.between(1, 3)}


def in_top_k_value(r, a, x, targets):
    x = r(real(x))
    own = np.take_along_axis(x, targets[:, None].astype(int), 1)
    return ((x > own).sum(1) < a["k"]) & np.isfinite(x).all(1)  # as in TensorFlow


OPS.append(
    Op(
        "in_top_k",
        draw_in_top_k,
        "K.in_top_k({0}, {1}, {k})",
        in_top_k_value,
        always("bool"),
        covers=("in_top_k",),
        weight=0.3,
    )
)
