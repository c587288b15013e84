"""Convolution and pooling, for any number of spatial axes."""

import numpy as np
from fuzz.ops.entry import Op, channels_first, magnitude, real, same, widest
from numpy.lib.stride_tricks import sliding_window_view

OPS = []


def to_last(x, first):
    return np.moveaxis(x, 1, -1) if first else x


def from_last(x, first):
    return np.moveaxis(x, -1, 1) if first else x


def window_padding(n, span, stride, padding):
    """(before, after, windows) along an axis of n elements."""
    if padding == "valid":
        if n < span:
            raise ValueError("no window fits")
        return 0, 0, (n - span) // stride + 1
    if padding == "causal":
        return span - 1, 0, (n - 1) // stride + 1
    windows = -(-n // stride)
    total = max((windows - 1) * stride + span - n, 0)
    return total // 2, total - total // 2, windows


def windows_of(x, size, strides, padding, dilation, fill=0.0):
    """(samples, output.., channels, window..) of channels_last data."""
    rank = x.ndim - 2
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    plans = [window_padding(n, s, t, padding) for n, s, t in zip(x.shape[1:-1], spans, strides)]
    x = np.pad(x, [(0, 0), *(p[:2] for p in plans), (0, 0)], constant_values=fill)
    view = sliding_window_view(x, spans, tuple(range(1, rank + 1)))
    starts = tuple(slice(None, p[2] * t, t) for p, t in zip(plans, strides))
    taps = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), *starts, slice(None), *taps)]


def conv(x, kernel, strides, padding, dilation):
    """channels_last; the kernel is (window.., in, out)."""
    rank = kernel.ndim - 2
    view = windows_of(x, kernel.shape[:rank], strides, padding, dilation)
    taps = np.moveaxis(kernel, rank, 0)  # (in, window.., out)
    over = tuple(range(rank + 1, 2 * rank + 2))
    return np.tensordot(view, taps, (over, tuple(range(rank + 1))))


def geometry(g, x, rank, causal=False):
    """Sizes of window, strides, dilation, padding that fit all calls."""
    a = {"data_format": g.data_format()}
    first = channels_first(a)
    spatial = x.dims[2:] if first else x.dims[1:-1]
    channels = x.dims[1] if first else x.dims[-1]
    if len(set(channels)) > 1 or channels[0] == 0 or any(min(n) < 1 for n in spatial):
        return None
    a["padding"] = g.choice(["valid", "same", "same"])
    if causal and not first and g.chance(0.2):
        a["padding"] = "causal"
    size = [g.choice([1, 2, 3, 3, 3, 5]) for _ in range(rank)]
    if g.chance(0.15):  # longer than the image, too
        size[g.below(rank)] = g.choice([7, 8, 9])
    if a["padding"] == "valid":
        size = [min(k, min(n)) for k, n in zip(size, spatial)]
    a["strides"] = [g.choice([1, 1, 1, 2, 3]) for _ in range(rank)]
    a["dilation"] = [1] * rank
    if g.chance(0.15) and set(a["strides"]) == {1}:
        a["dilation"] = [g.choice([1, 2]) for _ in range(rank)]
        if a["padding"] == "valid":
            for k, n, d in zip(size, spatial, a["dilation"]):
                if (k - 1) * d + 1 > min(n):
                    return None
    a["size"] = size
    return a, channels[0], spatial


def pick_image(g, rank):
    def fits(v):
        return v.is_float and v.rank == rank + 2 and v.top < 100 and v.size

    if rank == 2 and g.chance(0.3) and g.limit >= 20_000:
        side, channels = g.choice([6, 8, 11, 14]), g.choice([16, 32])
        return g.new([g.choice([1, 2]), side, side, channels], g.floatx)
    return g.pick(fits)


def numbers(values):
    return values[0] if len(values) == 1 else tuple(values)


def draw_conv(rank):
    def draw(g):
        x = pick_image(g, rank)
        made = x and geometry(g, x, rank, causal=rank == 1)
        if not made:
            return None
        a, channels, _ = made
        if g.odd and channels >= 16:
            return None  # a NaN may spread there
        filters = g.width() if not (channels % 16 == 0 and g.chance(0.8)) else 16
        kernel = g.new([*a["size"], channels, filters], x.dtype, weight=True)
        return [x, kernel], a

    return draw


