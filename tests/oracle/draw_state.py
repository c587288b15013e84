"""Settings, variables, values, updates, functions: what keeps state."""

import numpy as np
from draws import Draw, draws


@draws(
    "epsilon",
    "set_epsilon",
    "floatx",
    "set_floatx",
    "image_data_format",
    "set_image_data_format",
    count=2,
)
def settings(r):
    e, f = r.choice(1e-7, 1e-4), r.choice("float16", "float32", "float64")
    d = r.choice("channels_last", "channels_first")

    def call(K):
        K.set_epsilon(e)
        K.set_floatx(f)
        K.set_image_data_format(d)
        return [K.epsilon(), K.floatx(), K.image_data_format(), str(K.dtype(K.constant(1.0)))]

    return Draw([], call, f"{e} {f} {d}", raw=True)


@draws("set_floatx", "set_image_data_format", count=2)
def settings_refused(r):
    return Draw([], lambda K: getattr(K, r.name)("int77"), "nonsense", raw=True, refused=True)


@draws("cast_to_floatx")
def cast_to_floatx(r):
    x = r.choice(r.normal(3, 4), r.ints(0, 9, 3), np.float64(2.5), [1, 2, 3])
    return Draw([], lambda K: K.cast_to_floatx(x), f"{type(x).__name__}", raw=True)


@draws("cast_to_floatx", count=2)
def cast_tensor_to_floatx(r):
    x = r.normal(3, 4)
    return Draw([x], lambda K, x: K.cast_to_floatx(x), "tensor", floatx="float64")


@draws("get_uid", "reset_uids", count=2)
def uids(r):
    def call(K):
        first = [K.get_uid("dense"), K.get_uid("dense"), K.get_uid("conv"), K.get_uid()]
        K.reset_uids()
        return [*first, K.get_uid("dense"), K.get_uid("conv")]

    return Draw([], call, raw=True)


@draws("clear_session", count=2)
def clear_session(r):
    def call(K):
        K.set_learning_phase(1)
        K.get_uid("dense")
        K.clear_session()
        x = K.variable(np.ones((2, 2)))
        phase = K.in_train_phase(K.constant(3.0), K.constant(4.0))
        return [K.get_uid("dense"), K.eval(phase), K.eval(x * 2)]

    return Draw([], call, raw=True)


@draws("backend", "manual_variable_initialization", "is_keras_tensor", count=1)
def kinds(r):
    def call(K):
        if r.name == "manual_variable_initialization":
            K.manual_variable_initialization(False)
            return 1
        if r.name == "backend":
            return isinstance(K.backend(), str)
        return K.is_keras_tensor(K.variable(1.0))

    return Draw([], call, raw=True)


@draws("is_keras_tensor", count=1)
def keras_tensor_of_array(r):
    return Draw([r.normal(3)], lambda K, x: K.is_keras_tensor(x), "array", raw=True, refused=True)


@draws("variable", "get_value", "eval", "int_shape", "dtype", "count_params", "ndim", "shape")
def variable(r):
    x = r.normal(*r.shape(0, 3))
    dtype = r.choice(None, "float32", "float64")

    def call(K, x):
        v = K.variable(x, dtype=dtype, name="v")
        return [
            K.get_value(v),
            K.eval(v),
            str(K.int_shape(v)),
            str(K.dtype(v)),
            int(K.count_params(v)),
            K.ndim(v),
            K.eval(K.shape(v)),
            K.eval(v * 2),
        ]

    return Draw([x], call, f"{x.shape} {dtype}", raw=True)


@draws("constant")
def constant(r):
    x = r.choice(r.normal(2, 3), 3, 2.5, [1, 2], [[1.5], [2.5]])
    dtype = r.choice(None, "int32", "float64")
    return Draw([], lambda K: K.constant(x, dtype=dtype), f"{type(x).__name__} {dtype}", grad=False)


@draws("constant", count=4)
def constant_shaped(r):
    shape = r.choice((2, 3), (4,), (1, 2, 2))
    return Draw([], lambda K: K.constant(2.5, shape=shape), f"{shape}", grad=False)


@draws("zeros", "ones")
def filled(r):
    shape, dtype = r.shape(0, 3), r.choice(None, "int32", "float64", "float32")
    call = lambda K: K.get_value(getattr(K, r.name)(shape, dtype=dtype))
    return Draw([], call, f"{shape} {dtype}", raw=True)


@draws("eye")
def eye(r):
    n, dtype = r.int(1, 5), r.choice(None, "int32", "float64", "float32")
    return Draw([], lambda K: K.get_value(K.eye(n, dtype=dtype)), f"{n} {dtype}", raw=True)


@draws("zeros_like", "ones_like", count=2)
def like_variable(r):
    x = r.normal(2, 3)
    call = lambda K, x: K.eval(getattr(K, r.name)(K.variable(x)))
    return Draw([x], call, "variable", raw=True)


@draws("set_value", "batch_set_value", "batch_get_value")
def values(r):
    x, y = r.normal(2, 3), r.normal(4)

    def call(K, x, y):
        a, b = K.variable(np.zeros((2, 3))), K.variable(np.ones(4))
        K.set_value(a, x)
        first = K.get_value(a)
        K.batch_set_value([(a, x * 2), (b, y)])
        return [first, *K.batch_get_value([a, b])]

    return Draw([x, y], call, raw=True)


