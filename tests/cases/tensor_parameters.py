"""Parameters that may be tensors: of the random functions, dropout, relu, elu and one_hot."""

import horngate as K
import numpy as np
import pytest
from cases.harness import check
from scipy import stats

N = 20000


def drawn(random, **parameters):
    """What variables say is taken at each call: the second parameters come after the function is made."""
    variables = {name: K.variable(value) for name, (value, _) in parameters.items()}
    f = K.function([], [random((N, 2), seed=3, **variables)])
    first = f([])[0]
    for name, (_, value) in parameters.items():
        K.set_value(variables[name], value)
    return first, f([])[0]


@check
def normal_with_a_variable_mean_and_stddev():
    got = drawn(K.random_normal, mean=([1.0, -2.0], [5.0, 0.0]), stddev=(0.5, 2.0))
    for values, means, spread in zip(got, ([1, -2], [5, 0]), (0.5, 2.0)):
        for column, mean in enumerate(means):
            assert stats.kstest(values[:, column], stats.norm(mean, spread).cdf).pvalue > 1e-3


@check
def truncated_normal_with_a_variable_mean():
    first, second = drawn(K.truncated_normal, mean=(1.0, -4.0))
    for values, mean in ((first, 1), (second, -4)):
        assert abs(values.mean() - mean) < 0.05 and np.abs(values - mean).max() <= 2


@check(dtype=("float32", "int32"))
def uniform_with_variable_bounds(dtype):
    low, high = K.variable([0.0, 10.0]), K.variable(20.0)
    f = K.function([], [K.random_uniform((N, 2), low, high, dtype=dtype, seed=1)])
    got = f([])[0]
    assert got.dtype == dtype
    assert (got.min(0) >= [0, 10]).all() and got.max() < 20
    np.testing.assert_allclose(got.mean(0), [9.5 if dtype == "int32" else 10, 14.5 + (dtype != "int32") / 2], atol=0.3)
    K.set_value(high, 11.0)
    got = f([])[0]
    assert got.max() < 11 and got[:, 1].min() >= 10


@check
def binomial_with_a_variable_p():
    first, second = drawn(K.random_binomial, p=([0.1, 0.9], [0.5, 0.0]))
    np.testing.assert_allclose(first.mean(0), [0.1, 0.9], atol=0.02)
    np.testing.assert_allclose(second.mean(0), [0.5, 0.0], atol=0.02)
    assert set(np.unique(first)) == {0.0, 1.0}


@check
def dropout_that_is_annealed():
    level, x = K.variable(0.5), K.placeholder((N,))
    y = K.dropout(x, level, seed=1)
    f = K.function([x], [y, K.gradients(K.sum(y), x)[0]])
    for share in (0.5, 0.1, 0.0):
        K.set_value(level, share)
        got, grad = f([np.full(N, 2.0)])
        kept = got != 0
        assert abs(kept.mean() - (1 - share)) < 0.02
        np.testing.assert_allclose(got[kept], 2 / (1 - share), rtol=1e-6)
        np.testing.assert_array_equal(grad, got / 2)


@check
def relu_with_tensors():
    values = np.array([[-2.0, -0.5, 0.5, 3.0, 9.0]] * 2, "float32")
    x, alpha, top = K.placeholder((2, 5)), K.variable([[0.1], [0.5]]), K.variable(6.0)
    slope = np.array([[0.1], [0.5]], "float32")
    [got] = K.function([x], [K.relu(x, alpha=alpha)])([values])
    np.testing.assert_array_equal(got, np.where(values > 0, values, values * slope))
    [got] = K.function([x], [K.relu(x, alpha=alpha, max_value=top)])([values])
    np.testing.assert_allclose(got, np.minimum(np.where(values > 0, values, values * slope), 6), rtol=1e-6)
    [got] = K.function([x], [K.relu(x, max_value=top, threshold=1.0)])([values])
    np.testing.assert_array_equal(got, np.where(values > 1, np.minimum(values, 6), 0))
    [got] = K.function([x], [K.gradients(K.sum(K.relu(x, alpha=alpha)), alpha)[0]])([values])
    np.testing.assert_allclose(got, [[-2.5], [-2.5]], rtol=1e-6)


@check
def elu_with_a_variable():
    values, alpha = np.array([-3.0, -0.5, 2.0], "float32"), K.variable(0.3)
    x = K.placeholder((3,))
    [got] = K.function([x], [K.elu(x, alpha)])([values])
    np.testing.assert_allclose(got, np.where(values > 0, values, 0.3 * np.expm1(values)), rtol=1e-6)


@check
def one_hot_with_as_many_classes_as_a_tensor_says():
    labels, n = K.placeholder((None,), dtype="int32"), K.placeholder((), dtype="int32")
    f = K.function([labels, n], [K.one_hot(labels, n)])
    for count in (3, 5):
        np.testing.assert_array_equal(f([[0, 2, 1], count])[0], np.eye(count)[[0, 2, 1]])
    with pytest.raises(ValueError, match="one_hot: num_classes must be a whole number; got 2.5"):
        K.one_hot(labels, 2.5)
