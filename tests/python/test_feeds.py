"""What K.function takes: arrays of every kind and dtype, sparse matrices, the learning phase, tensors."""

import horngate as K
import numpy as np
import pytest
import scipy.sparse

DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_goes_in_and_out(dtype):
    x = K.placeholder((3,), dtype=dtype)
    a = np.array([0, 1, 2]).astype(dtype)
    [same] = K.function([x], [K.identity(x)])([a])
    assert same.dtype == dtype
    np.testing.assert_array_equal(same, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_feeds_are_cast(dtype):
    x = K.placeholder((3,), dtype="float32")
    [y] = K.function([x], [x + 0.5])([np.array([0, 1, 1], dtype=dtype)])
    assert y.dtype == "float32"
    np.testing.assert_array_equal(y, [0.5, 1.5, 1.5])


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]], ">f8"),
        np.array([[1, 3], [2, 4]], "float32").T,
        np.arange(1, 9, dtype="float32")[::2].reshape(2, 2) / 2 + 0.5,
        np.array([[4, 3], [2, 1]], "float32")[::-1, ::-1],
        np.array([[1, 2], [3, 4]], dtype=object),
        np.matrix([[1, 2], [3, 4]]),
        [np.array([1, 2]), [3, 4]],
    ],
    ids=lambda v: type(v).__name__,
)
def test_feeds_of_every_kind(value):
    x = K.placeholder((2, 2))
    np.testing.assert_array_equal(K.function([x], [x * 1])([value])[0], [[1, 2], [3, 4]])


def test_numbers_as_feeds():
    x = K.placeholder(())
    f = K.function([x], [x * 2])
    for value in (3, 3.0, np.float64(3), np.int32(3), np.array(3), np.array([9, 3, 9])[1]):
        assert f([value])[0] == 6


def test_bfloat16_comes_as_ml_dtypes_or_float32():
    x = K.placeholder((2,), dtype="bfloat16")
    f = K.function([x], [x * 2])
    [y] = f([[1.0, -2.5]])
    try:
        import ml_dtypes  # noqa: F401

        assert y.dtype.name == "bfloat16"
    except ImportError:
        assert y.dtype.name == "float32"
    np.testing.assert_array_equal(y.astype("float32"), [2, -5])
    np.testing.assert_array_equal(f([f([[1.0, -2.5]])[0]])[0], f([[2.0, -5.0]])[0])


def test_any_tensor_can_be_fed():
    x = K.placeholder((2,))
    h = x * 2
    y = h + 1
    np.testing.assert_array_equal(K.function([h], [y])([[10, 20]])[0], [11, 21])
    v = K.variable([1, 2])
    np.testing.assert_array_equal(K.function([v], [v * 3])([[5, 5]])[0], [15, 15])
    np.testing.assert_array_equal(K.get_value(v), [1, 2])


def test_none_among_inputs():
    x = K.placeholder((2,))
    f = K.function([None, x], [x + 1])
    np.testing.assert_array_equal(f([None, [1, 2]])[0], [2, 3])
    np.testing.assert_array_equal(f(["ignored", [1, 2]])[0], [2, 3])


def test_none_as_value():
    x, unused = K.placeholder((2,)), K.placeholder((3,))
    v = K.variable([5, 6])
    f = K.function([x, unused, v], [x + v])
    np.testing.assert_array_equal(f([[1, 2], [0, 0, 0], [0, 0]])[0], [1, 2])
    np.testing.assert_array_equal(f([[1, 2], None, None])[0], [6, 8])
    np.testing.assert_array_equal(f([[1, 2], None, [1, 1]])[0], [2, 3])
    with pytest.raises(ValueError, match="placeholder"):
        f([None, None, None])


@pytest.mark.parametrize(
    "one", [1, True, 1.0, [1], np.array(1), np.array([1]), np.bool_(True), np.float32(1)]
)
def test_learning_phase_is_fed(one):
    x = K.placeholder((2,))
    f = K.function([x, K.learning_phase()], [K.in_train_phase(x + 10, x)])
    np.testing.assert_array_equal(f([[1, 2], one])[0], [11, 12])
    zero = (
        type(one)([0])
        if isinstance(one, list)
        else np.zeros_like(one)
        if isinstance(one, np.ndarray)
        else type(one)(0)
    )
    np.testing.assert_array_equal(f([[1, 2], zero])[0], [1, 2])


