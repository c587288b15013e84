"""variable: a tensor that keeps its value between calls."""

import horngate as K
import numpy as np
from cases.harness import check, error

DTYPES = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)


@check(dtype=DTYPES, shape=[(), (0,), (3,), (2, 3)])
def keeps_its_value(dtype, shape):
    value = np.ones(shape, dtype)
    v = K.variable(value, dtype=dtype)
    assert K.is_variable(v) and K.dtype(v) == dtype and K.int_shape(v) == shape
    value[...] = 0
    got = K.get_value(v)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.ones(shape))
    if shape:
        got[...] = 0
    np.testing.assert_array_equal(K.eval(v), np.ones(shape))


@check
def dtype_is_floatx():
    for value in (1, 1.5, [1, 2], np.arange(3), np.float64(2)):
        assert K.dtype(K.variable(value)) == "float32"


# Initial values are computed by native, whatever the engine.
@check(needs_numbers=False)
def starts_from_a_tensor():
    v = K.variable(K.constant([1.0, 2.0]) * 3)
    np.testing.assert_array_equal(K.get_value(v), [3, 6])
    np.testing.assert_array_equal(K.get_value(K.variable(v)), [3, 6])


@check(needs_numbers=False)
def starts_from_a_list():
    np.testing.assert_array_equal(K.get_value(K.variable([1.0, 2.0])), [1, 2])
    mixed = K.variable([[1.0, 2.0], K.constant([3.0, 4.0]) + 1])
    np.testing.assert_array_equal(K.get_value(mixed), [[1, 2], [4, 5]])


@check
def flows_through_functions():
    v = K.variable([1.0, 2.0])
    f = K.function([], [v * 2])
    np.testing.assert_array_equal(f([])[0], [2, 4])
    K.set_value(v, [5.0, 6.0])
    np.testing.assert_array_equal(f([])[0], [10, 12])


error(
    K.variable,
    [1.0],
    dtype="float99",
    raises=TypeError,
    text="variable: dtype must be one of float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, "
    'uint32, uint64, bool; got "float99".',
)
