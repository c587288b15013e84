"""gather: entries along the first axis."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, error
from cases.inputs import data, ints, rand


def gather(reference, indices):
    return reference[indices]


for shape, count in [
    ((5, 3), (4,)),
    ((5, 3), (2, 3)),
    ((7,), (3,)),
    ((5, 2, 3), ()),
    ((5, 3), (0,)),
    ((4, 0), (3,)),
]:
    case(K.gather, [rand(*shape), ints(*count, high=shape[0])], oracle=gather, tol=0, second=True)
case(K.gather, [rand(1009, 17), ints(301, high=1009)], oracle=gather, tol=0, grad=False)
case(K.gather, [rand(5, 3), ints(200, high=5)], oracle=gather, tol=0)
for dtype in ("int8", "uint8", "int16", "int64", "uint32"):
    case(
        K.gather,
        [rand(5, 3), ints(4, high=5, dtype=dtype)],
        oracle=gather,
        tol=0,
        label=f"gather({dtype} indices)",
    )
for dtype in ("float16", "bfloat16", "int8", "int64", "bool"):
    case(K.gather, [rand(5, 3), ints(4, high=5)], oracle=gather, tol=0, dtypes=(dtype,))
case(K.gather, [rand(5, 3).known(1), ints(2, 4, high=5).known(1)], oracle=gather, none=(None, 4, 3))
error(
    K.gather,
    [rand(5, 3), rand(2)],
    raises=TypeError,
    text="gather: indices must have an integer dtype; got float32.",
)
error(
    K.gather,
    [rand(), ints(2)],
    text="gather: reference must have at least 1 dimension; got a scalar.",
)
for bad in (5, -1, 10**9):
    error(
        K.gather,
        [rand(5, 3), data([0, bad], "int32")],
        run=True,
        raises=IndexError,
        label=f"gather({bad} of 5)",
        text=f"gather: index {bad} is out of range for axis 0 of size 5.",
    )


@check
def numbers_count_once_for_each_time_they_are_picked():
    x = K.variable(np.zeros((3, 2)))
    [g] = K.gradients(K.gather(x, K.constant([1, 1, 2, 1], dtype="int32")), [x])
    np.testing.assert_array_equal(K.eval(g), [[0, 0], [3, 3], [1, 1]])


@check
def an_error_of_a_run_names_the_node():
    i = K.placeholder((None,), dtype="int32")
    with K.name_scope("lookup"):
        y = K.gather(K.constant([1.0, 2.0]), i)
    try:
        K.function([i], [y])([[7]])
    except IndexError as e:
        assert "lookup/gather" in str(e), str(e)
    else:
        raise AssertionError("nothing was raised")


case(
    K.gather, [rand(5003, 33), ints(7001, high=5003)], oracle=gather, grad=False, none=False, tol=0
)
families.edges(
    K.gather, gather, [rand(1, 1), ints(1, high=1)], [rand(31, 1), ints(10_007, high=31)], tol=0
)
