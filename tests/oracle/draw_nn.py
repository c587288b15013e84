"""Losses, bias, dropout, top k, phases and choices."""

import numpy as np
from draws import Draw, draws


@draws("categorical_crossentropy", count=12)
def categorical(r):
    shape = r.shape(2, 4, low=2)
    logits = r.flag()
    # theirs cannot take logits along an inner axis that is counted from the end
    axis = r.choice(-1, r.int(0, len(shape) - 1)) if logits else r.axis(len(shape))
    target = r.probabilities(*shape, axis=axis)
    output = r.normal(*shape) if logits else r.uniform(0.05, 1, *shape)
    return Draw(
        [target, output],
        lambda K, t, o: K.categorical_crossentropy(t, o, from_logits=logits, axis=axis),
        f"{shape} axis={axis} from_logits={logits}",
    )


@draws("categorical_crossentropy", count=2)
def categorical_certain(r):
    target = np.eye(3, dtype=r.dtype)
    output = np.array([[1, 0, 0], [0.5, 0, 0.5], [1e-9, 1, 0]], r.dtype)
    call = lambda K, t, o: K.categorical_crossentropy(t, o)
    return Draw([target, output], call, "zeros and ones", tol=10)


@draws("sparse_categorical_crossentropy", count=14)
def sparse_categorical(r):
    shape = list(r.shape(2, 4, low=2))
    axis = r.choice(-1, len(shape) - 1, r.axis(len(shape)))
    if axis % len(shape) == 0:
        axis = -1
    classes = shape[axis]
    rest = [n for i, n in enumerate(shape) if i != axis % len(shape)]
    target = r.ints(0, classes, *rest, dtype=r.choice("int32", "int64", r.dtype))
    logits = r.flag()
    output = r.normal(*shape) if logits else r.probabilities(*shape, axis=axis)
    return Draw(
        [target, output],
        lambda K, t, o: K.sparse_categorical_crossentropy(t, o, from_logits=logits, axis=axis),
        f"{tuple(shape)} axis={axis} from_logits={logits} target {target.dtype}",
        tol=10,
    )


@draws("binary_crossentropy")
def binary(r):
    shape = r.shape(1, 4)
    logits = r.flag()
    target = r.uniform(0, 1, *shape) if r.flag() else r.ints(0, 2, *shape, dtype=r.dtype)
    output = r.normal(*shape, scale=4) if logits else r.uniform(0.02, 0.98, *shape)
    call = lambda K, t, o: K.binary_crossentropy(t, o, from_logits=logits)
    return Draw([target, output], call, f"{shape} from_logits={logits}", tol=10)


@draws("binary_crossentropy", count=2)
def binary_certain(r):
    target = np.array([0, 1, 0, 1, 0.5], r.dtype)
    output = np.array([0, 1, 1, 0, 0.3], r.dtype)
    call = lambda K, t, o: K.binary_crossentropy(t, o)
    return Draw([target, output], call, "zeros and ones", tol=10)


@draws("bias_add", count=20)
def bias_add(r):
    n = r.int(1, 3)
    form = r.choice("channels_last", "channels_first", None)
    shape = r.shape(n + 2, n + 2, high=4)
    channel = 1 if form == "channels_first" else n + 1
    whole = r.flag()
    rest = [m for i, m in enumerate(shape) if i not in (0, channel)]
    bias = (*rest, shape[channel]) if whole else (shape[channel],)
    return Draw(
        [r.normal(*shape), r.normal(*bias)],
        lambda K, x, b: K.bias_add(x, b, data_format=form),
        f"{shape} + {bias} {form}",
        open="first",
    )


@draws("bias_add", count=2)
def bias_add_flat(r):
    return Draw([r.normal(3, 4), r.normal(4)], lambda K, x, b: K.bias_add(x, b), "2-D")


@draws("in_top_k", count=12)
def in_top_k(r):
    rows, classes = r.int(1, 6), r.int(2, 6)
    k = r.int(1, classes)
    tied = r.flag()
    p = (
        r.ints(0, 3, rows, classes, dtype="float32")
        if tied
        else r.normal(rows, classes).astype("float32")
    )
    t = r.ints(0, classes, rows, dtype=r.choice("int32", "int64"))
    return Draw([p, t], lambda K, p, t: K.in_top_k(p, t, k), f"k={k} ties={tied}", grad=False)


@draws("in_top_k", count=2)
def in_top_k_odd(r):
    p = np.array([[0.1, np.nan, 0.3], [np.inf, 0.2, 0.3], [0.1, 0.2, 0.3]], "float32")
    t = np.array([0, 0, 2], "int32")
    return Draw([p, t], lambda K, p, t: K.in_top_k(p, t, 2), "nan and inf", grad=False)


@draws("switch", count=14)
def switch(r):
    shape = r.shape(1, 3)
    rank = r.int(0, len(shape))
    kind = r.choice("bool", "int32")
    c = r.ints(0, 2, *shape[:rank], dtype=kind)
    called = r.flag()

    def call(K, c, x, y):
        return K.switch(c, lambda: x * 2.0, lambda: y * 3.0) if called else K.switch(c, x, y)

    arrays = [c, r.normal(*shape), r.normal(*shape)]
    return Draw(arrays, call, f"{kind} {c.shape} of {shape} callables={called}", open=False)


@draws("in_train_phase", "in_test_phase", count=12)
def phases(r):
    phase = r.int(0, 1)
    training = r.choice(None, None, 0, 1, True, False)
    called = r.flag()

    def call(K, x, y):
        a, b = ((lambda: x * 2.0), (lambda: y * 3.0)) if called else (x, y)
        return getattr(K, r.name)(a, b, training=training)

    label = f"phase={phase} training={training} callables={called}"
    return Draw([r.normal(3, 4), r.normal(3, 4)], call, label, phase=phase)


@draws("in_train_phase", "in_test_phase", count=4)
def phases_by_tensor(r):
    on = np.array(r.flag())
    call = lambda K, t, x, y: getattr(K, r.name)(x, y, training=t)
    return Draw([on, r.normal(3, 4), r.normal(3, 4)], call, f"training is a tensor: {on}")


@draws("learning_phase", "set_learning_phase", count=4)
def fixed_phase(r):
    value = r.int(0, 1)

    def call(K):
        K.set_learning_phase(value)
        return [
            int(K.learning_phase()),
            int(K.eval(K.in_train_phase(K.constant(3), K.constant(4)))),
        ]

    return Draw([], call, f"{value}", raw=True)


@draws("learning_phase", count=2)
def fed_phase(r):
    x, fed = r.normal(3), r.int(0, 1)

    def call(K, x):
        p = K.placeholder((3,))
        y = K.in_train_phase(p * 2.0, p * 3.0)
        f = K.function([p, K.learning_phase()], [y])
        return f([x, fed])

    return Draw([x], call, f"fed {fed}", raw=True, graph=True)
