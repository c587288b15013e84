"""The dtype that two dtypes make, for every function of two tensors."""

import operator

import horngate as K
import numpy as np
from cases.harness import check

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALL = FLOATS + INTS + ("bool",)
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "pow": K.pow,
    "maximum": K.maximum,
    "minimum": K.minimum,
}
COMPARISONS = {
    "equal": K.equal,
    "not_equal": K.not_equal,
    "greater": K.greater,
    "greater_equal": K.greater_equal,
    "less": K.less,
    "less_equal": K.less_equal,
}


def common(a, b):
    """bool gives way to numbers, whole numbers to floats, narrow ones to wide ones."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if (a in FLOATS) != (b in FLOATS):
        return a if a in FLOATS else b
    if a in FLOATS:
        return "float32" if {a, b} == {"float16", "bfloat16"} else max(a, b, key=FLOATS.index)
    # NumPy goes to float64 when no integer holds both; we stay at the widest integer.
    wide = np.promote_types(a, b).name
    return wide if wide in INTS else "int64"


def result_of(a, b):
    dtype = common(a, b)
    return "float32" if dtype == "bool" else dtype


def ones(dtype):
    return K.placeholder((2,), dtype=dtype)


@check(needs_numbers=False, name=ARITHMETIC, a=ALL)
def of_two_tensors(name, a):
    for b in ALL:
        made = K.dtype(ARITHMETIC[name](ones(a), ones(b)))
        assert made == result_of(a, b), f"{a} {name} {b}: {made}, not {result_of(a, b)}"


@check(a=ALL)
def values_of_two_tensors(a):
    """The numbers survive the cast: 3 and 1 are in every dtype but bool."""
    x = K.placeholder((2,), dtype=a)
    three = 1 if a == "bool" else 3
    for b in ALL:
        y = K.placeholder((2,), dtype=b)
        made = [
            K.cast(f(x, y), "float64")
            for f in (operator.add, operator.sub, operator.mul, K.maximum)
        ]
        got = K.function([x, y], made)([np.array([three, 1]), np.array([1, 1])])
        wanted = [[three + 1, 2], [three - 1, 0], [three, 1], [three, 1]]
        np.testing.assert_array_equal(got, wanted, f"{a} with {b}")


@check(needs_numbers=False, a=ALL)
def of_a_quotient(a):
    for b in ALL:
        dtype = common(a, b)
        made = K.dtype(ones(a) / ones(b))
        assert made == (dtype if dtype in FLOATS else "float32"), f"{a} / {b}: {made}"


@check(name=COMPARISONS, a=ALL)
def of_comparisons(name, a):
    oracle = getattr(np, name)
    x = K.placeholder((2,), dtype=a)
    for b in ALL:
        y = K.placeholder((2,), dtype=b)
        z = COMPARISONS[name](x, y)
        assert K.dtype(z) == "bool"
        [got] = K.function([x, y], [z])([np.array([1, 0]), np.array([1, 1])])
        np.testing.assert_array_equal(got, oracle([1, 0], [1, 1]), f"{a} with {b}")


@check(needs_numbers=False, name=ARITHMETIC, dtype=ALL)
def of_a_number(name, dtype):
    """Numbers take the dtype of the tensor; a float beside whole numbers gives floatx, even if it is whole."""
    x = ones(dtype)
    whole = "float32" if dtype == "bool" else dtype
    real = dtype if dtype in FLOATS else "float32"
    for number, wanted in [(1, whole), (2.0, real), (0.5, real), (np.float64(2), real)]:
        for made in (ARITHMETIC[name](x, number), ARITHMETIC[name](number, x)):
            assert K.dtype(made) == wanted, (
                f"{name} of {dtype} and {number}: {K.dtype(made)}, not {wanted}"
            )


@check(needs_numbers=False)
def a_number_that_does_not_fit():
    assert K.dtype(ones("int8") + 200) == "int64"
    assert K.dtype(ones("uint8") - 1) == "uint8"
    assert K.dtype(ones("uint8") + (-1)) == "int64"
    assert K.dtype(ones("int32") * 2**40) == "int64"


@check
def a_float_beside_narrow_integers():
    """128.0 fits uint8, p - 128.0 does not."""
    p = K.placeholder((None,), dtype="uint8")
    made = K.function([p], [p - 128.0, 1.0 - p, p * 2.0, p + np.float32(1), K.greater(p, 128.0)])
    got = made([np.array([0, 200], np.uint8)])
    for a, wanted in zip(got, [[-128, 72], [1, -199], [0, 400], [1, 201], [False, True]]):
        np.testing.assert_array_equal(a, wanted)


@check(needs_numbers=False)
def floatx_decides():
    K.set_floatx("float64")
    assert K.dtype(ones("int32") * 0.5) == "float64"
    assert K.dtype(ones("int32") / ones("int32")) == "float64"
    assert K.dtype(ones("float32") * 0.5) == "float32"
    assert K.dtype(K.exp(ones("int32"))) == "float64"


@check
def numpy_numbers_on_either_side():
    x = K.variable([1.0, 2.0])
    for made in (np.float64(2) * x, x * np.float64(2), np.int64(2) * x, np.array([2.0, 2.0]) * x):
        assert K.dtype(made) == "float32"
        np.testing.assert_array_equal(K.eval(made), [2, 4])


JOINED = {
    "concatenate": lambda x, y: K.concatenate([x, y]),
    "stack": lambda x, y: K.stack([x, y]),
    "switch": lambda x, y: K.switch(K.constant([True, False], dtype="bool"), x, y),
}


@check(needs_numbers=False, name=JOINED, a=ALL)
def of_what_is_joined(name, a):
    for b in ALL:
        made = K.dtype(JOINED[name](ones(a), ones(b)))
        assert made == common(a, b), f"{name} of {a} and {b}: {made}"


@check(needs_numbers=False, a=ALL)
def of_products(a):
    for b in ALL:
        made = K.dtype(K.dot(K.placeholder((2, 2), dtype=a), K.placeholder((2, 2), dtype=b)))
        assert made == result_of(a, b), f"dot of {a} and {b}: {made}"
