"""sparse_categorical_crossentropy: with class numbers as the target."""

import horngate as K
import numpy as np
import pytest
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import data, ints, normal, probabilities, rand

oracle = oracles.sparse_categorical_crossentropy
for shape, axis in [((4, 5), -1), ((2, 3, 4), -1), ((2, 4, 3), 1), ((5, 3), 0), ((1, 1), 1)]:
    rows = [n for i, n in enumerate(shape) if i != axis % len(shape)]
    for target in (ints(*rows, high=shape[axis]), ints(*rows, high=shape[axis], dtype="int64")):
        case(
            K.sparse_categorical_crossentropy,
            [target, probabilities(*shape, axis=axis)],
            axis=axis,
            oracle=oracle,
        )
    case(
        K.sparse_categorical_crossentropy,
        [ints(*rows, high=shape[axis]), normal(*shape, scale=3.0)],
        axis=axis,
        from_logits=True,
        oracle=oracle,
        second=True,
    )
# Keras feeds class numbers as floats and with an axis of 1.
case(
    K.sparse_categorical_crossentropy,
    [data([[2.0], [0.0], [1.0]]).no_grad(), probabilities(3, 4)],
    oracle=oracle,
)
case(K.sparse_categorical_crossentropy, [ints(6, high=4), probabilities(2, 3, 4)], oracle=oracle)
case(
    K.sparse_categorical_crossentropy,
    [ints(131, high=67), probabilities(131, 67)],
    oracle=oracle,
    grad=False,
)
case(K.sparse_categorical_crossentropy, [ints(0, high=4), probabilities(0, 4)], oracle=oracle)
case(
    K.sparse_categorical_crossentropy,
    [data([0, 0, 1], "int32"), data([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])],
    oracle=oracle,
    grad=False,
    label="sparse_categorical_crossentropy(0 and 1)",
    tol={"float32": 1e-6},
)
error(
    K.sparse_categorical_crossentropy,
    [ints(4), rand(3, 5)],
    text="sparse_categorical_crossentropy: target must have one class number per distribution of output of shape "
    "(3, 5); got shape (4,).",
)
error(
    K.sparse_categorical_crossentropy,
    [ints(3), rand(3, 5)],
    axis=-3,
    text="sparse_categorical_crossentropy: axis must be in [-2, 2) for output of shape (3, 5); got axis=-3.",
)


@check
def what_is_no_class_gives_nan():
    """As TensorFlow does on GPUs; on CPUs it fails."""
    loss = K.sparse_categorical_crossentropy(
        K.constant([1, 7, -1], dtype="int32"), K.constant(np.full((3, 2), 0.5))
    )
    np.testing.assert_array_equal(np.isnan(K.eval(loss)), [False, True, True])


@check
def an_open_batch_needs_as_many_classes_as_rows():
    target, output = K.placeholder((None,)), K.placeholder((None, 3))
    f = K.function([target, output], [K.sparse_categorical_crossentropy(target, output)])
    rows = np.repeat([[0.2, 0.3, 0.5]], 4, 0)
    np.testing.assert_allclose(f([[0, 1, 2, 2], rows])[0], -np.log([0.2, 0.3, 0.5, 0.5]), 1e-5)
    for classes, some in [([0], rows), (np.arange(8) % 3, rows[:1])]:
        with pytest.raises(ValueError, match="sparse_categorical_crossentropy"):
            f([classes, some])


families.edges(
    K.sparse_categorical_crossentropy, oracle, [ints(1009, high=11), probabilities(1009, 11)]
)
inf, nan = np.inf, np.nan
ROWS = [[1, nan, 2], [inf, 1, 2], [-inf] * 3, [1, -inf, 0], [nan] * 3, [inf, inf, -inf]]


def with_the_largest_taken_off(target, output, from_logits):
    off = output - output.max(-1, keepdims=True)
    return -(off - np.log(np.exp(off).sum(-1, keepdims=True)))[:, target[0]]


for target in range(3):
    case(
        K.sparse_categorical_crossentropy,
        [data([target] * len(ROWS), "int32"), data(ROWS)],
        from_logits=True,
        oracle=with_the_largest_taken_off,
        grad=False,
        label=f"sparse_categorical_crossentropy(NaN and infinities, class {target})",
    )
