"""concatenate: tensors one after the other along an axis."""

import horngate as K
import numpy as np
import pytest
import scipy.sparse
from cases import oracles
from cases.harness import case, check, error
from cases.inputs import ints, rand

for shapes, axis in [
    ([(2, 3), (2, 4)], 1),
    ([(2, 3), (2, 4)], -1),
    ([(2, 3), (1, 3), (4, 3)], 0),
    ([(2, 3), (2, 3)], -2),
    ([(5,), (1,), (0,)], 0),
    ([(2, 0), (2, 3)], 1),
    ([(0, 2), (0, 3)], 1),
    ([(2, 1, 3), (2, 5, 3)], 1),
    ([(3, 4)], 0),
    ([(1, 2, 2, 3), (1, 2, 2, 5), (1, 2, 2, 1)], 3),
]:
    case(
        K.concatenate,
        [[rand(*s) for s in shapes]],
        axis=axis,
        oracle=oracles.concatenate,
        tol=0,
        second=axis == -2,
    )
case(K.concatenate, [[rand(2, 3), rand(2, 4)]], oracle=oracles.concatenate)
case(
    K.concatenate,
    [[rand(131, 17), rand(131, 31), rand(131, 5)]],
    axis=1,
    oracle=oracles.concatenate,
    grad=False,
)
case(
    K.concatenate,
    [[rand(2, 3).known(1), rand(2, 4).known(1)]],
    axis=1,
    oracle=oracles.concatenate,
    none=(None, 7),
)
case(
    K.concatenate,
    [[rand(2, 3).known(0), rand(2, 3)]],
    axis=1,
    oracle=oracles.concatenate,
    none=(2, None),
)
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(
        K.concatenate,
        [[rand(2, 3), rand(2, 2)]],
        axis=1,
        oracle=oracles.concatenate,
        dtypes=(dtype,),
        tol=0,
    )
# The common dtype of several.
case(K.concatenate, [[rand(2, 3), ints(2, 2)]], axis=1, oracle=oracles.concatenate)


def twice(x):
    return K.concatenate([x, x], axis=0)


case(twice, [rand(2, 3)], oracle=lambda x: np.concatenate([x, x], 0))
error(K.concatenate, [[]], text="concatenate: tensors must hold at least one tensor.")
error(
    K.concatenate,
    [[rand(2, 3), rand(4, 3)]],
    axis=1,
    text="concatenate: shapes must agree except on axis=1; got (2, 3) and (4, 3), which differ on axis 0.",
)
error(
    K.concatenate,
    [[rand(2, 3), rand(2, 3, 1)]],
    text="concatenate: tensors must have the same number of dimensions; got shapes (2, 3) and (2, 3, 1).",
)
error(
    K.concatenate,
    [[rand(2, 3), rand(2, 3)]],
    axis=2,
    text="concatenate: axis must be in [-2, 2) for a tensor of shape (2, 3); got axis=2.",
)
error(
    K.concatenate,
    [[rand(), rand()]],
    axis=0,
    text="concatenate: tensors must have at least 1 dimension; got a scalar.",
)


@check(axis=(0, 1))
def sparse_variables_stay_sparse(axis):
    rng = np.random.default_rng(0)
    a, b = (scipy.sparse.random(3, 3, 0.5, "csr", "float32", rng=rng) for _ in range(2))
    joined = K.concatenate([K.variable(a), K.variable(b)], axis=axis)
    assert K.is_sparse(joined)
    np.testing.assert_array_equal(K.eval(joined), np.concatenate([a.toarray(), b.toarray()], axis))


@check(axis=(0, 1))
def sparse_beside_dense_is_dense(axis):
    a = scipy.sparse.random(3, 3, 0.5, "csr", "float32", rng=np.random.default_rng(0))
    joined = K.concatenate([K.variable(a), K.ones((3, 3))], axis=axis)
    assert not K.is_sparse(joined)
    np.testing.assert_array_equal(
        K.eval(joined), np.concatenate([a.toarray(), np.ones((3, 3))], axis)
    )


@check(axis=(0, 1))
def sparse_placeholders(axis):
    rng = np.random.default_rng(0)
    a, b = (scipy.sparse.random(3, 3, 0.5, "csr", "float32", rng=rng) for _ in range(2))
    xs = [K.placeholder((3, 3), sparse=True) for _ in range(2)]
    joined = K.concatenate(xs, axis=axis)
    assert K.is_sparse(joined)
    [got] = K.function(xs, [K.to_dense(joined)])([a, b])
    np.testing.assert_array_equal(got, np.concatenate([a.toarray(), b.toarray()], axis))


@check
def sparse_of_open_shapes():
    xs = [K.placeholder((None, 3), sparse=True), K.placeholder((2, None), sparse=True)]
    joined = K.concatenate(xs, axis=1)
    assert K.is_sparse(joined) and K.int_shape(joined) == (2, None)
    a, b = scipy.sparse.csr_matrix(np.eye(2, 3)), scipy.sparse.csr_matrix(np.ones((2, 4)))
    f = K.function(xs, [K.dot(joined, K.constant(np.eye(7)))])
    np.testing.assert_array_equal(f([a, b])[0], np.concatenate([np.eye(2, 3), np.ones((2, 4))], 1))


error(
    K.concatenate,
    [[rand(2, 3), rand(4, 3)]],
    axis=1,
    run=True,
    text="concatenate: shapes must agree except on axis=1; got (2, 3) and (4, 3), which differ on axis 0.",
)
case(
    K.concatenate,
    [[rand(301, 203), rand(301, 107)]],
    axis=1,
    oracle=oracles.concatenate,
    grad=False,
    none=False,
    tol=0,
)


@check(order=((0, 1, 2), (1, 0, 2), (1, 2, 0), (0, 3, 1), (3, 0, 3), (0, 0, 0)))
def gradients_of_parts_of_open_sizes(order):
    """Parts are found from the front, from the end, or by adding up sizes."""
    sizes = {0: None, 1: 3, 2: 2, 3: 1}
    parts = [K.placeholder((sizes[k], 2), dtype="float64") for k in order]
    joined = K.concatenate(parts, axis=0)
    f = K.function(parts, K.gradients(K.sum(joined * K.sin(joined)), parts))
    rng = np.random.default_rng(14)
    for rows in ((4, 1, 2), (1, 5, 3)):
        feeds = [rng.uniform(-1, 1, (sizes[k] or n, 2)) for k, n in zip(order, rows)]
        for got, fed in zip(f(feeds), feeds):
            np.testing.assert_allclose(got, np.sin(fed) + fed * np.cos(fed), rtol=1e-9)


@check(axis=(1, -1), taken=(np.s_[:, :2], np.s_[:, :1], np.s_[:, 2:], np.s_[:, 3:]))
def a_part_that_is_taken_out_again_still_has_to_fit(axis, taken):
    """A call looks at the rows that it alone knows even if the result needs the other part alone."""
    for shapes in [((None, 2), (3, 2)), ((3, 2), (None, 2)), ((None, 2), (None, 2))]:
        x, y = (K.placeholder(shape) for shape in shapes)
        z = K.concatenate([x, y], axis)[taken]
        f = K.function([x, y], [K.mean(z, 0), K.gradients(K.sum(z), x)[0]])
        np.testing.assert_array_equal(f([np.ones((3, 2))] * 2)[0], np.ones(z.shape[1]))
        for rows in [(5, 3), (3, 5), (1, 3)]:
            if all(a[0] in (None, n) for a, n in zip(shapes, rows)):
                with pytest.raises(ValueError, match="concatenate: shapes must agree"):
                    f([np.ones((n, 2)) for n in rows])
