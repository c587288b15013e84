"""rnn, map_fn, foldl, foldr."""

import numpy as np
from draws import Draw, draws


@draws("rnn", count=40)
def simple(r):
    b, t, n, m = r.int(1, 4), r.int(1, 6), r.int(1, 4), r.int(1, 4)
    kind = r.choice(None, None, "2-D", "3-D")
    options = {"go_backwards": r.flag(), "unroll": r.flag()}
    with_constant = r.flag()
    arrays = [r.normal(b, t, n), r.normal(n, m), r.normal(m, m), r.normal(b, m)]
    mask = r.ints(0, 2, b, t) if kind else None
    if kind:
        arrays.append(mask if kind == "2-D" else mask[..., None])
    if with_constant:
        arrays.append(r.normal(b, m))

    def call(K, x, w, u, h, *rest):
        rest = list(rest)
        mask = rest.pop(0) if kind else None

        def step(x, states):
            y = K.tanh(K.dot(x, w) + K.dot(states[0], u))
            if with_constant:
                y = y * states[1]
            return y, [y]

        last, all_, states = K.rnn(
            step, x, [h], mask=mask, constants=rest or None, input_length=t, **options
        )
        return [last, all_, *states]

    return Draw(
        arrays,
        call,
        f"{(b, t, n, m)} mask={kind} constant={with_constant} {options}",
        open="first",
        tol=4,
    )


@draws("rnn", count=20)
def two_states(r):
    """The output is neither of the states, one of which is 3-D."""
    b, t, n = r.int(1, 4), r.int(1, 6), r.int(1, 4)
    masked = r.flag()
    options = {"go_backwards": r.flag(), "unroll": r.flag()}
    arrays = [r.normal(b, t, n), r.normal(b, n), r.normal(b, 2, n)]
    if masked:
        arrays.append(r.ints(0, 2, b, t).astype("bool"))

    def call(K, x, h, c, *mask):
        def step(x, states):
            h, c = states
            wide = K.tanh(c * 0.5 + K.expand_dims(x, 1))
            new = K.sigmoid(h + K.sum(wide, axis=1))
            return K.concatenate([new, x]) * 0.7, [new, wide]

        last, all_, states = K.rnn(
            step, x, [h, c], mask=mask[0] if mask else None, input_length=t, **options
        )
        return [last, all_, *states]

    return Draw(arrays, call, f"{(b, t, n)} mask={masked} {options}", open="first", tol=4)


@draws("rnn", count=8)
def images(r):
    """Steps on images, as a convolutional LSTM makes them."""
    b, t = r.int(1, 3), r.int(1, 4)
    options = {"go_backwards": r.flag(), "unroll": r.flag()}
    masked = r.flag()
    arrays = [
        r.normal(b, t, 4, 5, 2),
        r.normal(b, 4, 5, 3),
        r.normal(3, 3, 2, 3),
        r.normal(3, 3, 3, 3),
    ]
    if masked:
        arrays.append(r.ints(0, 2, b, t).astype("bool"))

    def call(K, x, h, w, u, *mask):
        def step(x, states):
            y = K.conv2d(x, w, padding="same") + K.conv2d(states[0], u, padding="same")
            y = K.tanh(y * 0.3)
            return y, [y]

        last, all_, states = K.rnn(
            step, x, [h], mask=mask[0] if mask else None, input_length=t, **options
        )
        return [last, all_, *states]

    return Draw(arrays, call, f"{(b, t)} images mask={masked} {options}", open="first", tol=10)


@draws("rnn", count=6)
def stateless(r):
    options = {"go_backwards": r.flag(), "unroll": r.flag()}

    def call(K, x):
        last, all_, states = K.rnn(lambda x, s: (x * x, []), x, [], input_length=4, **options)
        return [last, all_, len(states)]

    return Draw([r.normal(2, 4, 3)], call, f"no states {options}", open=False, grad=False)


@draws("map_fn")
def map_fn(r):
    shape = r.shape(1, 3)
    kind = r.choice("square", "sum")
    call = {
        "square": lambda K, x: K.map_fn(lambda v: K.square(v) + 1.0, x),
        "sum": lambda K, x: K.map_fn(lambda v: K.sum(v) * 2.0, x),
    }[kind]
    return Draw([r.normal(*shape)], call, f"{shape} {kind}")


@draws("map_fn", count=4)
def map_fn_several(r):
    call = lambda K, x, y: K.map_fn(lambda v: K.dot(v[0], v[1]), (x, y), dtype=r.dtype)
    return Draw([r.normal(3, 2, 4), r.normal(3, 4, 2)], call, "two sequences")


@draws("map_fn", count=2)
def map_fn_dtype(r):
    call = lambda K, x: K.map_fn(lambda v: K.argmax(v), x, dtype="int64")
    return Draw([r.normal(3, 5)], call, "to int64", grad=False)


@draws("foldl", "foldr")
def fold(r):
    shape = r.shape(1, 3)
    first = r.flag()
    arrays = [r.normal(*shape)] + ([r.normal(*shape[1:])] if first else [])

    def call(K, x, *rest):
        fn = lambda a, v: a * 0.5 + K.sin(v)
        return getattr(K, r.name)(fn, x, initializer=rest[0] if rest else None)

    return Draw(arrays, call, f"{shape} initializer={first}", open=False)


def lengths(r, b, low, high):
    return np.array([r.int(low, high) for _ in range(b)], "int32")


