"""Element-wise functions, comparisons and activations."""

import numpy as np
from draws import Draw, draws


@draws(
    "square",
    "abs",
    "exp",
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "softplus",
    "softsign",
    "round",
    "sign",
    "hard_sigmoid",
    "identity",
    "stop_gradient",
)
def unary(r):
    x = r.apart(*r.shape(0, 4))
    return Draw([x], lambda K, x: getattr(K, r.name)(x), f"{x.shape}")


@draws(
    "exp",
    "tanh",
    "sigmoid",
    "softplus",
    "softsign",
    "log",
    "sqrt",
    "elu",
    "round",
    "sign",
    "abs",
    "hard_sigmoid",
    "square",
    count=4,
)
def far_values(r):
    special = [
        np.inf,
        -np.inf,
        np.nan,
        0.0,
        -0.0,
        0.5,
        1.5,
        2.5,
        -0.5,
        -1.5,
        1e-30,
        -2.5,
        2.6,
        -2.6,
    ]
    x = np.concatenate([np.array(special), r.rng.uniform(-200, 200, 40)]).astype(r.dtype)
    return Draw([x], lambda K, x: getattr(K, r.name)(x), "special and far values", grad=False)


@draws("log", "sqrt")
def positive(r):
    x = r.uniform(0.01, 9, *r.shape(0, 4))
    return Draw([x], lambda K, x: getattr(K, r.name)(x), f"{x.shape}")


@draws("sqrt", count=2)
def below_zero(r):
    return Draw([r.normal(20)], lambda K, x: K.sqrt(x), "negative values", grad=False)


@draws("pow")
def pow_(r):
    a = r.choice(0, 1, 2, 3, -1, 0.5, 2.5, -1.5)
    x = r.uniform(0.2, 3, *r.shape(0, 3))
    return Draw([x], lambda K, x: K.pow(x, a), f"a={a}")


@draws("pow", count=4)
def pow_tensor(r):
    shape = r.shape(1, 3)
    return Draw(
        [r.uniform(0.2, 3, *shape), r.uniform(-2, 2, *shape)],
        lambda K, x, a: K.pow(x, a),
        "tensors",
    )


@draws("clip")
def clip(r):
    low = r.choice(-1.0, 0, -0.37)
    high = low + r.choice(0.0, 0.8, 1.7)
    x = r.apart(*r.shape(0, 3))
    return Draw([x], lambda K, x: K.clip(x, low, high), f"[{low}, {high}]")


@draws("clip", count=2)
def clip_upside_down(r):
    x = r.apart(3, 4)
    return Draw([x], lambda K, x: K.clip(x, 1.0, -0.5), "max_value below min_value")


@draws("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
def compare(r):
    shape = r.shape(0, 3)
    x, y = r.ints(0, 3, *shape, dtype=r.dtype), r.ints(0, 3, *r.broadcastable(shape), dtype=r.dtype)
    if r.flag():
        x, y = x.astype("int32"), y.astype("int32")
    if r.flag():
        x, y = y, x
    return Draw(
        [x, y], lambda K, x, y: getattr(K, r.name)(x, y), f"{x.shape} {y.shape}", open=False
    )


@draws("maximum", "minimum")
def extremes(r):
    shape = r.shape(0, 3)
    x, y = r.normal(*shape), r.normal(*r.broadcastable(shape))
    return Draw(
        [x, y], lambda K, x, y: getattr(K, r.name)(x, y), f"{x.shape} {y.shape}", open=False
    )


@draws("maximum", "minimum", count=4)
def ties(r):
    x, y = r.ints(0, 3, 4, 5, dtype=r.dtype), r.ints(0, 3, 4, 5, dtype=r.dtype)
    return Draw([x, y], lambda K, x, y: getattr(K, r.name)(x, y), "ties")


@draws("cast", count=12)
def cast(r):
    to = r.choice("float32", "float64", "int32", "int64", "bool", "uint8", "float16")
    x = r.uniform(0, 5, 3, 4) if to == "uint8" else r.normal(3, 4, scale=3)
    back = r.flag()
    call = lambda K, x: K.cast(K.cast(x, to), "float32") if back else K.cast(x, to)
    return Draw(
        [x], call, f"to {to}", grad=to.startswith("float"), tol=200 if to == "float16" else 1
    )


@draws("cast", count=6)
def cast_ints(r):
    to = r.choice("float32", "float64", "int32", "int64", "bool", "int8", "uint8")
    x = r.ints(0, 120, 3, 4, dtype=r.choice("int32", "int64", "uint8"))
    return Draw([x], lambda K, x: K.cast(x, to), f"{x.dtype} to {to}", grad=False)


@draws("relu", count=20)
def relu(r):
    options = {}
    if r.flag():
        options["alpha"] = r.choice(0.1, 0.3, 1.0)
    if r.flag():
        options["max_value"] = r.choice(1.0, 6, 0.5)
    if r.flag():
        options["threshold"] = r.choice(0.25, -0.5)
    x = r.apart(*r.shape(1, 4), low=-8, high=8)
    return Draw([x], lambda K, x: K.relu(x, **options), f"{options}")


@draws("relu", count=2)
def relu_leaky(r):
    x = r.apart(4, 5)
    return Draw([x], lambda K, x: K.relu(x, alpha=0.2), "{'alpha': 0.2} alone")


@draws("elu")
def elu(r):
    alpha = r.choice(1.0, 0.5, 2.0)
    x = r.apart(*r.shape(1, 4))
    return Draw([x], lambda K, x: K.elu(x, alpha=alpha), f"alpha={alpha}")


@draws("softmax")
def softmax(r):
    shape = r.shape(2, 4)
    axis = r.axis(len(shape))
    x = r.normal(*shape, scale=r.choice(1, 30))
    return Draw([x], lambda K, x: K.softmax(x, axis=axis), f"{shape} axis={axis}")


@draws("softmax", count=2)
def softmax_plain(r):
    x = r.normal(3, 5)
    return Draw([x], lambda K, x: K.softmax(x), "default axis")