@draws("set_value", count=2)
def set_value_wrong(r):
    def call(K):
        v = K.variable(np.zeros((2, 3)))
        K.set_value(v, np.zeros((3, 2)))
        return K.get_value(v)

    return Draw([], call, "wrong shape", raw=True, refused=True)


@draws("update", "update_add", "update_sub", "moving_average_update")
def update(r):
    x, y = r.normal(2, 3), r.normal(2, 3)
    momentum = r.choice(0.9, 0.99, 0.0)

    def call(K, x, y):
        v, w = K.variable(x), K.variable(y)
        rest = [momentum] if r.name == "moving_average_update" else []
        made = getattr(K, r.name)(v, w * 2, *rest)
        K.function([], [w * 1], updates=[made])([])
        return [K.get_value(v), K.get_value(w)]

    return Draw([x, y], call, f"{momentum}", raw=True, graph=True)


@draws("moving_average_update", count=4)
def moving_average_twice(r):
    """More than one call: later versions may take off the bias of the start."""
    x, y = r.normal(2, 3), r.normal(2, 3)

    def call(K, x, y):
        v = K.variable(x)
        f = K.function(
            [], [K.constant(1.0)], updates=[K.moving_average_update(v, K.constant(y), 0.9)]
        )
        f([])
        f([])
        return K.get_value(v)

    return Draw([x, y], call, "two calls", raw=True, graph=True)


@draws("placeholder", "is_placeholder", count=6)
def placeholder(r):
    shape = r.choice((2, 3), (None, 3), (None, None), ())
    dtype = r.choice(None, "int32", "float64")

    def call(K):
        p = K.placeholder(shape, dtype=dtype)
        return [
            str(K.int_shape(p)),
            str(K.dtype(p)),
            K.is_placeholder(p),
            K.ndim(p),
            K.is_placeholder(p * 2),
            K.is_placeholder(K.variable(1.0)),
            K.is_sparse(p),
        ]

    return Draw([], call, f"{shape} {dtype}", raw=True, graph=True)


@draws("placeholder", count=2)
def placeholder_by_ndim(r):
    call = lambda K: [str(K.int_shape(K.placeholder(ndim=3))), K.ndim(K.placeholder(ndim=3))]
    return Draw([], call, "ndim", raw=True, graph=True)


@draws("is_sparse", "placeholder", count=1)
def placeholder_sparse(r):
    def call(K):
        return [K.is_sparse(K.placeholder((2, 2), sparse=True)), K.is_sparse(K.placeholder((2, 2)))]

    return Draw([], call, "sparse", raw=True, graph=True)


@draws("function", "gradients")
def function(r):
    x, y = r.normal(3, 4), r.normal(4, 2)

    def call(K, x, y):
        a, b, v = K.placeholder((None, 4)), K.placeholder((4, 2)), K.variable(y)
        z = K.tanh(K.dot(a, b) + K.dot(a, v))
        grads = K.gradients(K.sum(z * z), [a, b, v])
        # another variable is updated: whether results see it before or after is left open
        w = K.variable(y)
        f = K.function([a, b], [z, *grads], updates=[K.update_add(w, b)])
        return [*f([x, y]), K.get_value(w), *f([x * 2, y]), K.get_value(w)]

    return Draw([x, y], call, "with an update", raw=True, graph=True)


@draws("gradients", count=6)
def second_gradients(r):
    x = r.normal(3, 4)

    def call(K, x):
        a, unused = K.placeholder((3, 4)), K.variable(np.ones(2))
        loss = K.sum(K.sigmoid(a) * K.exp(a * 0.3) * K.softmax(a))
        (g,) = K.gradients(loss, [a])
        (h,) = K.gradients(K.sum(g * g), [a])
        (k,) = K.gradients(h[0, 1], [a])
        none = K.gradients(loss, [unused])[0] is None
        return [*K.function([a], [g, h, k])([x]), none]

    return Draw([x], call, "second and third", raw=True, graph=True)


@draws("gradients", count=4)
def gradients_of_tensor(r):
    """A loss that is no scalar counts as its sum; a variable may be no list."""
    x = r.normal(3, 4)

    def call(K, x):
        a = K.placeholder((3, 4))
        return K.function([a], K.gradients(K.square(a) * 2.0, [a]))([x])

    return Draw([x], call, "loss is no scalar", raw=True, graph=True)


@draws("stop_gradient", count=4)
def stop_gradient(r):
    x = r.normal(3, 4)
    return Draw([x], lambda K, x: K.stop_gradient(x) * K.sin(x), "in a product")


@draws("print_tensor", count=2)
def print_tensor(r):
    return Draw([r.normal(2, 3)], lambda K, x: K.print_tensor(x, "x = "), "values", open=False)


@draws("name_scope", count=1)
def name_scope(r):
    def call(K):
        with K.name_scope("outer"):
            return K.eval(K.constant(2.0) * 3)

    return Draw([], call, raw=True)
