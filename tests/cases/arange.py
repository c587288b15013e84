"""arange: counting."""

import horngate as K
import numpy as np
from cases.harness import check, error

ARGUMENTS = [
    (5,),
    (0,),
    (-3,),
    (2, 8),
    (2, 8, 3),
    (8, 2, -2),
    (8, 2),
    (0, 1, 0.25),
    (1.5, 4),
    (-2, 3, 2),
    (3, 3),
]


@check(arguments=ARGUMENTS, dtype=("int32", "int64", "float32", "float64"))
def of_numbers(arguments, dtype):
    if dtype.startswith("int") and any(a != int(a) for a in arguments):
        return
    wanted = np.arange(*arguments).astype(dtype)
    y = K.arange(*arguments, dtype=dtype)
    assert K.int_shape(y) == wanted.shape and K.dtype(y) == dtype
    got = K.eval(y)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, wanted)


@check
def is_int32_when_nothing_is_said():
    assert K.dtype(K.arange(3)) == "int32"


@check(arguments=[(5,), (0,), (2, 8), (2, 8, 3), (8, 2, -2), (8, 2)])
def of_tensors(arguments):
    xs = [K.placeholder((), dtype="int32") for _ in arguments]
    y = K.arange(*xs)
    assert K.int_shape(y) == (None,)
    f = K.function(xs, [y])
    np.testing.assert_array_equal(f(list(arguments))[0], np.arange(*arguments))


@check
def of_a_shape():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.arange(K.shape(x)[0])])
    for n in (0, 1, 5):
        np.testing.assert_array_equal(f([np.zeros((n, 3))])[0], np.arange(n))


error(
    K.arange,
    [0, 5, 0],
    text="arange: start, stop and step must be finite, and step not 0; got 0, 5 and 0.",
)
error(
    K.arange,
    [2**63, 2**63 + 2],
    dtype="uint64",
    text="arange: start and stop must be below 2^63; got 9223372036854775808 and 9223372036854775808.",
)
error(
    K.arange,
    [0, 2**63 + 2**62, 2**62],
    dtype="uint64",
    text="arange: stop must be below 2^63; got 13835058055282163712.",
)


FLOATS = [
    (0.0, 1.5, 0.3),
    (0.0, 1.0, 0.1),
    (1.0, 0.0, -0.1),
    (0.0, 0.6, 0.2),
    (-1.5, 1.5, 0.3),
    (0.0, -1.0, 0.1),
    (0.5, 3.7, 0.4),
    (2.0, 2.0, 0.7),
]


@check(arguments=FLOATS, given=(0, 1, 2))
def of_float_tensors(arguments, given):
    """As many as NumPy has, which divides in floats: 1.5 / 0.3 is 5, five times 0.3 below 1.5."""
    x = K.placeholder((), dtype="float64")
    made = [x if i == given else a for i, a in enumerate(arguments)]
    got = K.function([x], [K.arange(*made, dtype="float64")])([arguments[given]])[0]
    wanted = np.arange(*arguments)
    assert got.shape == wanted.shape == K.eval(K.arange(*arguments, dtype="float64")).shape
    np.testing.assert_allclose(got, wanted, rtol=1e-15, atol=1e-15)


NUMPYS = {None: float, "float16": np.float16, "float32": np.float32, "float64": np.float64}
NUMPYS |= {"int8": np.int8, "int16": np.int16, "int32": np.int32}


@check(
    given=[
        (None, "float32", None),
        (None, None, "float32"),
        ("float32", "float32", "float32"),
        ("float16", "float16", "float16"),
        ("float32", "float64", None),
        ("float16", "float32", None),
        ("int8", "float16", None),
        ("int16", "float16", None),
        (None, "int32", "float32"),
        ("int32", "int32", None),
    ]
)
def of_float_tensors_in_their_dtypes(given):
    """As many as NumPy counts, which rounds each operation to the dtype of its operands."""
    rng = np.random.default_rng(7)
    xs = [d and K.placeholder((), dtype=d) for d in given]
    fed = [x for x in xs if x is not None]
    cases = [(0.0, 0.3, 0.1), (0.0, 1.5, 0.3), (0.3, 0.0, -0.1)]
    for _ in range(40):
        start, step = round(rng.uniform(-2, 2), 1), round(rng.uniform(0.1, 1), 2)
        cases.append((start, round(start + rng.integers(1, 30) * step, 2), step))
    f = None
    for case in cases:
        values = [np.array(NUMPYS[d](v)).item() for d, v in zip(given, case, strict=True)]
        wanted = np.arange(*[NUMPYS[d](v) for d, v in zip(given, values, strict=True)])
        if f is None or len(fed) < 3:
            arguments = [v if x is None else x for x, v in zip(xs, values, strict=True)]
            f = K.function(fed, [K.arange(*arguments, dtype="float32")])
        got = f([v for x, v in zip(xs, values, strict=True) if x is not None])[0]
        assert got.shape == wanted.shape, values
        np.testing.assert_allclose(got, wanted, rtol=1e-2, atol=2e-2)


@check
def of_more_than_float16_can_count():
    ends = [K.constant(v, dtype="float16") for v in (0, 60000, 0.5)]
    assert K.eval(K.arange(*ends)).shape == (120000,)


UNFED = K.placeholder((), dtype="float32")
FINITE = "arange: start, stop and step must be finite, and step not 0; got "
for arguments, text in [
    ((UNFED, 5, 0), "0 for step."),
    ((0, K.placeholder((), dtype="int32"), 0), "0 for step."),
    ((0, UNFED, K.constant(0.0)), "0 for step."),
    ((0, UNFED, K.constant([0], dtype="int32")), "0 for step."),
    ((0, UNFED, float("nan")), "nan for step."),
    ((0, UNFED, float("inf")), "inf for step."),
    ((float("-inf"), UNFED), "-inf for start."),
    ((UNFED, float("nan")), "nan for stop."),
    ((0, K.constant(np.inf), UNFED), "inf for stop."),
]:
    error(K.arange, list(arguments), text=FINITE + text)
