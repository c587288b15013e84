"""Several operations at once, as networks have them: passes look for these, and single draws seldom
make one. Each takes a drawer and gives whether all of it could be drawn."""

from fuzz.ops import TABLE


def then(g, name, inputs, **args):
    """One operation; its first result, or None."""
    entry = TABLE[name]
    if any(x is None for x in inputs) or not g.keep(entry, inputs, args):
        return None
    made = entry.dtype(args, [x.dtype for x in inputs], g.floatx)
    count = 1 if isinstance(made, str) else len(made)
    return g.values[-count]


def activation(g, x):
    name = g.choice(["relu", "tanh", "sigmoid", "softplus", "elu", "hard_sigmoid"])
    return then(g, name, [x])


def matrix(g):
    return g.pick(
        lambda v: v.is_float and v.rank >= 2 and v.size and v.top < 50 and len(set(v.dims[-1])) == 1
    )


def dense(g):
    x = matrix(g)
    if x is None:
        return False
    for _ in range(g.choice([1, 1, 2, 3])):
        width = g.width()
        w = g.new([x.dims[-1], width], x.dtype, weight=True)
        y = then(g, "dot", [x, w])
        y = then(g, "bias_add", [y, g.new([width], x.dtype)], data_format="channels_last")
        y = y and activation(g, y)
        if y is None:
            return False
        x = y
    return True


def layer_norm(g):
    x = matrix(g)
    mean = x and then(g, "mean", [x], axis=-1, keepdims=True)
    d = mean and then(g, "subtract", [x, mean])
    square = d and then(g, "square", [d])
    var = square and then(g, "mean", [square], axis=-1, keepdims=True)
    shifted = var and then(g, "add_number", [var], n=0.125, left=False)
    root = shifted and then(g, "sqrt", [shifted])
    y = root and then(g, "divide", [d, root])
    y = y and then(g, "multiply", [y, g.new([x.dims[-1]], x.dtype)])
    return y is not None and then(g, "add", [y, g.new([x.dims[-1]], x.dtype)]) is not None


def attention(g):
    x = g.pick(lambda v: v.is_float and v.rank == 3 and v.size and v.top < 20 and v.size < 4000)
    if x is None or len(set(x.dims[2])) > 1:
        return False
    width = g.width()
    parts = [then(g, "dot", [x, g.new([x.dims[2], width], x.dtype, weight=True)]) for _ in range(3)]
    if None in parts:
        return False
    query, key, value = parts
    scores = then(g, "batch_dot", [query, key], axes=[2, 2])
    scores = scores and then(g, "multiply_number", [scores], n=0.5, left=False)
    weights = scores and then(g, "softmax", [scores], axis=-1)
    mixed = weights and then(g, "batch_dot", [weights, value], axes=[2, 1])
    if mixed is not None and g.chance(0.5) and width == x.shape[2]:
        mixed = then(g, "add", [mixed, x])
    return mixed is not None


def conv_block(g):
    x = g.pick(lambda v: v.is_float and v.rank == 4 and v.size and v.top < 50)
    if x is None:
        return False
    data_format = g.choice(["channels_last", "channels_first"])
    axis = 1 if data_format == "channels_first" else 3
    for _ in range(g.choice([1, 1, 2])):
        if len(set(x.dims[axis])) > 1 or g.odd:
            return False
        filters = g.choice([g.width(), x.shape[axis], 16])
        kernel = g.new([3, 3, x.dims[axis], filters], x.dtype, weight=True)
        options = {"strides": [1, 1], "padding": "same", "dilation": [1, 1], "size": [3, 3]}
        y = then(g, "conv2d", [x, kernel], data_format=data_format, **options)
        if y is None:
            return False
        y = g.choice([plain_bias, batch_norm, nothing])(g, y, filters, axis, data_format)
        y = y and activation(g, y)
        if y is None:
            return False
        if y.dims == x.dims and g.chance(0.5):
            y = then(g, "add", [y, x])
        x = y
        if x is None:
            return False
    if g.chance(0.4):
        mode = g.choice(["max", "avg"])
        options = {"size": [2, 2], "strides": [2, 2], "padding": "same", "pool_mode": mode}
        then(g, "pool2d", [x], data_format=data_format, **options)
    return True


def nothing(g, y, filters, axis, data_format):
    return y


def plain_bias(g, y, filters, axis, data_format):
    return then(g, "bias_add", [y, g.new([filters], y.dtype)], data_format=data_format)


def batch_norm(g, y, filters, axis, data_format):
    if g.chance(0.5):
        inputs = [y, *(g.new([filters], y.dtype, positive=i == 1) for i in range(4))]
        options = {"beta": True, "gamma": True, "axis": axis, "epsilon": 0.001}
        return then(g, "batch_normalization", inputs, **options)
    axes = [i for i in range(4) if i != axis]
    inputs = [y, g.new([filters], y.dtype), g.new([filters], y.dtype)]
    options = {"gamma": True, "beta": True, "axes": axes, "epsilon": 0.125}
    return then(g, "normalize_batch_in_training", inputs, **options)


def branches_joined(g):
    """Two ways from one value, side by side again."""
    x = matrix(g)
    if x is None:
        return False
    parts = []
    for _ in range(g.choice([2, 2, 3])):
        y = activation(g, x)
        y = y and then(g, g.choice(["multiply_number", "add_number"]), [y], n=0.5, left=False)
        if y is None:
            return False
        parts.append(y)
    joined = then(g, "concatenate", parts, axis=g.choice([0, -1]))
    return joined is not None and (g.chance(0.5) or activation(g, joined) is not None)


def loss(g):
    x = matrix(g)
    if x is None or len(set(x.dims[-1])) > 1:
        return False
    p = then(g, "softmax", [x], axis=-1)
    if p is None or x.dtype == "float16":
        return False
    t = g.new(p.dims, p.dtype, positive=True)
    y = then(g, "categorical_crossentropy", [t, p], from_logits=False, axis=-1)
    return y is not None and then(g, "mean", [y], axis=None) is not None


def twice(g):
    """One way to lay out elements after another of the same kind, with readers of both."""
    x = g.pick(lambda v: v.is_float and v.size and v.rank)
    if x is None:
        return False
    how = g.choice(["negative", "transpose", "flatten", "permute_dimensions", "expand_dims"])
    args = {
        "permute_dimensions": lambda v: {"pattern": list(range(v.rank))[::-1]},
        "expand_dims": lambda v: {"axis": 0},
    }.get(how, lambda v: {})
    y = then(g, how, [x], **args(x))
    z = y and then(g, how, [y], **args(y))
    z = z and then(g, "square", [z])
    return z is not None and (g.chance(0.5) or then(g, "square", [y]) is not None)


MOTIFS = [dense, layer_norm, attention, conv_block, branches_joined, loss, twice]