def rounded_like_winograd(size, args, kernel):
    """Sums of transformed 3x3 windows lose more, relative to the largest value around."""
    if kernel.shape[:-2] == (3, 3) and kernel.shape[-2] >= 4 and size.size:
        top = size.max(axis=tuple(range(1, size.ndim)), keepdims=True)
        return 2 * size + 4 * top
    return size


def conv_value(r, a, x, kernel):
    first = channels_first(a)
    x = to_last(x, first)
    y = conv(x, kernel, a["strides"], a["padding"], a["dilation"])
    size = conv(magnitude(x), magnitude(kernel), a["strides"], a["padding"], a["dilation"])
    size = size * r.partial_sums(kernel[..., 0].size)
    return from_last(r(y, rounded_like_winograd(size, a, kernel)), first)


def format_code(a):
    value = a["data_format"]
    return "None" if value.startswith("default:") else repr(value)


def conv_options(a):
    return (
        f"strides={numbers(a['strides'])}, padding={a['padding']!r}, "
        f"data_format={format_code(a)}, dilation_rate={numbers(a['dilation'])}"
    )


for _rank, _weight in ((1, 1.0), (2, 3.0), (3, 1.2)):
    OPS.append(
        Op(
            f"conv{_rank}d",
            draw_conv(_rank),
            lambda a, x, rank=_rank: f"K.conv{rank}d({x[0]}, {x[1]}, {conv_options(a)})",
            conv_value,
            widest,
            exact=True,
            covers=(f"conv{_rank}d",),
            weight=_weight,
        )
    )


# Channel by channel


def depthwise(x, kernel, strides, padding, dilation):
    rank = kernel.ndim - 2
    view = windows_of(x, kernel.shape[:rank], strides, padding, dilation)
    letters = "abc"[:rank]
    made = np.einsum(f"n...i{letters},{letters}im->n...im", view, kernel)
    return made.reshape(*made.shape[:-2], made.shape[-2] * made.shape[-1])


def draw_depthwise(rank, separable):
    def draw(g):
        x = pick_image(g, rank)
        made = x and geometry(g, x, rank)
        if not made:
            return None
        a, channels, _ = made
        multiplier = g.choice([1, 1, 2])
        inputs = [x, g.new([*a["size"], channels, multiplier], x.dtype, weight=True)]
        if separable:
            inputs.append(
                g.new([1] * rank + [channels * multiplier, g.width()], x.dtype, weight=True)
            )
        return inputs, a

    return draw


def depthwise_value(r, a, x, kernel, mixing=None):
    first = channels_first(a)
    x = to_last(x, first)
    options = (a["strides"], a["padding"], a["dilation"])
    y = r(depthwise(x, kernel, *options), depthwise(magnitude(x), magnitude(kernel), *options))
    if mixing is not None:
        mixing = mixing.reshape(mixing.shape[-2:])
        y = r(y @ mixing, magnitude(y) @ magnitude(mixing))
    return from_last(y, first)


OPS.append(
    Op(
        "depthwise_conv2d",
        draw_depthwise(2, False),
        lambda a, x: f"K.depthwise_conv2d({x[0]}, {x[1]}, {conv_options(a)})",
        depthwise_value,
        widest,
        exact=True,
        covers=("depthwise_conv2d",),
    )
)
for _rank in (1, 2):
    OPS.append(
        Op(
            f"separable_conv{_rank}d",
            draw_depthwise(_rank, True),
            lambda a, x, rank=_rank: (
                f"K.separable_conv{rank}d({x[0]}, {x[1]}, {x[2]}, {conv_options(a)})"
            ),
            depthwise_value,
            widest,
            exact=True,
            covers=(f"separable_conv{_rank}d",),
            weight=0.7,
        )
    )


# Transposed