def test_learning_phase_is_0_when_not_fed():
    x = K.placeholder((2,))
    y = K.in_train_phase(lambda: x + 10, lambda: x)
    np.testing.assert_array_equal(K.function([x], [y])([[1, 2]])[0], [1, 2])
    np.testing.assert_array_equal(
        K.function([x, K.learning_phase()], [y])([[1, 2], None])[0], [1, 2]
    )


def test_fixed_learning_phase():
    K.set_learning_phase(1)
    assert K.learning_phase() == 1 and isinstance(K.learning_phase(), int)
    x = K.placeholder((2,))
    f = K.function([x, K.learning_phase()], [K.in_train_phase(x + 10, x)])
    np.testing.assert_array_equal(f([[1, 2], 0])[0], [11, 12])
    with pytest.raises(ValueError):
        K.set_learning_phase(2)


def test_unfed_placeholders_are_named():
    x = K.placeholder((2,), name="forgotten")
    with pytest.raises(ValueError, match="forgotten"):
        K.eval(x + 1)
    with pytest.raises(ValueError, match="forgotten"):
        K.function([], [x + 1])


def test_sparse_feeds():
    x = K.placeholder((None, 4), sparse=True)
    w = K.variable(np.arange(8).reshape(4, 2))
    f = K.function([x], [K.dot(x, w), K.to_dense(x)])
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csc_array):
        dense = np.array([[0, 1, 0, 2], [3, 0, 0, 0]], "float64")
        product, back = f([kind(dense)])
        np.testing.assert_array_equal(product, dense @ np.arange(8).reshape(4, 2))
        np.testing.assert_array_equal(back, dense)
    dense_only = K.placeholder((None, 4))
    with pytest.raises(TypeError, match="sparse"):
        K.function([dense_only], [dense_only])([scipy.sparse.eye(4)])
    with pytest.raises(TypeError):
        f([np.eye(4)])


def test_sparse_variables_and_outputs():
    m = scipy.sparse.csr_matrix(np.array([[0, 1], [2, 0]], "float32"))
    v = K.variable(m)
    assert K.is_sparse(v)
    np.testing.assert_array_equal(K.eval(v), m.toarray())
    np.testing.assert_array_equal(K.get_value(v), m.toarray())
    [got] = K.function([], [v])([])
    assert scipy.sparse.issparse(got) and got.format == "coo" and got.dtype == "float32"
    np.testing.assert_array_equal(got.toarray(), m.toarray())


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_sparse_variables_are_copies(index):
    """Changes of the matrix afterwards do not reach the variable, nor those of a value that it gave."""
    m = scipy.sparse.csr_matrix(np.eye(4, dtype="float32"))
    m.indices, m.indptr = m.indices.astype(index), m.indptr.astype(index)
    v = K.variable(m)
    f = K.function([], [K.dot(v, K.ones((4, 3)))])
    m.data[:], m.indices[:] = 7, 2**31 - 1
    for made in (K.get_value(v), K.batch_get_value([v])[0], K.function([], [v, v])([])[0]):
        if scipy.sparse.issparse(made):
            made.data[:], made.row[:], made.col[:] = 9, 3, 3
        else:
            made[:] = 9
        np.testing.assert_array_equal(f([])[0], np.ones((4, 3)))


def test_sparse_outputs_are_arrays_of_their_own():
    x = K.placeholder((None, 3), sparse=True)
    f = K.function([x], [K.concatenate([x, x], axis=0), K.transpose(x), x, K.to_dense(x)])
    rng = np.random.default_rng(0)
    matrices = [scipy.sparse.random(4, 3, d, "csr", "float32", rng=rng) for d in (0, 0.3, 1)]
    results = [f([m]) for m in matrices]
    for m, (twice, turned, same, dense) in zip(matrices, results, strict=True):
        np.testing.assert_array_equal(twice.toarray(), np.concatenate([m.toarray()] * 2))
        np.testing.assert_array_equal(turned.toarray(), m.toarray().T)
        np.testing.assert_array_equal(same.toarray(), m.toarray())
        np.testing.assert_array_equal(dense, m.toarray())
        assert turned.shape == (3, 4) and turned.nnz == m.nnz


