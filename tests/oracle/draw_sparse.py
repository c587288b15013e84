"""Sparse matrices, from SciPy's."""

import numpy as np
from draws import Draw, draws


def thin(r, *shape):
    x = r.normal(*shape)
    x[r.rng.uniform(size=shape) < 0.7] = 0
    return x


def matrix(x):
    import scipy.sparse

    return scipy.sparse.csr_matrix(x)


@draws("to_dense", "is_sparse", "dot", count=6)
def sparse(r):
    x = thin(r, *r.shape(2, 2))
    y = r.normal(x.shape[1], r.int(1, 4))

    def call(K, x, y):
        s = K.variable(matrix(x), dtype=str(x.dtype))
        dense = K.to_dense(s)
        return [
            np.asarray(K.is_sparse(s)),
            K.eval(dense),
            np.asarray(K.is_sparse(dense)),
            K.eval(K.dot(s, K.constant(y, dtype=str(y.dtype)))),
        ]

    return Draw([x, y], call, f"sparse {x.shape}", raw=True)


@draws("concatenate", count=4)
def joined(r):
    x, y = thin(r, 3, 4), thin(r, 2, 4)

    def call(K, x, y):
        parts = [K.variable(matrix(a), dtype=str(a.dtype)) for a in (x, y)]
        return K.eval(K.to_dense(K.concatenate(parts, axis=0)))

    return Draw([x, y], call, "sparse", raw=True)
