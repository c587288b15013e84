"""identity: a new tensor with the value of another."""

import horngate as K
import numpy as np
import scipy.sparse
from cases import families
from cases.harness import case, check
from cases.inputs import rand

for shape in [(2, 3), (), (0, 2)]:
    case(K.identity, [rand(*shape)], oracle=np.array, tol=0, second=True)
for dtype in ("int8", "uint64", "bool", "float16", "bfloat16"):
    case(K.identity, [rand(2, 3)], oracle=np.array, dtypes=(dtype,), tol=0)
families.edges(K.identity, np.array, [rand(1, 1)], [rand(*families.LARGE)], tol=0)


@check
def of_a_sparse_tensor():
    matrix = scipy.sparse.random(4, 3, 0.5, "csr", "float32", rng=np.random.default_rng(0))
    x = K.placeholder((4, 3), sparse=True)
    y = K.identity(x)
    assert K.is_sparse(y)
    np.testing.assert_array_equal(
        K.function([x], [K.dot(y, K.constant(np.eye(3)))])([matrix])[0], matrix.toarray()
    )