def test_tensors_stand_for_values():
    """Keras trains on tensors: their values are computed when the function is called."""
    x, y = K.placeholder((2,)), K.placeholder((2,))
    f = K.function([x, y], [x * 10 + y])
    v = K.variable([1.0, 2.0])
    np.testing.assert_array_equal(f([v, v + 1])[0], [12, 23])
    K.set_value(v, [3.0, 4.0])
    np.testing.assert_array_equal(f([v, [0, 0]])[0], [30, 40])
    np.testing.assert_array_equal(f([v, K.constant([1, 2], dtype="int32")])[0], [31, 42])
    with pytest.raises(ValueError, match="shape"):
        f([K.zeros((3,)), v])
    with pytest.raises(ValueError, match="placeholder"):
        f([x, v])


def test_slice_by_numbers_that_only_a_call_knows():
    """-1 is what is left; what there is not is an error, as for numbers that are known."""
    x = K.constant(np.arange(12.0).reshape(4, 3))
    start, size = K.placeholder((2,), dtype="int32"), K.placeholder((2,), dtype="int32")
    f = K.function([start, size], [K.slice(x, start, size)])
    for b, n in [([1, 0], [-1, 2]), ([0, 1], [2, -1]), ([4, 3], [-1, -1]), ([2, 2], [0, 1])]:
        wanted = np.arange(12.0).reshape(4, 3)[b[0] :, b[1] :]
        wanted = wanted[: n[0] if n[0] >= 0 else None, : n[1] if n[1] >= 0 else None]
        np.testing.assert_array_equal(f([b, n])[0], wanted)
    for b, n in [
        ([0, 0], [9, 1]),
        ([-2, 0], [1, 1]),
        ([7, 0], [1, 1]),
        ([7, 0], [-1, 1]),
        ([0, 0], [-2, 1]),
    ]:
        with pytest.raises(ValueError, match="slice"):
            f([b, n])
    known = K.function([size], [K.slice(x, [1, 0], size)])
    assert known([[-1, 2]])[0].shape == (3, 2)


def test_one_hot_with_a_number_of_classes_that_only_a_call_knows():
    n = K.placeholder((), dtype="int64")
    f = K.function([n], [K.one_hot(K.constant([0, 2], dtype="int32"), n)])
    np.testing.assert_array_equal(f([3])[0], np.eye(3)[[0, 2]])


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_one_hot_with_more_classes_than_the_indices_can_name(dtype):
    indices, n = K.constant([0, 2], dtype=dtype), K.placeholder((), dtype="int64")
    wanted = np.eye(300)[[0, 2]]
    np.testing.assert_array_equal(K.eval(K.one_hot(indices, 300)), wanted)
    np.testing.assert_array_equal(K.function([n], [K.one_hot(indices, n)])([300])[0], wanted)


def test_lists_of_large_integers():
    """NumPy alone would make float64 of a list that needs uint64 and int64."""
    for big in ([1, 2**63 + 1], [5, 2**64 - 1], (2**63, 0)):
        wanted = np.array(big, "uint64")
        x = K.placeholder((2,), dtype="uint64")
        v = K.variable([0, 0], dtype="uint64")
        K.set_value(v, big)
        for got in (
            K.eval(K.constant(big, dtype="uint64")),
            K.get_value(K.variable(big, dtype="uint64")),
            K.get_value(v),
            K.function([x], [x])([big])[0],
        ):
            np.testing.assert_array_equal(got, wanted)


def test_arrays_in_the_other_byte_order():
    for dtype in (">f4", ">f8", ">i4", ">u2"):
        a = np.array([[1, 2], [3, 4]], dtype)
        x = K.constant([[1, 1], [1, 1]], dtype=a.dtype.newbyteorder("=").name)
        np.testing.assert_array_equal(K.eval(x + a), a + 1)
        np.testing.assert_array_equal(K.eval(K.maximum(x, a)), a)
        np.testing.assert_array_equal(K.eval(K.sum(a)), 10)


def test_what_an_object_raises_is_raised():
    class Stubborn:
        def __float__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        K.variable(np.array([1.0, Stubborn()], dtype=object))
    with pytest.raises(TypeError, match="got a list whose parts have different shapes"):
        K.variable([[1, 2], [3]])
