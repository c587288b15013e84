"""Convolutions and pooling."""

import numpy as np
from draws import Draw, draws


def put(sizes, channels, form, batch):
    """The shape of an input."""
    if form == "channels_first":
        return (batch, channels, *sizes)
    return (batch, *sizes, channels)


def windows(r, n, forms=("channels_last", "channels_first", None), dilated=True):
    """Options of a convolution over n axes, and sizes that its windows fit into."""
    kernel = [r.int(1, 3) for _ in range(n)]
    strides, dilation = [1] * n, [1] * n
    kind = r.int(0, 2)
    if kind == 1:
        strides = [r.int(1, 3) for _ in range(n)]
    if n == 3:
        # theirs is wrong beyond; see wide_strides
        strides = [min(s, k) for s, k in zip(strides, kernel, strict=True)]
    if kind == 2 and dilated:
        dilation = [r.int(1, 3) for _ in range(n)]
    sizes = [(k - 1) * d + r.int(1, 5) for k, d in zip(kernel, dilation, strict=True)]
    options = {"padding": r.choice("valid", "same"), "data_format": r.choice(*forms)}
    options["strides"] = strides[0] if n == 1 else tuple(strides)
    if dilated:
        options["dilation_rate"] = dilation[0] if n == 1 else tuple(dilation)
    return kernel, sizes, options


@draws("conv1d", "conv2d", "conv3d", count=24)
def conv(r):
    n = int(r.name[4])
    kernel, sizes, options = windows(r, n)
    if n == 1 and options["data_format"] != "channels_first" and r.int(0, 2) == 0:
        options["padding"] = "causal"
    c, f = r.int(1, 4), r.int(1, 4)
    x = r.normal(*put(sizes, c, options["data_format"], r.int(1, 3)))
    k = r.normal(*kernel, c, f)
    call = lambda K, x, k: getattr(K, r.name)(x, k, **options)
    return Draw([x, k], call, f"{x.shape} {k.shape} {options}", open="first", tol=2)


@draws("conv1d", count=2)
def conv1d_causal_first(r):
    x, k = r.normal(2, 3, 3), r.normal(2, 3, 2)
    call = lambda K, x, k: K.conv1d(x, k, padding="causal", data_format="channels_first")
    return Draw([x, k], call, "causal, channels_first")


@draws("conv2d", count=4)
def conv2d_large(r):
    x, k = r.normal(4, 19, 23, 16), r.normal(3, 3, 16, 24)
    call = lambda K, x, k: K.conv2d(x, k, padding="same")
    return Draw([x, k], call, "large", tol=10, open="first")


@draws("conv3d", "conv3d_transpose", count=2)
def wide_strides(r):
    """Steps wider than the kernel, "same" padding."""
    k, options = r.normal(1, 1, 1, 2, 2), {"strides": (3, 3, 1), "padding": "same"}
    if r.name == "conv3d":
        x = r.normal(1, 3, 12, 4, 2)
        call = lambda K, x, k: K.conv3d(x, k, **options)
    else:
        x = r.normal(1, 1, 4, 4, 2)
        call = lambda K, x, k: K.conv3d_transpose(x, k, (1, 1, 12, 4, 2), **options)
    return Draw([x, k], call, "strides beyond the kernel", open="first")


@draws("depthwise_conv2d", count=20)
def depthwise(r):
    kernel, sizes, options = windows(r, 2)
    # theirs cannot stride by different steps
    options["strides"] = (options["strides"][0],) * 2
    c, m = r.int(1, 4), r.int(1, 3)
    x = r.normal(*put(sizes, c, options["data_format"], r.int(1, 3)))
    k = r.normal(*kernel, c, m)
    call = lambda K, x, k: K.depthwise_conv2d(x, k, **options)
    return Draw([x, k], call, f"{x.shape} {k.shape} {options}", open="first", tol=2)


@draws("separable_conv1d", "separable_conv2d", count=20)
def separable(r):
    n = int(r.name[-2])
    kernel, sizes, options = windows(r, n)
    if n == 2:
        options["strides"] = (options["strides"][0],) * 2
    c, m, f = r.int(1, 4), r.int(1, 3), r.int(1, 4)
    x = r.normal(*put(sizes, c, options["data_format"], r.int(1, 3)))
    d, p = r.normal(*kernel, c, m), r.normal(*([1] * n), c * m, f)
    call = lambda K, x, d, p: getattr(K, r.name)(x, d, p, **options)
    their_call = as_2d(options) if n == 1 else None
    return Draw(
        [x, d, p],
        call,
        f"{x.shape} {d.shape} {p.shape} {options}",
        open="first",
        tol=2,
        their_call=their_call,
    )


def as_2d(options):
    """Theirs names a data format that its operation does not know; the 2-D one works."""
    wide = options | {n: (options[n],) * 2 for n in ("strides", "dilation_rate")}
    axis = 2 if options["data_format"] == "channels_first" else 1

    def call(K, x, d, p):
        x, d, p = K.expand_dims(x, axis), K.expand_dims(d, 0), K.expand_dims(p, 0)
        return K.squeeze(K.separable_conv2d(x, d, p, **wide), axis)

    return call


