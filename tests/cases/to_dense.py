"""to_dense: a sparse tensor made dense."""

import horngate as K
import numpy as np
import scipy.sparse
from cases.harness import check


@check(density=(0.0, 0.3, 1.0), dtype=("float32", "float64"))
def of_a_placeholder(density, dtype):
    matrix = scipy.sparse.random(4, 5, density, "csr", dtype, rng=np.random.default_rng(0))
    x = K.placeholder((None, 5), dtype=dtype, sparse=True)
    y = K.to_dense(x)
    assert not K.is_sparse(y) and K.int_shape(y) == (None, 5)
    [got] = K.function([x], [y])([matrix])
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, matrix.toarray())


@check
def repeated_entries_add_up():
    matrix = scipy.sparse.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), (2, 2))
    x = K.placeholder((2, 2), sparse=True)
    np.testing.assert_array_equal(K.function([x], [K.to_dense(x)])([matrix])[0], [[0, 3], [4, 0]])


@check
def of_a_variable():
    matrix = scipy.sparse.random(4, 5, 0.4, "csr", "float32", rng=np.random.default_rng(0))
    np.testing.assert_array_equal(K.eval(K.to_dense(K.variable(matrix))), matrix.toarray())


@check(needs_numbers=False)
def a_dense_tensor_stays_itself():
    x = K.placeholder((2, 2))
    assert K.to_dense(x) is x
