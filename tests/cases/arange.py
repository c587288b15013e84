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
