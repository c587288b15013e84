"""What groups of element-wise steps share: values that several of them read, large enough that they are computed
again instead of kept, beside readers that need them kept; memory that a result takes over from an operand."""

import horngate as K
import numpy as np
import pytest

RNG = np.random.default_rng(11)
X = RNG.standard_normal((96, 128)).astype("float32")
W = (RNG.standard_normal((128, 64)) / 8).astype("float32")

# Programs of `x` (96, 128) and `w` (128, 64); one form in K, one in NumPy. `v` is cheap and has several readers.
PROGRAMS = {
    "a product": lambda k, x, w: [k.exp(v := x * 2 + 1), k.sum(k.sin(v), 1), k.dot(v, w)],
    "a result": lambda k, x, w: [k.exp(v := x * 2 + 1), k.sum(k.sin(v), 1), v],
    "a turned copy": lambda k, x, w: [k.tanh(v := x - 1), k.max(k.abs(v), 1), k.transpose(v)],
    "steps after a product": lambda k, x, w: [
        k.exp(v := x - k.mean(x, 1, keepdims=True)),
        k.sum(v * v, 1),
        k.dot(k.exp(v) * v, w),
        k.sum(k.tanh(v), 0),
    ],
    "readers of readers": lambda k, x, w: [
        k.sum(k.exp(v := x - k.max(x, 1, keepdims=True)), 1),
        k.sum(u := v * 3 + x, 1),
        k.sum(k.sin(u), 0),
        k.sum(k.cos(u) * v, 1),
        k.dot(k.sin(u), w),
    ],
    "readers of readers that are results": lambda k, x, w: [
        u := (v := x * 2 - k.mean(x, 0, keepdims=True)) - 1,
        k.sum(k.exp(u), 1),
        k.sum(k.sin(u) * v, 1),
        k.exp(v) + u,
    ],
    "a reversed operand": lambda k, x, w: [k.sin(v := k.exp(x))[::-1] + v, k.sum(v[::-1] * v, 0)],
    "its own rows backwards": lambda k, x, w: [(v := k.exp(x) + 1)[200::-1] * 2 + v[:, 200::-1]],
    "a product backwards": lambda k, x, w: [
        k.dot(k.sin(k.dot(x, w)[200::-1]) * 2, k.transpose(w)),
    ],
    "a product and it backwards": lambda k, x, w: [
        k.dot(k.sin((u := k.dot(x, w)) + u[200::-1]), k.transpose(w)),
    ],
    "the first row of all": lambda k, x, w: [(v := k.exp(x)) + v[0:1] * 2, k.sum(v, 1)],
}


class Numpy:
    """The names of K that the programs use, in NumPy."""

    exp, sin, cos, tanh, abs, dot, transpose = (
        np.exp,
        np.sin,
        np.cos,
        np.tanh,
        np.abs,
        np.dot,
        np.transpose,
    )

    @staticmethod
    def sum(x, axis):
        return np.sum(x, axis)

    @staticmethod
    def max(x, axis, keepdims=False):
        return np.max(x, axis, keepdims=keepdims)

    @staticmethod
    def mean(x, axis, keepdims=False):
        return np.mean(x, axis, keepdims=keepdims)


@pytest.mark.parametrize("rows", [96, 1, 7])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_with_several_readers(name, rows):
    make = PROGRAMS[name]
    x, w = K.placeholder((None, 128)), K.variable(W)
    got = K.function([x], make(K, x, w))([X[:rows]])
    wanted = make(Numpy, X[:rows].astype("float64"), W.astype("float64"))
    for a, b in zip(got, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-3)


