"""Shapes, joining, padding, resizing, indexing."""

from draws import Draw, draws


@draws("concatenate")
def concatenate(r):
    shape = r.shape(1, 4)
    axis = r.axis(len(shape))
    parts = []
    for _ in range(r.int(1, 4)):
        other = list(shape)
        other[axis] = r.int(0, 4)
        parts.append(r.normal(*other))
    return Draw(parts, lambda K, *xs: K.concatenate(list(xs), axis=axis), f"{shape} axis={axis}")


@draws("stack")
def stack(r):
    shape = r.shape(0, 3)
    axis = r.axis(len(shape) + 1)
    parts = [r.normal(*shape) for _ in range(r.int(1, 4))]
    return Draw(parts, lambda K, *xs: K.stack(list(xs), axis=axis), f"{shape} axis={axis}")


@draws("reshape")
def reshape(r):
    a, b, c = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    to = r.choice((a * b, c), (-1, c), (a, -1), (c, b, a), (-1,), (b, 1, -1, c))
    return Draw([r.normal(a, b, c)], lambda K, x: K.reshape(x, to), f"{(a, b, c)} to {to}")


@draws("reshape", count=4)
def reshape_to_tensor(r):
    x, like = r.normal(4, 6), r.normal(2, 3, 4)
    return Draw(
        [x, like], lambda K, x, y: K.reshape(x, K.shape(y)), "shape is a tensor", static=False
    )


@draws("permute_dimensions")
def permute(r):
    shape = r.shape(1, 5)
    pattern = tuple(int(i) for i in r.rng.permutation(len(shape)))
    return Draw([r.normal(*shape)], lambda K, x: K.permute_dimensions(x, pattern), f"{pattern}")


@draws("transpose")
def transpose(r):
    return Draw([r.normal(*r.shape(0, 4))], lambda K, x: K.transpose(x))


@draws("flatten", "batch_flatten")
def flatten(r):
    shape = r.shape(2, 4)
    return Draw([r.normal(*shape)], lambda K, x: getattr(K, r.name)(x), f"{shape}")


@draws("expand_dims")
def expand_dims(r):
    shape = r.shape(0, 3)
    axis = r.axis(len(shape) + 1)
    return Draw([r.normal(*shape)], lambda K, x: K.expand_dims(x, axis), f"{shape} axis={axis}")


@draws("squeeze")
def squeeze(r):
    shape = list(r.shape(1, 4))
    axis = r.axis(len(shape))
    shape[axis] = 1
    return Draw([r.normal(*shape)], lambda K, x: K.squeeze(x, axis), f"axis={axis}", open=False)


@draws("repeat_elements")
def repeat_elements(r):
    shape = r.shape(1, 4)
    axis, rep = r.axis(len(shape)), r.int(1, 4)
    label = f"{shape} rep={rep} axis={axis}"
    # theirs takes the last part of a split for a negative axis; 2.3.1 does not know those
    return Draw([r.normal(*shape)], lambda K, x: K.repeat_elements(x, rep, axis), label)


@draws("repeat")
def repeat(r):
    n = r.int(1, 5)
    return Draw([r.normal(*r.shape(2, 2))], lambda K, x: K.repeat(x, n), f"n={n}")


@draws("tile")
def tile(r):
    shape = r.shape(1, 3)
    n = [r.int(1, 3) for _ in shape]
    n = n[0] if len(shape) == 1 and r.flag() else n
    return Draw([r.normal(*shape)], lambda K, x: K.tile(x, n), f"{shape} n={n}")


@draws("reverse")
def reverse(r):
    shape = r.shape(1, 4)
    axes = r.axes(len(shape))
    axes = 0 if axes is None else axes
    return Draw([r.normal(*shape)], lambda K, x: K.reverse(x, axes), f"{shape} axes={axes}")


@draws("one_hot")
def one_hot(r):
    classes = r.int(1, 6)
    x = r.ints(-1, classes + 1, *r.shape(0, 3), dtype=r.choice("int32", "int64", "uint8"))
    return Draw([x], lambda K, x: K.one_hot(x, classes), f"{x.dtype} {classes} classes", grad=False)


@draws("gather")
def gather(r):
    shape = r.shape(1, 3)
    i = r.ints(0, shape[0], *r.shape(0, 3), dtype=r.choice("int32", "int64"))
    return Draw([r.normal(*shape), i], lambda K, x, i: K.gather(x, i), f"{shape} at {i.shape}")


