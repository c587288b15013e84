"""int_shape, ndim, dtype, count_params: what is known of a tensor."""

import horngate as K
import numpy as np
import pytest
from cases.harness import check, error
from cases.inputs import rand


@check(needs_numbers=False, shape=[(), (0,), (2, 3), (None,), (None, 4, 5), (None, None)])
def of_a_placeholder(shape):
    x = K.placeholder(shape)
    assert K.int_shape(x) == K.get_variable_shape(x) == x._keras_shape == shape
    assert K.ndim(x) == len(shape) and isinstance(K.int_shape(x), tuple)


@check(needs_numbers=False)
def by_the_number_of_axes():
    assert K.int_shape(K.placeholder(ndim=3)) == (None, None, None)


@check(needs_numbers=False, shape=[(), (0, 3), (2, 3), (7,)])
def number_of_elements(shape):
    assert K.count_params(K.zeros(shape)) == int(np.prod(shape))


@check(
    needs_numbers=False,
    dtype=("float16", "bfloat16", "float32", "float64", "int8", "uint64", "bool"),
)
def element_type(dtype):
    assert K.dtype(K.placeholder((2,), dtype=dtype)) == dtype
    assert K.dtype(K.variable(np.zeros(2), dtype=dtype)) == dtype


error(
    K.count_params, [rand(None, 3)], text="count_params: x must have a known shape; got (None, 3)."
)
error(
    K.placeholder,
    [(2,)],
    dtype="float99",
    raises=TypeError,
    text="placeholder: dtype must be one of float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, "
    'uint16, uint32, uint64, bool; got "float99".',
)


@check(needs_numbers=False)
def no_shape_is_one_open_axis():
    with pytest.warns(UserWarning, match="neither shape nor ndim is given"):
        assert K.int_shape(K.placeholder()) == (None,)
