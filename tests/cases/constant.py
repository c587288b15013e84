"""constant: a tensor whose value never changes."""

import horngate as K
import numpy as np
from cases.harness import check


@check(dtype=("float16", "float32", "float64", "int8", "int64", "uint8", "uint64", "bool"))
def keeps_its_value(dtype):
    value = np.array([[1, 0, 3], [2, 5, 1]]).astype(dtype)
    c = K.constant(value, dtype=dtype)
    assert K.int_shape(c) == (2, 3) and K.dtype(c) == dtype
    value[0, 0] = 0
    got = K.eval(c)
    assert got.dtype == dtype and got[0, 0] == 1


@check
def fills_a_shape():
    np.testing.assert_array_equal(K.eval(K.constant(2.5, shape=(2, 3))), np.full((2, 3), 2.5))
    np.testing.assert_array_equal(K.eval(K.constant([1, 2, 3, 4], shape=(2, 2))), [[1, 2], [3, 4]])


@check
def dtype_is_floatx():
    for value in (1, 1.5, [1, 2], np.arange(3), True):
        assert K.dtype(K.constant(value)) == "float32"
    K.set_floatx("float64")
    assert K.dtype(K.constant(1)) == "float64"
