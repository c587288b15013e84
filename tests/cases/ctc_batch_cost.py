"""ctc_batch_cost: the CTC loss, against a sum over all paths."""

import horngate as K
import numpy as np
from cases import oracles
from cases.harness import case, error
from cases.inputs import data, ints, probabilities, rand


def problem(samples, time, categories, labels, lengths=None):
    """y_true, y_pred, input_length, label_length."""
    rng = np.random.default_rng(samples * 100 + time * 10 + labels)
    y_true = rng.integers(0, categories - 1, (samples, labels))
    lengths = lengths or ([time] * samples, [labels] * samples)
    steps, counts = (np.reshape(n, (samples, 1)) for n in lengths)
    return [
        data(y_true, "int32"),
        probabilities(samples, time, categories),
        data(steps, "int32"),
        data(counts, "int32"),
    ]


for arguments in [
    (2, 4, 3, 2),
    (1, 1, 2, 1),
    (3, 5, 3, 1),
    (2, 5, 4, 3),
    (1, 3, 3, 0),
    (3, 5, 3, 2, ([5, 3, 4], [2, 1, 2])),
    (2, 4, 3, 2, ([4, 4], [0, 2])),
]:
    case(
        K.ctc_batch_cost, problem(*arguments), oracle=oracles.ctc_batch_cost, tol={"float32": 1e-5}
    )
for arguments in [
    (2, 3, 3, 1),
    (2, 4, 3, 2),
    (1, 1, 2, 1),
    (1, 3, 3, 0),
    (3, 5, 3, 2, ([5, 3, 4], [2, 1, 2])),
    (2, 3, 3, 1, ([3, 0], [1, 0])),
]:
    case(
        K.ctc_batch_cost,
        problem(*arguments),
        oracle=oracles.ctc_batch_cost,
        second=True,
        tol={"float32": 1e-5},
        label=f"ctc_batch_cost twice({arguments})",
    )
# The same label twice needs a blank between; labels that do not fit cost infinitely much.
TWICE = [
    data([[1, 1], [0, 0]], "int32"),
    probabilities(2, 4, 3),
    data([[4], [3]], "int32"),
    data([[2], [2]], "int32"),
]
case(
    K.ctc_batch_cost,
    TWICE,
    oracle=oracles.ctc_batch_cost,
    label="repeated labels",
    second=True,
    tol={"float32": 1e-5},
)
TIGHT = [
    data([[1, 1], [0, 1]], "int32"),
    probabilities(2, 3, 3),
    data([[2], [1]], "int32"),
    data([[2], [2]], "int32"),
]
case(
    K.ctc_batch_cost,
    TIGHT,
    oracle=oracles.ctc_batch_cost,
    grad=False,
    label="labels that do not fit",
)
# Probabilities of 0 count as epsilon; labels behind their length may be anything.
ZERO = [
    data([[0, -1], [1, 7]], "int32"),
    data([[[0.0, 0.3, 0.7], [1.0, 0.0, 0.0]]] * 2),
    data([[2]] * 2, "int32"),
    data([[1]] * 2, "int32"),
]
case(
    K.ctc_batch_cost,
    ZERO,
    oracle=oracles.ctc_batch_cost,
    grad=False,
    label="zeros and padding",
    tol={"float32": 1e-5},
)
# Keras feeds labels and lengths as floats.
FLOATS = [
    data([[1.0, 0.0]]).no_grad(),
    probabilities(1, 4, 3),
    data([[4.0]]).no_grad(),
    data([[2.0]]).no_grad(),
]
case(K.ctc_batch_cost, FLOATS, oracle=oracles.ctc_batch_cost, label="floats", tol={"float32": 1e-5})
# A blank among the labels ends them: the first sample has none, the second one.
BLANKS = [
    data([[2, 2], [1, 2]], "int32"),
    probabilities(2, 4, 3),
    data([[4], [3]], "int32"),
    data([[1], [2]], "int32"),
]
case(
    K.ctc_batch_cost,
    BLANKS,
    oracle=lambda y, p, t, n: oracles.ctc_batch_cost(y, p, t, np.array([[0], [1]])),
    label="a blank ends the labels",
    second=True,
    tol={"float32": 1e-5},
)
case(K.ctc_batch_cost, problem(0, 3, 3, 2), oracle=lambda *a: np.zeros((0, 1)), label="no samples")
error(
    K.ctc_batch_cost,
    [ints(2, 3), rand(2, 5), ints(2, 1), ints(2, 1)],
    text="ctc_batch_cost: y_pred must have 3 dimensions (samples, time, categories); got shape (2, 5).",
)
error(
    K.ctc_batch_cost,
    [ints(3), rand(2, 5, 4), ints(2, 1), ints(2, 1)],
    text="ctc_batch_cost: y_true must have 2 dimensions (samples, labels); got shape (3,).",
)
error(
    K.ctc_batch_cost,
    [ints(2, 3), rand(2, 5, 4), ints(3, 1), ints(2, 1)],
    text="ctc_batch_cost: input_length must have 2 entries, as y_pred of shape (2, 5, 4); got shape (3, 1).",
)
error(
    K.ctc_batch_cost,
    [ints(2, 3), rand(2, 5, 4), ints(2, 1), ints(2, 2)],
    text="ctc_batch_cost: label_length must have shape (samples,) or (samples, 1); got (2, 2).",
)
# Labels, steps and counts that the shapes do not allow.
BAD = [
    (
        7,
        4,
        2,
        "labels must be in [0, 2) for 3 classes, of which the last is the blank; got 7 in sample 0.",
    ),
    (1, 9, 2, "input_length must be in [0, 4], the time steps of inputs; got 9 for sample 0."),
    (1, 4, 5, "label_length must be in [0, 2], the width of labels; got 5 for sample 0."),
]
for label, steps, count, text in BAD:
    error(
        K.ctc_batch_cost,
        [
            data([[1, label]], "int32"),
            probabilities(1, 4, 3),
            data([[steps]], "int32"),
            data([[count]], "int32"),
        ],
        run=True,
        label=f"bad({label}, {steps}, {count})",
        text="ctc_batch_cost: " + text,
    )
