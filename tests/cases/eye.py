"""eye: the identity matrix."""

import horngate as K
import numpy as np
from cases.harness import check


@check(size=(0, 1, 2, 7, (2, 3), (3, 2)), dtype=("float32", "float64", "int32"))
def is_a_variable(size, dtype):
    wanted = np.eye(*size) if isinstance(size, tuple) else np.eye(size)
    v = K.eye(size, dtype=dtype)
    assert K.is_variable(v) and K.int_shape(v) == wanted.shape and K.dtype(v) == dtype
    np.testing.assert_array_equal(K.eval(v), wanted)


@check
def dtype_is_floatx():
    K.set_floatx("float16")
    assert K.dtype(K.eye(2)) == "float16"