def transposed(x, kernel, shape, strides, padding, dilation):
    """x (samples, spatial.., in), kernel (window.., out, in); shape is that of the result."""
    rank = kernel.ndim - 2
    size = kernel.shape[:rank]
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    plans = [window_padding(n, s, t, padding) for n, s, t in zip(shape, spans, strides)]
    if [p[2] for p in plans] != list(x.shape[1:-1]):
        raise ValueError("the result has other windows")
    whole = np.zeros(
        (x.shape[0], *(n + p[0] + p[1] for n, p in zip(shape, plans)), kernel.shape[-2]),
        np.result_type(x, kernel),
    )
    for at in np.ndindex(*size):
        cut = tuple(
            slice(i * d, i * d + (n - 1) * t + 1, t)
            for i, d, n, t in zip(at, dilation, x.shape[1:-1], strides)
        )
        whole[(slice(None), *cut)] += x @ kernel[at].T
    inner = tuple(slice(p[0], p[0] + n) for n, p in zip(shape, plans))
    return whole[(slice(None), *inner)]


def draw_transposed(rank, old=False):
    def draw(g):
        x = pick_image(g, rank)
        made = x and geometry(g, x, rank)
        if not made:
            return None
        a, channels, spatial = made
        a["dilation"] = [1] * rank
        if old:
            a["data_format"] = "channels_first"
            channels, spatial = x.shape[1], x.dims[2:]
            if len(set(x.dims[1])) > 1:
                return None
        if any(len(set(n)) > 1 for n in spatial) or len(set(x.dims[0])) > 1 or 0 in x.shape:
            return None
        result = []
        for n, k, t in zip(spatial, a["size"], a["strides"]):
            if a["padding"] == "valid":
                result.append((n[0] - 1) * t + k + g.below(t))
            else:
                result.append(max(n[0] * t - g.below(t), 1))
        a["result"] = result
        a["batch"] = x.shape[0]
        filters = g.width()
        a["filters"] = filters
        dims = [*a["size"], filters, channels]
        if old:
            dims = [filters, channels, *a["size"]]
        return [x, g.new(dims, x.dtype, weight=True)], a

    return draw


def whole_shape(a):
    if channels_first(a):
        return (a["batch"], a["filters"], *a["result"])
    return (a["batch"], *a["result"], a["filters"])


def transposed_code(name):
    return lambda a, x: (
        f"K.{name}({x[0]}, {x[1]}, {whole_shape(a)}, strides={numbers(a['strides'])}, "
        f"padding={a['padding']!r}, data_format={format_code(a)})"
    )


def transposed_value(r, a, x, kernel):
    first = channels_first(a)
    x = to_last(x, first)
    options = (a["result"], a["strides"], a["padding"], a["dilation"])
    size = transposed(magnitude(x), magnitude(kernel), *options)
    y = transposed(x, kernel, *options)
    return from_last(r(y, rounded_like_winograd(size, a, kernel)), first)


def deconv_value(r, a, x, kernel):
    return transposed_value(r, a, x, np.transpose(kernel, (2, 3, 0, 1)))


for _rank, _weight in ((2, 1.2), (3, 2.0)):
    OPS.append(
        Op(
            f"conv{_rank}d_transpose",
            draw_transposed(_rank),
            transposed_code(f"conv{_rank}d_transpose"),
            transposed_value,
            widest,
            exact=True,
            covers=(f"conv{_rank}d_transpose",),
            weight=_weight,
        )
    )
OPS.append(
    Op(
        "deconv2d",
        draw_transposed(2, old=True),
        lambda a, x: (
            f"K.deconv2d({x[0]}, {x[1]}, {whole_shape(a)}, strides={numbers(a['strides'])}, "
            f"border_mode={a['padding']!r}, dim_ordering='th')"
        ),
        deconv_value,
        widest,
        exact=True,
        covers=("deconv2d",),
        weight=0.6,
    )
)


# Pools


def draw_pool(rank):
    def draw(g):
        x = g.pick(lambda v: v.is_float and v.rank == rank + 2 and v.size and v.finite)
        made = x and geometry(g, x, rank)
        if not made:
            return None
        a = made[0]
        del a["dilation"]
        a["pool_mode"] = g.choice(["max", "avg"])
        return [x], a

    return draw