CHAINS = {
    "constants": [lambda x, y, c=c: (x * c + y) * x - c for c in (0.5, 2.0, -3.0)],
    "comparisons": [
        lambda x, y, f=f: K.cast(f(x, y), "float32") * x + y
        for f in (K.less, K.less_equal, K.greater, K.greater_equal, K.equal, K.not_equal)
    ],
    "roundings": [lambda x, y: K.round(x * 3) + y, lambda x, y: K.sqrt(K.abs(x * 3)) + y],
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_that_differ_in_little(name):
    """Compiled loops are shared by those that are equal, while the functions are there."""
    rng = np.random.default_rng(12)
    a = np.round(rng.uniform(-2, 2, 300), 1).astype("float32")
    b = np.where(rng.uniform(size=300) < 0.3, a, a + rng.uniform(-1, 1, 300)).astype("float32")
    functions = []
    for chain in CHAINS[name]:
        x, y = K.placeholder((None,)), K.placeholder((None,))
        functions.append(K.function([x, y], [chain(x, y)]))
    together = [f([a, b])[0] for f in functions]
    for chain, got in zip(CHAINS[name], together):
        # In pieces too short to be compiled.
        x, y = K.placeholder((None,)), K.placeholder((None,))
        alone = K.function([x, y], [chain(x, y)])
        pieces = [alone([a[k : k + 20], b[k : k + 20]])[0] for k in range(0, 300, 20)]
        np.testing.assert_array_equal(got, np.concatenate(pieces))


@pytest.mark.parametrize("n", [20, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_conditions_of_conditions(dtype, n):
    """Bools that are made, compared and used inside of one chain."""
    rng = np.random.default_rng(n)
    a, b, c = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(3))
    x, y, z = (K.placeholder((n,), dtype=dtype) for _ in range(3))
    p, q, r = K.less(x, 0), K.greater_equal(y, 0), K.less_equal(z, x)
    made = [K.equal(p, q), K.not_equal(p, q), K.equal(K.not_equal(p, r), q), K.maximum(p, q)]
    got = K.function([x, y, z], [K.cast(m, dtype) * x + K.switch(m, y, z) for m in made])([a, b, c])
    p, q, r = a < 0, b >= 0, c <= a
    for result, m in zip(got, [p == q, p != q, (p != r) == q, p | q]):
        np.testing.assert_allclose(result, m * a + np.where(m, b, c), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n", [20, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_beyond_the_range(dtype, n):
    """Limits of exp and its like, and those that a program sets, hold for all that a product can be."""
    rng = np.random.default_rng(n)
    some = [0.0, -0.0, 1.0, -1.0, 30.0, -30.0, 1e3, -1e3, np.inf, -np.inf]
    a, b = (
        np.where(rng.uniform(size=n) < 0.5, rng.choice(some, n), rng.normal(size=n)) for _ in "ab"
    )
    a, b = a.astype(dtype), b.astype(dtype)
    x, y = (K.placeholder((n,), dtype=dtype) for _ in "ab")
    p = x * y
    made = [K.exp(p), K.exp(-p), K.sigmoid(p), K.tanh(p), K.clip(p, -0.5, 2), K.relu(p), K.elu(p)]
    made += [K.maximum(p, -3), K.minimum(p, 3), K.hard_sigmoid(p), K.softplus(p), K.log(p * p)]
    low, high = K.constant(-3, dtype=dtype), K.constant(3, dtype=dtype)
    made += [
        K.maximum(low, p),
        K.minimum(high, -p),
        K.minimum(high, p * p),
        K.maximum(low, -(p * p)),
    ]
    got = K.function([x, y], [m + 1 for m in made])([a, b])
    alone = [K.function([x, y], [m + 1])([a, b])[0] for m in made]
    with np.errstate(all="ignore"):
        p = (a * b).astype("float64")
        wanted = [np.exp(p), np.exp(-p), 1 / (1 + np.exp(-p)), np.tanh(p), np.clip(p, -0.5, 2)]
        wanted += [np.maximum(p, 0), np.where(p > 0, p, np.expm1(p)), np.maximum(p, -3)]
        wanted += [
            np.minimum(p, 3),
            np.clip(p * 0.2 + 0.5, 0, 1),
            np.logaddexp(p, 0),
            np.log(p * p),
        ]
        wanted += [
            np.maximum(-3, p),
            np.minimum(3, -p),
            np.minimum(3, p * p),
            np.maximum(-3, -p * p),
        ]
        wanted = [(w + 1).astype(dtype) for w in wanted]
    numbers = ~np.isnan(p)
    for results in (got, alone):
        for result, w in zip(results, wanted):
            np.testing.assert_allclose(result[numbers], w[numbers], rtol=1e-5, atol=1e-6)


ROWS, COLUMNS = RNG.standard_normal((1200, 32)), RNG.standard_normal((32, 1024)) / 8


def test_rows_that_a_later_step_reads():
    """Steps over the same rows, a few at a time: a result may not take memory that is still read."""
    t = RNG.standard_normal((1024, 8)) / 8
    x, y, z = K.placeholder((None, 32)), K.variable(COLUMNS), K.variable(t)
    for f, oracle in (
        (K.softmax, lambda u: np.exp(u) / np.exp(u).sum(1, keepdims=True)),
        (K.exp, np.exp),
    ):
        u = K.dot(x, y)
        s = f(u)
        sums = K.sum(s * K.max(s, 1, keepdims=True) + u, 1)
        got = K.function([x], [sums, K.dot(s, z)])([ROWS])
        u = ROWS @ COLUMNS
        s = oracle(u)
        wanted = (s * s.max(1, keepdims=True) + u).sum(1)
        np.testing.assert_allclose(got[0], wanted, rtol=1e-3, atol=1e-2)
        np.testing.assert_allclose(got[1], s @ t, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("row", [0, 5])
def test_a_row_that_all_rows_read(row):
    """One row of what is made a few rows at a time."""
    x, y = K.placeholder((None, 32)), K.variable(COLUMNS)
    q = K.sin(K.dot(x, y))
    got = K.function([x], [K.sum(q * q[row : row + 1], 1)])([ROWS])[0]
    q = np.sin(ROWS @ COLUMNS)
    np.testing.assert_allclose(got, (q * q[row : row + 1]).sum(1), rtol=1e-3, atol=1e-2)
