"""update_sub: a change of a variable."""

import horngate as K
import numpy as np
from cases.harness import check

START = np.array([1.0, -2.0])


def made(v):
    return K.update_sub(v, K.constant([5.0, 7.0]))


@check(dtype=("float32", "float64"))
def happens_when_called(dtype):
    v = K.variable(START, dtype=dtype)
    f = K.function([], [K.identity(v)], updates=[made(v)])
    np.testing.assert_array_equal(f([])[0], START)
    got = K.get_value(v)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, START - [5, 7])
    f([])
    np.testing.assert_array_equal(K.get_value(v), START - [10, 14])


@check
def its_value_is_the_new_one():
    v = K.variable(START)
    np.testing.assert_array_equal(K.eval(made(v)), START - [5, 7])


@check
def the_value_is_cast():
    v = K.variable(START)
    K.function([], [], updates=[K.update_sub(v, K.constant([2, 3], dtype="int32"))])([])
    assert K.dtype(v) == "float32"
    np.testing.assert_array_equal(
        K.get_value(v),
        {"update": np.array([2, 3]), "update_add": START + [2, 3], "update_sub": START - [2, 3]}[
            "update_sub"
        ],
    )


@check(needs_numbers=False)
def of_another_shape():
    v = K.variable(START)
    try:
        K.update_sub(v, K.zeros((3,)))
    except ValueError as e:
        assert "(2,)" in str(e) and "(3,)" in str(e)
    else:
        raise AssertionError("nothing was raised")
