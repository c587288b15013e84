"""dot: the matrix product, over the last axis of x and the second to last of y."""

import operator

import horngate as K
import numpy as np
import scipy.sparse
from cases import oracles
from cases.harness import case, check, error
from cases.inputs import rand

SHAPES = [
    ((2, 3), (3, 4)),
    ((2, 3), (4, 3, 5)),
    ((2, 4, 3), (3, 5)),
    ((2, 2, 3), (2, 3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((1, 1), (1, 1)),
    ((1, 7), (7, 5)),
    ((5, 7), (7, 1)),
    ((2, 3, 4, 5), (5, 2)),
]
for a, b in SHAPES:
    case(K.dot, [rand(*a), rand(*b)], oracle=oracles.dot if len(b) > 1 else np.dot, second=True)
# Nothing to add up gives zeros; no rows, no columns.
for a, b in [((2, 0), (0, 3)), ((0, 3), (3, 4)), ((2, 3), (3, 0)), ((0, 0), (0, 0))]:
    case(K.dot, [rand(*a), rand(*b)], oracle=np.dot)
for a, b in [
    ((61, 127), (127, 67)),
    ((1, 257), (257, 129)),
    ((131, 300), (300, 1)),
    ((3, 37, 64), (64, 33)),
]:
    case(K.dot, [rand(*a), rand(*b)], oracle=np.dot, none=False, grad=False, tol={"float32": 1e-5})
case(K.dot, [rand(5, 31), rand(31, 6)], oracle=np.dot, dtypes=("float16", "bfloat16"), tol=0.02)
for dtype in ("int8", "int32", "int64", "uint8"):
    case(K.dot, [rand(3, 4, high=0.4), rand(4, 2, high=0.4)], oracle=np.dot, dtypes=(dtype,))
case(K.dot, [rand(2, 3).known(1), rand(3, 4).known()], oracle=np.dot, none=(None, 4))
case(operator.matmul, [rand(2, 3), rand(3, 4)], oracle=np.matmul)
case(operator.matmul, [rand(5, 2, 3), rand(5, 3, 4)], oracle=np.matmul)
error(
    K.dot,
    [rand(2, 3), rand(4, 5)],
    text="dot: the summed axes must have the same length; got 3 (axis 1 of x, shape (2, 3)) and 4 (axis 0 of y, shape "
    "(4, 5)).",
)
error(
    K.dot,
    [rand(2, 3), rand(6, 4, 5)],
    text="dot: the summed axes must have the same length; got 3 (axis 1 of x, shape (2, 3)) and 4 (axis 1 of y, shape "
    "(6, 4, 5)).",
)
error(
    K.dot,
    [rand(), rand(2, 3)],
    text="dot: x and y must have at least 1 dimension; got shapes () and (2, 3).",
)


def random_matrix(rows, cols, density, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return scipy.sparse.random(rows, cols, density, "csr", dtype, rng=rng)


@check(dtype=("float32", "float64"), density=(0.0, 0.1, 1.0), rows=(0, 1, 7))
def sparse(dtype, density, rows):
    matrix = random_matrix(rows, 5, density, dtype)
    x, y = K.placeholder((None, 5), dtype=dtype, sparse=True), K.placeholder((5, 3), dtype=dtype)
    z = K.dot(x, y)
    assert not K.is_sparse(z) and K.int_shape(z) == (None, 3)
    dense = np.random.default_rng(1).uniform(-1, 1, (5, 3)).astype(dtype)
    [got] = K.function([x, y], [z])([matrix, dense])
    assert got.dtype == dtype
    np.testing.assert_allclose(got, matrix.toarray() @ dense, rtol=1e-5, atol=1e-6)


@check(form=("csr", "csc", "coo", "lil"))
def sparse_of_every_form(form):
    matrix = random_matrix(4, 6, 0.3, "float32").asformat(form)
    x = K.placeholder((4, 6), sparse=True)
    [got] = K.function([x], [K.dot(x, K.constant(np.eye(6)))])([matrix])
    np.testing.assert_array_equal(got, matrix.toarray())


@check(dtype=("float32", "float64"))
def gradient_of_a_sparse_product(dtype):
    """d sum(w * (S y)) / dy = S^T w."""
    matrix = random_matrix(6, 4, 0.4, dtype)
    weights = np.random.default_rng(1).uniform(-1, 1, (6, 3)).astype(dtype)
    x, y = K.placeholder((6, 4), dtype=dtype, sparse=True), K.placeholder((4, 3), dtype=dtype)
    [g] = K.gradients(K.sum(K.dot(x, y) * K.constant(weights, dtype=dtype)), [y])
    [got] = K.function([x, y], [g])([matrix, np.zeros((4, 3))])
    np.testing.assert_allclose(got, matrix.toarray().T @ weights, rtol=1e-5, atol=1e-6)


@check
def sparse_variable():
    matrix = random_matrix(4, 3, 0.5, "float32")
    v = K.variable(matrix)
    assert K.is_sparse(v)
    got = K.eval(K.dot(v, K.constant(np.ones((3, 2)))))
    np.testing.assert_allclose(got, matrix.toarray() @ np.ones((3, 2)), rtol=1e-6)


@check
def one_function_takes_any_number_of_entries():
    x = K.placeholder((5, 5), sparse=True)
    f = K.function([x], [K.dot(x, K.constant(np.eye(5)))])
    for seed in range(20):
        matrix = random_matrix(5, 5, 0.05 * seed, "float32", seed)
        np.testing.assert_array_equal(f([matrix])[0], matrix.toarray())


def sparse_matrix():
    return K.placeholder((4, 3), sparse=True)


error(
    lambda: K.dot(sparse_matrix(), K.zeros((4, 2))),
    [],
    label="dot(sparse, lengths)",
    text="dot: the summed axes must have the same length; got 3 (axis 1 of x, shape (4, 3)) and 4 (axis 0 "
    "of y, shape (4, 2)).",
)
error(
    lambda: K.dot(sparse_matrix(), K.zeros((2, 3, 2))),
    [],
    label="dot(sparse, ranks)",
    text="dot: a sparse x and y must have 2 dimensions each; got shapes (4, 3) and (2, 3, 2).",
)
error(
    lambda: K.exp(sparse_matrix()),
    [],
    raises=TypeError,
    label="exp(sparse)",
    text="exp: x must be dense; got a sparse tensor of shape (4, 3). Convert it with to_dense.",
)
error(
    K.dot,
    [rand(2, 3), rand(4, 3)],
    run=True,
    text="dot: axis 1 of shape (2, 3) and axis 0 of shape (4, 3) must have the same size.",
)
case(
    K.dot,
    [rand(301, 403), rand(403, 207)],
    oracle=np.dot,
    grad=False,
    none=False,
    tol={"float32": 2e-5},
)
def permuted(x, y, perm):
    return K.dot(K.permute_dimensions(x, perm), y)


for perm in [(1, 0, 2), (1, 2, 0), (0, 2, 1), (2, 0, 1)]:
    for kind in ("float16", "float32"):
        case(
            permuted,
            [rand(3, 3, 3), rand(3, 4)],
            perm=perm,
            oracle=lambda x, y, perm: np.transpose(x, perm) @ y,
            dtypes=(kind,),
            grad=False,
            tol={"float16": 4e-3, "float32": 1e-6},
        )


@check(sizes=((200, 512, 64), (1, 300, 70), (37, 2000, 33), (150, 1024, 17), (70, 400, 90)))
def with_a_variable(sizes):
    """What seldom changes is packed once, and packed again when it has changed; also turned round."""
    m, k, n = sizes
    rng = np.random.default_rng(m)
    feed = rng.uniform(-1, 1, (m, k))
    x, w, turned = K.placeholder((None, k)), K.variable(np.zeros((k, n))), K.variable(np.zeros((n, k)))
    f = K.function([x], [K.dot(x, w), K.dot(x, K.transpose(turned))])
    for _ in range(2):
        a, b = rng.uniform(-1, 1, (k, n)), rng.uniform(-1, 1, (n, k))
        K.set_value(w, a)
        K.set_value(turned, b)
        for rows in (m, 1, m - m // 3):
            got = f([feed[:rows]])
            np.testing.assert_allclose(got[0], feed[:rows] @ a, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(got[1], feed[:rows] @ b.T, rtol=1e-4, atol=1e-4)


for dtype in ("int8", "int32", "int64", "uint8"):
    case(K.dot, [rand(3, 5, high=9), rand(5, 300, high=9)], oracle=np.dot, dtypes=(dtype,))


@check(rows=(4, 40))
def many_equal_products_keep_their_digits(rows):
    """One chain of additions over all of them would be off by 7e-4."""
    n = 100000
    x, y = K.placeholder((rows, n)), K.placeholder((n, 40))
    got = K.function([x, y], [K.dot(x, y)])([np.full((rows, n), 0.1), np.full((n, 40), 0.1)])[0]
    np.testing.assert_allclose(got, np.full((rows, 40), 0.01 * n), rtol=5e-5)


@check(columns=(1, 17))
def long_sparse_rows_keep_their_digits(columns):
    """Also of the product with a transposed matrix, which is the gradient."""
    x = K.placeholder((None, None), sparse=True)
    w = K.placeholder((None, columns))
    y = K.dot(x, w)
    f = K.function([x, w], [y, K.gradients(y, w)[0]])
    n = 300000
    wanted = np.full((1, columns), 0.1 * n)
    row = scipy.sparse.csr_matrix(np.full((1, n), 0.1, "float32"))
    np.testing.assert_allclose(f([row, np.ones((n, columns))])[0], wanted, 1e-6)
    column = scipy.sparse.csr_matrix(np.full((n, 1), 0.1, "float32"))
    np.testing.assert_allclose(f([column, np.ones((1, columns))])[1], wanted, 1e-6)
