"""ones: a variable full of ones."""

import horngate as K
import numpy as np
from cases.harness import check, error


@check(
    shape=[(), (0,), (3,), (2, 3), (2, 0, 1)],
    dtype=("float16", "float32", "float64", "int32", "uint8", "bool"),
)
def is_a_variable(shape, dtype):
    v = K.ones(shape, dtype=dtype)
    assert K.is_variable(v) and K.int_shape(v) == shape and K.dtype(v) == dtype
    np.testing.assert_array_equal(K.eval(v), np.ones(shape, dtype))


@check
def dtype_is_floatx():
    K.set_floatx("float64")
    assert K.dtype(K.ones((2,))) == "float64"


@check
def of_a_shape_that_a_call_knows():
    x = K.placeholder((None, 3))
    y = K.ones(K.shape(x))
    assert not K.is_variable(y)
    f = K.function([x], [y])
    for rows in (0, 1, 4):
        np.testing.assert_array_equal(f([np.full((rows, 3), 7.0)])[0], np.ones((rows, 3)))


error(
    K.ones,
    [(2, None)],
    text="ones: shape must have entries of at least 0, and no None; got (2, None).",
)