@draws("temporal_padding")
def temporal_padding(r):
    padding = (r.int(0, 3), r.int(0, 3))
    return Draw(
        [r.normal(*r.shape(3, 3))], lambda K, x: K.temporal_padding(x, padding), f"{padding}"
    )


@draws("spatial_2d_padding", "spatial_3d_padding")
def spatial_padding(r):
    n = 2 if r.name == "spatial_2d_padding" else 3
    padding = tuple((r.int(0, 3), r.int(0, 3)) for _ in range(n))
    form = r.choice("channels_last", "channels_first", None)
    x = r.normal(*r.shape(n + 2, n + 2, high=3))
    return Draw([x], lambda K, x: getattr(K, r.name)(x, padding, form), f"{padding} {form}")


@draws("resize_images", count=16)
def resize_images(r):
    form = r.choice("channels_last", "channels_first")
    h, w = r.int(1, 4), r.int(1, 4)
    how = r.choice("nearest", "bilinear")
    x = r.normal(*r.shape(4, 4))

    def theirs(K, x):
        # what 2.3.1 called: corners, not centres, of pixels meet
        if form == "channels_first":
            x = K.permute_dimensions(x, (0, 2, 3, 1))
        y = K.tf.compat.v1.image.resize_bilinear(x, (x.shape[1] * h, x.shape[2] * w))
        return K.permute_dimensions(y, (0, 3, 1, 2)) if form == "channels_first" else y

    return Draw(
        [x],
        lambda K, x: K.resize_images(x, h, w, form, interpolation=how),
        f"{x.shape} {h} {w} {form} {how}",
        tol=10,
        their_call=theirs if how == "bilinear" else None,
        their_dtype="float32" if how == "bilinear" else None,
    )


@draws("resize_images", count=4)
def resize_images_by_centres(r):
    x = r.normal(2, 3, 4, 2)
    call = lambda K, x: K.resize_images(x, 2, 3, "channels_last", interpolation="bilinear")
    return Draw([x], call, "bilinear, as later versions do it", tol=10, their_dtype="float32")


@draws("resize_volumes")
def resize_volumes(r):
    form = r.choice("channels_last", "channels_first")
    d, h, w = r.int(1, 3), r.int(1, 3), r.int(1, 3)
    x = r.normal(*r.shape(5, 5, high=3))
    return Draw([x], lambda K, x: K.resize_volumes(x, d, h, w, form), f"{d} {h} {w} {form}")


@draws("arange")
def arange(r):
    start, step = r.int(-5, 5), r.choice(1, 2, 3, -1, -2)
    stop = start + (1 if step > 0 else -1) * r.int(0, 9)
    dtype = r.choice("int32", "int64", "float32", "float64")
    label = f"{start} {stop} {step} {dtype}"
    return Draw([], lambda K: K.arange(start, stop, step, dtype), label, grad=False)


@draws("arange", count=4)
def arange_one(r):
    n = r.choice(0, 1, 7, -3)
    return Draw([], lambda K: K.arange(n), f"stop alone: {n}", grad=False)


@draws("arange", count=4)
def arange_parts(r):
    start, stop, step = r.choice((0.0, 2.0, 0.3), (-1.5, 1.0, 0.25), (3.0, -1.0, -0.7))
    label = f"{start} {stop} {step}"
    return Draw([], lambda K: K.arange(start, stop, step, "float32"), label, grad=False)


@draws("zeros_like", "ones_like")
def like(r):
    dtype = r.choice(None, "int32", "float64", "bool")
    x = r.normal(*r.shape(0, 3))
    return Draw([x], lambda K, x: getattr(K, r.name)(x, dtype=dtype), f"{dtype}", grad=False)


@draws("shape", "ndim", "int_shape", "count_params", "dtype")
def asked(r):
    x = r.normal(*r.shape(0, 4))

    def call(K, x):
        made = getattr(K, r.name)(x)
        return str(made) if r.name in ("dtype", "int_shape") else made

    return Draw([x], call, f"{x.shape}", grad=False, open=r.name in ("shape", "ndim"))


@draws("count_params", count=2)
def count_of_scalar(r):
    return Draw([r.normal()], lambda K, x: K.count_params(x), "()", grad=False)


@draws("to_dense", "is_sparse", count=4)
def dense(r):
    x = r.normal(3, 4)

    def call(K, x):
        assert K.is_sparse(x) is False
        return K.to_dense(x)

    return Draw([x], call, "of a dense tensor")
