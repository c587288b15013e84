"""cast: another element type."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, check, error, ulps
from cases.inputs import away, data, rand

FLOATS = ("float16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def numpy_cast(x, dtype):
    return x.astype("float32" if dtype == "bfloat16" else dtype)


for dtype in FLOATS:
    case(
        K.cast,
        [rand(3, 4, high=3)],
        dtype=dtype,
        oracle=numpy_cast,
        out=dtype,
        dtypes=FLOATS + ("int32", "bool"),
    )
    case(
        K.cast,
        [rand(3, 4, high=3)],
        dtype=dtype,
        oracle=numpy_cast,
        out=dtype,
        dtypes=INTS,
        none=False,
    )
for dtype in INTS:
    # Truncation towards 0.
    case(K.cast, [data([0.0, 0.9, 1.5, 2.999, 100.25])], dtype=dtype, oracle=numpy_cast, out=dtype)
    case(
        K.cast,
        [rand(3, 4, low=0, high=9)],
        dtype=dtype,
        oracle=numpy_cast,
        out=dtype,
        dtypes=INTS + ("bool",),
    )
for dtype in ("int8", "int32", "int64"):
    case(K.cast, [data([-0.9, -1.5, -100.25])], dtype=dtype, oracle=numpy_cast, out=dtype)
case(
    K.cast,
    [data([0.0, -0.0, 0.3, np.nan, np.inf, 1e-40])],
    dtype="bool",
    oracle=numpy_cast,
    dtypes=FLOATS,
    grad=False,
)
case(K.cast, [rand(3, 4)], dtype="bool", oracle=numpy_cast, dtypes=INTS)
# Wrap-around between integers, as in C and NumPy.
for to in ("uint8", "int32"):
    case(
        K.cast,
        [data([-1, 255, 256, 2**31, 2**40 + 7], "int64")],
        dtype=to,
        oracle=numpy_cast,
        out=to,
        dtypes=("float32",),
    )
# Too large for float16; halfway between two of its numbers.
case(
    K.cast,
    [data([65504.0, 65519.0, 65520.0, 1e9, -1e9, 2049.0, 2051.0, 6e-8, 2e-8, np.nan])],
    dtype="float16",
    oracle=numpy_cast,
    out="float16",
    tol=ulps(0.5),
    label="cast(to float16)",
)
case(
    K.cast,
    [away(4, 9, high=1e4)],
    dtype="bfloat16",
    oracle=numpy_cast,
    out="bfloat16",
    tol=ulps(0.5),
    dtypes=FLOATS,
)
error(
    K.cast,
    [rand(2)],
    dtype="float99",
    raises=TypeError,
    text="cast: dtype must be one of float16, bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, "
    'uint32, uint64, bool; got "float99".',
)


@check(dtype=("float16", "bfloat16", "float32", "float64"))
def gradient_has_the_dtype_of_x(dtype):
    x = K.placeholder((3,), dtype=dtype)
    [g] = K.gradients(K.sum(K.cast(x, "float32") * 3), [x])
    assert K.dtype(g) == dtype
    [value] = K.function([x], [K.cast(g, "float64")])([np.ones(3)])
    np.testing.assert_array_equal(value, [3, 3, 3])


@check(dtype=("int32", "bool"))
def nothing_flows_through_whole_numbers(dtype):
    x = K.placeholder((3,))
    assert K.gradients(K.cast(K.cast(x, dtype), "float32"), [x]) == [None]


# What no number of the dtype is: as NumPy on x86-64, through int32 or int64, then modulo 2^bits.
# (NumPy itself makes of -3e9 to uint32 one thing in short arrays and another in long ones.)
ODD = [300.0, -1.0, -300.5, 3e9, -3e9, 5e9 + 7, 1e19, -1e19, 2.0**63, 2.0**64, 1e30, 255.9, 2.0**31]
ODD += [-(2.0**31), -(2.0**31) - 0.5, 2.0**32 - 1, np.inf, -np.inf, np.nan, -0.0, 0.99, 1e-310]


def to_integers(x, dtype):
    """The meaning of cast, in Python's integers."""
    bits = {"int64": 64, "uint32": 64, "uint64": 64}.get(dtype, 32)
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1)

    def one(v):
        v = float(v)
        if dtype == "uint64" and v >= high:
            whole = int(v) if v < 2 * high else 0
        else:
            whole = int(v) if np.isfinite(v) and low <= int(v) < high else low
        return whole % 2 ** (8 * np.dtype(dtype).itemsize)

    return np.array([one(v) for v in x.ravel()], "uint64").astype(dtype).reshape(x.shape)


