"""transpose: the axes in reverse order."""

import horngate as K
import numpy as np
import scipy.sparse
from cases.harness import case, check
from cases.inputs import rand

for shape in [(2, 3), (3,), (), (2, 3, 4), (1, 5), (0, 3), (2, 3, 4, 5), (67, 129)]:
    case(K.transpose, [rand(*shape)], oracle=np.transpose, tol=0, second=len(shape) == 2)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.transpose, [rand(3, 4)], oracle=np.transpose, dtypes=(dtype,), tol=0)
case(K.transpose, [rand(2, 3, 4).known(0)], oracle=np.transpose, none=(None, None, 2))


@check
def sparse_variable():
    matrix = scipy.sparse.random(4, 3, 0.5, "csr", "float32", rng=np.random.default_rng(0))
    t = K.transpose(K.variable(matrix))
    assert K.is_sparse(t)
    np.testing.assert_array_equal(K.eval(t), matrix.toarray().T)


@check(rows=(0, 4))
def sparse_placeholder(rows):
    matrix = scipy.sparse.random(rows, 3, 0.5, "csr", "float32", rng=np.random.default_rng(0))
    x, y = K.placeholder((None, 3), sparse=True), K.placeholder((None, 2))
    t = K.transpose(x)
    assert K.is_sparse(t) and K.int_shape(t) == (3, None)
    dense = np.random.default_rng(1).uniform(-1, 1, (rows, 2))
    got, product = K.function([x, y], [K.to_dense(t), K.dot(t, y)])([matrix, dense])
    np.testing.assert_array_equal(got, matrix.toarray().T)
    np.testing.assert_allclose(product, matrix.toarray().T @ dense, rtol=1e-5, atol=1e-6)


case(K.transpose, [rand(513, 517)], oracle=np.transpose, grad=False, none=False, tol=0)
