"""Variables that K makes itself, sparse matrices, sequences of labels."""

import itertools

import numpy as np
from fuzz.dtypes import held
from fuzz.ops.entry import Op, always, dtype_argument, dual, real, same

OPS = []


def filled(name, full):
    def draw(g):
        return [], {"shape": [g.small() for _ in range(g.between(0, 3))], "dtype": g.floatx}

    OPS.append(
        Op(
            name,
            draw,
            f"K.{name}({{shape}}, dtype={{dtype}})",
            lambda r, a: held(np.full(a["shape"], full, a["dtype"]), a["dtype"]),
            dtype_argument,
            exact=True,
            covers=(name,),
            weight=0.2,
            outer=True,
        )
    )


filled("zeros", 0)
filled("ones", 1)
OPS.append(
    Op(
        "eye",
        lambda g: ([], {"n": g.width(), "m": g.width(), "dtype": g.floatx}),
        "K.eye(({n}, {m}), dtype={dtype})",
        lambda r, a: np.eye(a["n"], a["m"]),
        dtype_argument,
        exact=True,
        covers=("eye",),
        weight=0.2,
        outer=True,
    )
)
OPS.append(
    Op(
        "constant_of_shape",
        lambda g: (
            [],
            {
                "value": g.choice([0.5, 2.0, -1.0]),
                "shape": [g.small(), g.small()],
                "dtype": g.floatx,
            },
        ),
        "K.constant({value}, dtype={dtype}, shape={shape})",
        lambda r, a: np.full(a["shape"], a["value"]),
        dtype_argument,
        exact=True,
        covers=("constant",),
        weight=0.2,
    )
)


# Sparse matrices


def draw_sparse(g):
    n, m = g.width(), g.width()
    x = g.new([n, m], g.choice(["float32", "float64"]), kind="sparse")
    return [x], {}


OPS.append(
    Op(
        "sparse_to_dense",
        draw_sparse,
        "K.to_dense({0})",
        lambda r, a, x: x,
        same,
        exact=True,
        covers=("to_dense",),
        weight=0.2,
        outer=True,
    )
)


def draw_sparse_dot(g):
    y = g.pick(lambda v: v.dtype in ("float32", "float64") and v.rank == 2 and v.top < 1e3)
    if y is None or len(set(y.dims[0])) > 1 or 0 in y.dims[0]:
        return None
    return [g.new([g.width(), y.shape[0]], y.dtype, kind="sparse"), y], {}


OPS.append(
    Op(
        "sparse_dot",
        draw_sparse_dot,
        "K.dot({0}, {1})",
        lambda r, a, x, y: r(x @ y, np.abs(real(x)) @ np.abs(real(y))),
        same,
        exact=True,
        covers=("dot",),
        weight=0.3,
        outer=True,
    )
)


# Connectionist temporal classification, by going through all paths

EPSILON = 1e-7


def draw_ctc(g):
    n, time, classes = g.between(1, 3), g.between(2, 4), g.between(2, 3)
    y = g.pick(lambda v: v.dims == [(k,) * g.calls for k in (n, time, classes)] and probable(v))
    if y is None:
        y = g.new([n, time, classes], g.choice(["float32", "float64"]), positive=True)
    labels = g.new([n, g.between(1, 2)], "int32", whole=(0, classes - 1))
    input_length = g.new([n, 1], "int32", whole=(2, time + 1))
    label_length = g.new([n, 1], "int32", whole=(1, labels.shape[1] + 1))
    return [labels, y, input_length, label_length], {}


def probable(v):
    return v.dtype in ("float32", "float64") and v.low > 0.01 and v.top < 1


def collapsed(path, blank):
    return tuple(c for c, _ in itertools.groupby(path) if c != blank)


def scaled(p):
    p = p + EPSILON
    p = np.where(real(p) < 0, np.nan, p)  # their logarithms are taken
    return p / p.sum(-1, keepdims=True)


def ctc_value(r, a, labels, y, input_length, label_length):
    losses = []
    for row, p, time, n in zip(labels, y, input_length.ravel(), label_length.ravel()):
        p, blank = scaled(p), y.shape[-1] - 1
        total = np.zeros((), p.dtype)
        for path in itertools.product(range(blank + 1), repeat=int(time)):
            if collapsed(path, blank) == tuple(int(c) for c in row[: int(n)]):
                total = total + np.prod([p[t, c] for t, c in enumerate(path)])
        losses.append([-dual(np.asarray(total), np.log, lambda u: 1 / u)])
    made = np.array(losses)
    return r(made, np.abs(real(made)) + 4 * y.shape[1])


OPS.append(
    Op(
        "ctc_batch_cost",
        draw_ctc,
        "K.ctc_batch_cost({0}, {1}, {2}, {3})",
        ctc_value,
        lambda a, types, floatx: types[1],
        exact=True,
        covers=("ctc_batch_cost",),
        weight=0.3,
    )
)


def draw_decode(g):
    n, time, classes = g.between(1, 3), g.between(2, 4), g.between(2, 3)
    y = g.new([n, time, classes], g.choice(["float32", "float64"]), positive=True)
    lengths = g.new([n], "int32", whole=(1, time + 1))
    return [y, lengths], {}


def padded(rows):
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], "int64").reshape(
        len(rows), width
    )


def decode_value(r, a, y, lengths):
    rows, scores = [], []
    y = r(real(y))
    for p, time in zip(y, lengths):
        logits = np.log(p[: int(time)] + EPSILON)
        rows.append(collapsed(logits.argmax(-1), p.shape[-1] - 1))
        scores.append([-logits.max(-1).sum()])
    made = np.array(scores)
    return padded(rows), r(made, np.abs(made) + y.shape[1])


def decode_code(a, x):
    lines = [f"decoded_{x[0]}, score_{x[0]} = K.ctc_decode({x[0]}, {x[1]})"]
    return lines, f"decoded_{x[0]}[0], score_{x[0]}"


OPS.append(
    Op(
        "ctc_decode",
        draw_decode,
        decode_code,
        decode_value,
        lambda a, types, floatx: ["int64", types[0]],
        exact=True,
        covers=("ctc_decode",),
        weight=0.15,
        outer=True,
    )
)


def draw_labels(g):
    n, longest = g.between(1, 4), g.between(1, 4)
    labels = g.new([n, longest], g.choice(["int32", "int64"]), whole=(1, 6))
    return [labels, g.new([n], "int32", whole=(0, longest + 1))], {}


OPS.append(
    Op(
        "ctc_label_dense_to_sparse",
        draw_labels,
        "K.to_dense(K.ctc_label_dense_to_sparse({0}, {1}))",
        lambda r, a, x, n: np.where(np.arange(x.shape[1]) < n[:, None], x, 0),
        same,
        exact=True,
        covers=("ctc_label_dense_to_sparse", "to_dense"),
        weight=0.15,
        outer=True,
    )
)
OPS.append(
    Op(
        "is_sparse",
        lambda g: (lambda x: x and ([x], {}))(g.pick()),
        "K.constant(K.is_sparse({0}), dtype='bool')",
        lambda r, a, x: np.array(False),
        always("bool"),
        exact=True,
        covers=("is_sparse",),
        weight=0.05,
    )
)