@draws("ctc_batch_cost", count=20)
def ctc_batch_cost(r):
    b, t, c, n = r.int(1, 4), r.int(4, 9), r.int(2, 6), r.int(1, 3)
    steps, used = lengths(r, b, 2 * n + 1, max(2 * n + 1, t))[:, None], lengths(r, b, 1, n)[:, None]
    steps = np.minimum(steps, t) if 2 * n + 1 <= t else np.full_like(steps, t)
    labels = r.ints(0, c - 1, b, n)
    used = np.minimum(used, steps // 2)
    p = r.probabilities(b, t, c).astype("float32")
    label = f"{(b, t, c)} steps {steps.ravel().tolist()} labels {used.ravel().tolist()}"
    return Draw(
        [labels, p, steps, used],
        lambda K, *a: K.ctc_batch_cost(*a),
        label,
        tol=10,
        floatx="float32",
    )


@draws("ctc_batch_cost", count=2)
def ctc_long_labels(r):
    labels = np.array([[0, 0, 1], [0, 1, 0]], "int32")
    p = r.probabilities(2, 3, 4).astype("float32")
    steps, used = np.array([[3], [3]], "int32"), np.array([[3], [3]], "int32")
    call = lambda K, *a: K.ctc_batch_cost(*a)
    return Draw(
        [labels, p, steps, used], call, "more labels than steps allow", floatx="float32", tol=10
    )


@draws("ctc_batch_cost", count=2)
def ctc_no_labels(r):
    labels, p = np.zeros((2, 3), "int32"), r.probabilities(2, 3, 4).astype("float32")
    steps, used = np.array([[3], [2]], "int32"), np.array([[0], [1]], "int32")
    call = lambda K, *a: K.ctc_batch_cost(*a)
    return Draw([labels, p, steps, used], call, "a row without labels", floatx="float32", tol=10)


def cut(made):
    """Without the columns of -1 at the end: theirs fills up to the number of steps."""
    *decoded, score = made
    longest = [int((d >= 0).sum(axis=1).max(initial=0)) for d in decoded]
    return [d[:, :n] for d, n in zip(decoded, longest, strict=True)] + [score]


@draws("ctc_decode", count=4)
def ctc_decode_width(r):
    p, steps = r.probabilities(2, 9, 3).astype("float32"), np.array([9, 4], "int32")
    call = lambda K, p, n: K.ctc_decode(p, n)[0][0]
    return Draw([p, steps], call, "width", grad=False, static=False, floatx="float32")


def beam(K, p, n, options):
    decoded, score = K.ctc_decode(p, n, **options)
    return [*decoded, score]


def peaked(r, b, t, c):
    p = r.probabilities(b, t, c).astype("float32")
    return p**3 / (p**3).sum(-1, keepdims=True)


@draws("ctc_decode", count=12)
def ctc_decode_greedy(r):
    b, t, c = r.int(1, 4), r.int(2, 8), r.int(2, 5)
    call = lambda K, p, n: beam(K, p, n, {})
    return Draw(
        [peaked(r, b, t, c), lengths(r, b, 1, t)],
        call,
        f"greedy {(b, t, c)}",
        grad=False,
        static=False,
        tol=10,
        floatx="float32",
        after=cut,
    )


def beams(r, name, sizes, shortest, options):
    """Both sides merge repeats; theirs always does."""
    b, t, c = sizes
    return Draw(
        [peaked(r, b, t, c), lengths(r, b, shortest, t)],
        lambda K, p, n: beam(K, p, n, options | {"merge_repeated": True}),
        f"{name} {sizes} {options}",
        grad=False,
        static=False,
        tol=10,
        floatx="float32",
        after=cut,
        their_call=lambda K, p, n: beam(K, p, n, options),
    )


@draws("ctc_decode", count=12)
def ctc_decode_beam(r):
    """Beams that hold every sequence."""
    sizes = r.int(1, 4), r.int(2, 4), r.int(3, 4)
    options = {"greedy": False, "beam_width": 200, "top_paths": r.int(1, 3)}
    return beams(r, "beam", sizes, 1, options)


@draws("ctc_decode", count=12)
def ctc_decode_narrow(r):
    options = {"greedy": False, "beam_width": 5, "top_paths": 3}
    return beams(r, "narrow beam", (4, 8, 3), 4, options)


@draws("ctc_decode", count=2)
def ctc_decode_repeats(r):
    # label, blank, label
    p = np.array([[[0.9, 0.05, 0.05], [0.05, 0.05, 0.9], [0.9, 0.05, 0.05]]], "float32")
    call = lambda K, p, n: beam(K, p, n, {"greedy": False})
    return Draw(
        [p, np.array([3], "int32")], call, "repeats", grad=False, static=False, floatx="float32"
    )


@draws("ctc_decode", count=2)
def ctc_decode_few(r):
    call = lambda K, p, n: beam(K, p, n, {"greedy": False, "top_paths": 3})
    return Draw(
        [peaked(r, 1, 2, 2), np.array([2], "int32")],
        call,
        "fewer sequences than paths",
        grad=False,
        static=False,
        floatx="float32",
    )


@draws("ctc_label_dense_to_sparse")
def dense_to_sparse(r):
    b, n = r.int(1, 4), r.int(1, 5)
    used = lengths(r, b, 0, n)

    def call(K, labels, used):
        return K.to_dense(K.ctc_label_dense_to_sparse(labels, used))

    return Draw([r.ints(1, 9, b, n), used], call, f"{used.tolist()}", grad=False, static=False)
