"""random_uniform_variable: a variable that starts with random numbers."""

import horngate as K
import numpy as np
from cases.harness import check, error
from scipy import stats


@check(dtype=("float32", "float64"))
def distribution(dtype):
    v = K.random_uniform_variable((200, 100), -2.0, 3.0, dtype=dtype, seed=1)
    assert K.is_variable(v) and K.dtype(v) == dtype and K.int_shape(v) == (200, 100)
    assert stats.kstest(K.get_value(v).ravel(), stats.uniform(-2, 5).cdf).pvalue > 1e-3


@check
def keeps_its_numbers():
    v = K.random_uniform_variable((10,), -2.0, 3.0, seed=1)
    np.testing.assert_array_equal(K.eval(v), K.eval(v))


@check
def a_seed_fixes_the_numbers():
    one, two, other = (
        K.get_value(K.random_uniform_variable((10,), -2.0, 3.0, seed=s)) for s in (5, 5, 6)
    )
    np.testing.assert_array_equal(one, two)
    assert np.all(one != other)


@check
def numpy_gives_the_seed_that_is_left_open():
    values = []
    for seed in (3, 3, 4):
        np.random.seed(seed)
        values.append(K.get_value(K.random_uniform_variable((10,), -2.0, 3.0)))
    np.testing.assert_array_equal(values[0], values[1])
    assert np.all(values[0] != values[2])


error(
    K.random_uniform_variable,
    [(2,), -2.0, 3.0],
    dtype="int32",
    raises=TypeError,
    text="random_uniform_variable: dtype must be a float type; got int32.",
)