@check(source=FLOATS, to=INTS, length=(1, 7, 8, 16, 33, 200))
def floats_that_are_no_such_integer(source, to, length):
    odd = np.array(ODD)
    if K.backend() in ("cntk", "theano"):  # they have their own idea of what does not fit
        info = np.iinfo(to)
        odd = odd[(odd > max(info.min, -(2.0**30))) & (odd < min(info.max, 2.0**30))]
    with np.errstate(over="ignore", invalid="ignore"):
        data = np.resize(odd.astype(source), length)
        numpys = data.astype(to)
    want = to_integers(data, to)
    if to != "uint32":
        np.testing.assert_array_equal(want, numpys)
    x = K.placeholder((None,), dtype=source)
    step = lambda v, s: (K.cast(K.cast(v, to), "int64"), [])
    looped = K.rnn(step, K.reshape(x, (1, -1, 1)), [], input_length=length)[1]
    [fed, loop] = K.function([x], [K.cast(x, to), K.cast(K.reshape(looped, (-1,)), to)])([data])
    np.testing.assert_array_equal(fed, want)
    np.testing.assert_array_equal(loop, want)
    constant = K.cast(K.constant(data, dtype=source), to)
    np.testing.assert_array_equal(K.eval(constant), want)
    np.testing.assert_array_equal(K.eval(K.cast(K.variable(data, dtype=source), to)), want)


def cast_once(x, dtype):
    if x.dtype.kind == "f" and np.dtype(dtype).kind in "iu":
        return to_integers(x, dtype)
    with np.errstate(over="ignore"):
        return x.astype(dtype)


@check(source=("float32", "float64", "int16", "int64", "uint32"), via=FLOATS + INTS)
def of_a_cast(source, via):
    """The dtype between two others counts. One function each: a cast that several read stays."""
    values = [0, 1, 44, 100, 0.75, 1.5, 2.999]
    if K.backend() not in ("cntk", "theano"):  # they have their own idea of what does not fit
        values += ODD + [16777217.0, 2049.0, 2.0**53 + 2, -70000.0, 2.0**40 + 7]
    if source.startswith("float"):
        with np.errstate(over="ignore"):
            data = np.resize(np.array(values).astype(source), 67)
    else:
        whole = [int(v) for v in values if np.isfinite(v) and abs(v) < 2**62]
        data = np.resize(np.array(whole, "int64").astype(source), 67)
    for to in (*INTS, "float32", "float64"):
        x = K.placeholder((None,), dtype=source)
        [got] = K.function([x], [K.cast(K.cast(x, via), to)])([data])
        np.testing.assert_array_equal(got, cast_once(cast_once(data, via), to), to)


@check(source=INTS, to=INTS)
def integers_wrap_around(source, to):
    info = np.iinfo(source)
    data = np.array([info.min, info.max, 0, 1, 44, 100, info.max - 200 % info.max], source)
    x = K.placeholder((None,), dtype=source)
    want = data.astype(to)
    [fed] = K.function([x], [K.cast(x, to)])([data])
    np.testing.assert_array_equal(fed, want)
    np.testing.assert_array_equal(K.eval(K.cast(K.constant(data, dtype=source), to)), want)


