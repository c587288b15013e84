"""in_top_k: whether the target is among the k largest predictions."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, error
from cases.inputs import data, distinct, ints, rand

for shape in [(4, 5), (1, 1), (0, 3), (67, 31)]:
    for k in (1, 2, 3):
        case(
            K.in_top_k,
            [distinct(*shape), ints(shape[0], high=shape[1])],
            k=k,
            oracle=oracles.in_top_k,
            grad=False,
        )
for k in (-1, 0, 5, 9):
    case(K.in_top_k, [distinct(4, 5), ints(4, high=5)], k=k, oracle=oracles.in_top_k, grad=False)
TIES = [[0.5, 0.5, 0.1], [0.2, 0.2, 0.2], [0.1, 0.9, 0.9]]
for k in (1, 2):
    case(
        K.in_top_k,
        [data(TIES), data([1, 2, 0], "int32")],
        k=k,
        oracle=oracles.in_top_k,
        grad=False,
        label=f"ties({k})",
    )
case(
    K.in_top_k,
    [distinct(4, 5), ints(4, high=5, dtype="int64")],
    k=2,
    oracle=oracles.in_top_k,
    grad=False,
)
case(K.in_top_k, [distinct(4, 5), ints(4, high=5)], k=2, oracle=oracles.in_top_k, grad="none")
case(
    K.in_top_k,
    [distinct(4, 5), ints(4, high=5)],
    k=2,
    oracle=oracles.in_top_k,
    dtypes=("float16",),
    grad=False,
)
error(
    K.in_top_k,
    [rand(3), ints(3)],
    k=1,
    text="in_top_k: predictions must have 2 dimensions; got shape (3,).",
)
error(
    K.in_top_k,
    [rand(3, 4), ints(3, 1)],
    k=1,
    text="in_top_k: targets must have 1 dimension; got shape (3, 1).",
)
error(
    K.in_top_k,
    [rand(3, 4), rand(3)],
    k=1,
    raises=TypeError,
    text="in_top_k: targets must have an integer dtype; got float32.",
)


@check
def a_target_that_is_no_class_is_not_in():
    predictions = K.constant([[0.1, 0.9], [0.1, 0.9]])
    got = K.eval(K.in_top_k(predictions, K.constant([2, -1], dtype="int32"), 2))
    np.testing.assert_array_equal(got, [False, False])


error(
    K.in_top_k,
    [rand(3, 4), ints(2, high=4)],
    k=1,
    run=True,
    text="in_top_k: predictions and targets must have the same number of rows; got shapes (3, 4) and (2,).",
)
families.edges(K.in_top_k, oracles.in_top_k, [distinct(1009, 11), ints(1009, high=11)], k=3)