def pool_value(r, a, x):
    first, rank = channels_first(a), x.ndim - 2
    x = to_last(x, first)
    ones = [1] * rank
    over = tuple(range(-rank, 0))
    if a["pool_mode"] == "avg":
        there = np.ones((1, *x.shape[1:-1], 1))
        counts = windows_of(there, a["size"], a["strides"], a["padding"], ones).sum(over)
        view = windows_of(x, a["size"], a["strides"], a["padding"], ones)
        y = r(view.sum(over), np.abs(real(view)).sum(over)) / counts
        return from_last(r(y), first)
    view = windows_of(real(x), a["size"], a["strides"], a["padding"], ones, -np.inf)
    y = view.max(over)
    if x.dtype.kind == "c":
        slopes = windows_of(x.imag, a["size"], a["strides"], a["padding"], ones)
        hit = view == y[(...,) + (None,) * rank]
        # Of equal elements any may count: where they do not move together there is no derivative.
        top = np.where(hit, slopes, -np.inf).max(over)
        low = np.where(hit, slopes, np.inf).min(over)
        y = y.astype(complex)
        y.imag = np.where(top == low, top, np.nan)
    return from_last(y, first)


for _rank, _weight in ((2, 1.5), (3, 1.0)):
    OPS.append(
        Op(
            f"pool{_rank}d",
            draw_pool(_rank),
            lambda a, x, rank=_rank: (
                f"K.pool{rank}d({x[0]}, {tuple(a['size'])}, strides={tuple(a['strides'])}, "
                f"padding={a['padding']!r}, data_format={format_code(a)}, "
                f"pool_mode={a['pool_mode']!r})"
            ),
            pool_value,
            same,
            exact=True,
            covers=(f"pool{_rank}d",),
            weight=_weight,
        )
    )


# Another kernel at each position


def draw_local(rank):
    def draw(g):
        x = g.pick(lambda v: v.is_float and v.rank == rank + 2 and v.size and v.top < 100)
        made = x and geometry(g, x, rank)
        if not made:
            return None
        a = made[0]
        if rank == 1:
            a["data_format"] = "channels_last"
        first = channels_first(a)
        spatial = x.dims[2:] if first else x.dims[1:-1]
        channels = x.dims[1] if first else x.dims[-1]
        if any(len(set(n)) > 1 for n in [*spatial, channels]) or channels[0] == 0:
            return None
        size = [min(k, n[0]) for k, n in zip(a["size"], spatial)]
        result = [(n[0] - k) // t + 1 for n, k, t in zip(spatial, size, a["strides"])]
        if np.prod(result) > 60:
            return None
        a = {
            "data_format": a["data_format"],
            "size": size,
            "strides": a["strides"],
            "result": result,
        }
        dims = [int(np.prod(result)), int(np.prod(size)) * channels[0], g.width()]
        return [x, g.new(dims, x.dtype, weight=True)], a

    return draw


def local(x, kernel, a, first):
    rank = x.ndim - 2
    x = x if first else np.moveaxis(x, -1, 1)
    made = np.zeros((x.shape[0], kernel.shape[-1], *a["result"]), np.result_type(x, kernel))
    for number, at in enumerate(np.ndindex(*a["result"])):
        cut = tuple(slice(p * t, p * t + k) for p, t, k in zip(at, a["strides"], a["size"]))
        window = x[(slice(None), slice(None), *cut)]
        window = window if first else np.moveaxis(window, 1, -1)
        made[(slice(None), slice(None), *at)] = window.reshape(len(x), -1) @ kernel[number]
    assert rank == len(a["result"])
    return made if first else np.moveaxis(made, 1, -1)


def local_value(r, a, x, kernel):
    first = channels_first(a)
    return r(local(x, kernel, a, first), local(magnitude(x), magnitude(kernel), a, first))


OPS.append(
    Op(
        "local_conv1d",
        draw_local(1),
        lambda a, x: f"K.local_conv1d({x[0]}, {x[1]}, {tuple(a['size'])}, {tuple(a['strides'])})",
        local_value,
        widest,
        exact=True,
        covers=("local_conv1d",),
        weight=0.4,
    )
)
OPS.append(
    Op(
        "local_conv2d",
        draw_local(2),
        lambda a, x: (
            f"K.local_conv2d({x[0]}, {x[1]}, {tuple(a['size'])}, {tuple(a['strides'])}, "
            f"{tuple(a['result'])}, data_format={format_code(a)})"
        ),
        local_value,
        widest,
        exact=True,
        covers=("local_conv2d",),
        weight=0.4,
    )
)