@check(n=(1, 127, 128, 255, 256, 300, 40000, 70000))
def shape_arithmetic_has_dtypes(n):
    """What is computed while planning is what would be computed while running."""
    x = K.placeholder((None, 2))
    size = K.shape(x)[0]
    ys, wants = [], []
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        small, number = K.cast(size, dtype), np.array([n]).astype(dtype)
        with np.errstate(over="ignore"):
            wants += [number, number + number, number * number, number - number - number, -number]
            wants += [(number < 200).astype("int64")]
        ys += [small, small + small, small * small, small - small - small, -small]
        ys += [K.less(small, K.constant(100, dtype=dtype) + K.constant(100, dtype=dtype))]
        with np.errstate(over="ignore"):
            two = np.array([100], dtype) + np.array([100], dtype)
        wants[-1] = (number < two).astype("int64")
    got = K.function([x], [K.cast(y, "int64") for y in ys])([np.zeros((n, 2), "f")])
    for y, want in zip(got, wants, strict=True):
        assert int(y) == int(want[0].astype("int64"))


@check
def a_shape_of_wrapped_numbers():
    x = K.placeholder((None,))
    wrapped = K.cast(K.cast(K.shape(x)[0], "uint8"), "int32")
    y = K.zeros_like(x)[:wrapped]
    got, n = K.function([x], [y, wrapped])([np.zeros(300)])
    assert n == 44 and got.shape == (44,)
    got, n = K.function([x], [K.tile(x[:1], (wrapped,)), wrapped * 2])([np.zeros(300)])
    assert n == 88 and got.shape == (44,)


families.edges(
    K.cast,
    numpy_cast,
    [rand(0, 3)],
    [rand(1, 1)],
    [rand(*families.LARGE)],
    dtype="float64",
    out="float64",
)


@check(dtype=("int8", "int16", "uint8", "uint16"), n=(5, 300))
def of_integers_that_wrapped(dtype, n):
    """Sums, differences and products leave the dtype's range in the middle of a chain, and come back."""
    rng = np.random.default_rng(n)
    info = np.iinfo(dtype)
    a, b = (rng.integers(info.min, info.max + 1, n, dtype=dtype) for _ in range(2))
    x, y = K.placeholder((n,), dtype=dtype), K.placeholder((n,), dtype=dtype)
    other = {"int8": "uint8", "int16": "uint16", "uint8": "int8", "uint16": "int16"}[dtype]
    chains = [x + y, x - y, x * y, -x]
    got = K.function(
        [x, y],
        [K.cast(z, "float32") * 0.5 + 1 for z in chains]
        + [K.cast(K.cast(z, other), "float32") * 0.5 for z in chains],
    )([a, b])
    wanted = [a + b, a - b, a * b, np.negative(a)]
    for k, w in enumerate(wanted):
        np.testing.assert_array_equal(got[k], (w.astype("float64") * 0.5 + 1).astype("float32"))
        np.testing.assert_array_equal(got[4 + k], w.astype(other).astype("float32") * 0.5)


@check(narrow=("float16", "bfloat16"))
def through_a_narrow_float_and_back(narrow):
    """Digits that the narrow type does not hold are gone, whatever else is computed in one go."""
    x = np.array([0.1, 1 / 3, 2049, -1e-9, 70000], "float32")
    p = K.placeholder((None,))
    q = K.cast(p, narrow)
    (kept,) = K.function([p], [K.cast(q, "float32")])([x])
    _, again = K.function([p], [q, K.cast(q, "float32")])([x])
    (later,) = K.function([p], [K.cast(q, "float32") * 1.0])([x])
    np.testing.assert_array_equal(kept, again)
    np.testing.assert_array_equal(kept, later)
    np.testing.assert_array_equal(kept.view("uint32") & (0xFFFF if narrow == "bfloat16" else 0x1FFF), 0)


@check
def to_its_own_dtype_is_a_tensor_of_its_own():
    x = K.placeholder(())
    y = K.cast(x, "float32")
    [g] = K.gradients(y * y + 3 * x, [y])
    assert K.function([x], [g])([3.0])[0] == 6
