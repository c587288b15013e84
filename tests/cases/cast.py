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


families.edges(
    K.cast,
    numpy_cast,
    [rand(0, 3)],
    [rand(1, 1)],
    [rand(*families.LARGE)],
    dtype="float64",
    out="float64",
)