def transposed_sizes(r, sizes, kernel, strides, dilation, padding):
    """Output sizes of which a convolution would give `sizes`."""
    made = []
    for n, k, s, d in zip(sizes, kernel, strides, dilation, strict=True):
        extent = (k - 1) * d + 1
        slack = r.int(0, s - 1)
        if padding == "valid":
            made.append((n - 1) * s + extent + slack)
        else:
            made.append(n * s - slack)
    return made


@draws("conv2d_transpose", "conv3d_transpose", count=24)
def conv_transpose(r):
    n = int(r.name[4])
    kernel, _, options = windows(r, n, dilated=n == 2)
    if n == 2:
        options["dilation_rate"] = (options["dilation_rate"][0],) * 2
    sizes = [r.int(1, 4) for _ in range(n)]
    dilation = options.get("dilation_rate", (1,) * n)
    out = transposed_sizes(r, sizes, kernel, options["strides"], dilation, options["padding"])
    c, f, b = r.int(1, 4), r.int(1, 4), r.int(1, 3)
    form = options["data_format"]
    x, k = r.normal(*put(sizes, c, form, b)), r.normal(*kernel, f, c)
    shape = put(out, f, form, b)
    call = lambda K, x, k: getattr(K, r.name)(x, k, shape, **options)
    return Draw([x, k], call, f"{x.shape} {k.shape} to {shape} {options}", open="first", tol=2)


@draws("conv2d_transpose", "conv3d_transpose", count=4)
def conv_transpose_by_tensor(r):
    n = int(r.name[4])
    x, k = r.normal(2, *([3] * n), 2), r.normal(*([3] * n), 4, 2)

    def call(K, x, k):
        batch = K.shape(x)[0]
        shape = K.stack([batch] + [6] * n + [4]) if n == 2 else (batch, *[6] * n, 4)
        return getattr(K, r.name)(x, k, shape, strides=(2,) * n, padding="same")

    return Draw([x, k], call, "output_shape has a tensor", static=False, open="first", tol=2)


@draws("pool2d", "pool3d", count=24)
def pool(r):
    n = int(r.name[4])
    size = tuple(r.int(1, 3) for _ in range(n))
    # volumes: theirs is wrong where steps are wider than windows
    strides = tuple(r.int(1, min(3, k) if n == 3 else 3) for k in size)
    options = {
        "strides": strides,
        "padding": r.choice("valid", "same"),
        "data_format": r.choice("channels_last", "channels_first", None),
        "pool_mode": r.choice("max", "avg"),
    }
    sizes = [k + r.int(0, 4) for k in size]
    x = r.apart(*put(sizes, r.int(1, 3), options["data_format"], r.int(1, 3)))
    call = lambda K, x: getattr(K, r.name)(x, size, **options)
    return Draw([x], call, f"{x.shape} {size} {options}", their_dtype=narrow(n))


@draws("pool3d", count=4)
def pool_apart(r):
    x, mode = r.apart(1, 3, 9, 4, 2), r.choice("max", "avg")
    call = lambda K, x: K.pool3d(x, (1, 1, 2), (3, 3, 2), "same", pool_mode=mode)
    return Draw([x], call, f"strides beyond the windows {mode}", their_dtype=narrow(3))


@draws("pool2d", "pool3d", count=4)
def pool_tied(r):
    n = int(r.name[4])
    x = r.ints(0, 2, 2, *[4] * n, 2, dtype=r.dtype)
    call = lambda K, x: getattr(K, r.name)(x, (2,) * n, (2,) * n)
    return Draw([x], call, "ties", their_dtype=narrow(n))


def narrow(n):
    """Theirs pools volumes in float32 at most."""
    return "float32" if n == 3 else None


@draws("local_conv1d", "local_conv2d", count=14)
def local(r):
    n = int(r.name[-2])
    kernel = tuple(r.int(1, 3) for _ in range(n))
    strides = tuple(r.int(1, 2) for _ in range(n))
    form = r.choice("channels_last", "channels_first", None)
    sizes = [k + r.int(0, 4) for k in kernel]
    out = tuple((m - k) // s + 1 for m, k, s in zip(sizes, kernel, strides, strict=True))
    c, f = r.int(1, 3), r.int(1, 3)
    x = r.normal(*put(sizes, c, form, r.int(1, 3)))
    k = r.normal(int(np.prod(out)), int(np.prod(kernel)) * c, f)
    if n == 1:
        call = lambda K, x, k: K.local_conv1d(x, k, kernel, strides, form)
    else:
        call = lambda K, x, k: K.local_conv2d(x, k, kernel, strides, out, form)
    return Draw([x, k], call, f"{x.shape} {kernel} {strides} {form}", open="first")
