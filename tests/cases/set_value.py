"""set_value, get_value and their batches: moving values in and out."""

import horngate as K
import numpy as np
from cases.harness import check


@check
def one():
    v = K.variable([1.0, 2.0])
    K.set_value(v, [3, 4])
    got = K.get_value(v)
    assert got.dtype == "float32"
    np.testing.assert_array_equal(got, [3, 4])


@check
def several():
    v, w = K.variable(1.0), K.variable([2.0, 3.0], dtype="float64")
    K.batch_set_value([(v, 5), (w, np.array([6, 7]))])
    got = K.batch_get_value([w, v])
    assert [g.dtype for g in got] == ["float64", "float32"]
    np.testing.assert_array_equal(got[0], [6, 7])
    assert got[1] == 5
    K.batch_set_value([])
    assert K.batch_get_value([]) == []


@check
def the_array_may_change_afterwards():
    v, value = K.variable([1.0, 2.0]), np.array([3.0, 4.0], "float32")
    K.set_value(v, value)
    value[0] = 99
    np.testing.assert_array_equal(K.get_value(v), [3, 4])


@check
def of_another_shape():
    v = K.variable([1.0, 2.0], name="v")
    try:
        K.set_value(v, [1.0, 2.0, 3.0])
    except ValueError as e:
        assert (
            str(e) == f'set_value: variable "{v.name}" has shape (2,); got a value of shape (3,).'
        )
    else:
        raise AssertionError("nothing was raised")
    np.testing.assert_array_equal(K.get_value(v), [1, 2])


@check(needs_numbers=False)
def a_failed_batch_changes_nothing():
    v, w = K.variable(1.0), K.variable([2.0, 3.0])
    try:
        K.batch_set_value([(v, 5), (w, [1.0])])
    except ValueError:
        pass
    assert K.get_value(v) == 1
