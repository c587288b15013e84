"""Values that come from Python keep their numbers: halves without ml_dtypes, casts, large integers, bools of odd bytes,
float64 arrays beside float32 tensors, indices as NumPy has them."""

import itertools
import os
import subprocess
import sys

import horngate as K
import numpy as np
import pytest

DTYPES = "float16 bfloat16 float32 float64 bool".split()
DTYPES += "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()

WITHOUT_ML_DTYPES = """
import pickle, sys
sys.modules["ml_dtypes"] = None
import horngate as K
import numpy as np

NUMBERS = [1.0, 2.5, -3.0]

def values(v):
    return K.eval(K.cast(v, "float32")).tolist()

v, w = K.variable(NUMBERS, dtype="bfloat16", name="v"), K.variable(4.0, dtype="bfloat16", name="w")
got, one = K.batch_get_value([v, w])
assert got.dtype == one.dtype == "float32" and isinstance(one, np.float32), (got, one)
assert got.tolist() == NUMBERS and one == 4
K.set_value(v, K.get_value(v))
assert values(v) == NUMBERS
K.batch_set_value(list(zip([v, w], K.batch_get_value([v, w]))))
assert values(v) == NUMBERS and values(w) == 4
for make in (K.variable, K.constant):
    assert values(make(K.get_value(v), dtype="bfloat16")) == NUMBERS
assert values(pickle.loads(pickle.dumps(v))) == NUMBERS
x = K.placeholder((3,), dtype="bfloat16")
f = K.function([x], [x * 2])
assert f([f([NUMBERS])[0]])[0].tolist() == [4, 10, -12]
assert f([np.array([3, 4, 5], "uint16")])[0].tolist() == [6, 8, 10]
K.set_value(v, np.array([3, 4, 5], "uint16"))
assert values(v) == [3, 4, 5]
K.set_value(v, NUMBERS)
path = sys.argv[1] + "/w.safetensors"
for saved in ([v, w], {"v": v, "w": w}):
    K.save(path, saved)
    assert b"BF16" in open(path, "rb").read(200)
    K.batch_set_value([(v, [0, 0, 0]), (w, 0)])
    K.load(path, [v, w])
    assert values(v) == NUMBERS and values(w) == 4
K.save(sys.argv[1] + "/w.npz", {"v": K.get_value(v)})
K.set_value(v, [0, 0, 0])
K.load(sys.argv[1] + "/w.npz", [v])
assert values(v) == NUMBERS
for ending, what in [("npz", [v]), ("npy", v)]:
    try:
        K.save(f"{sys.argv[1]}/w.{ending}", what)
        assert False
    except ValueError as error:
        assert str(error) == "save: NumPy has no bfloat16; cast it to float32."
print("good")
"""


def test_bfloat16_without_ml_dtypes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ML_DTYPES, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.stdout == "good\n", done.stderr


def test_uint16_for_bfloat16_are_numbers():
    x = K.placeholder((2,), dtype="bfloat16")
    f = K.function([x], [K.cast(x, "float32")])
    np.testing.assert_array_equal(f([np.array([3, 4], "uint16")])[0], [3, 4])


def test_variables_of_bfloat16_in_files(tmp_path):
    v = K.variable([1.0, 2.5], dtype="bfloat16", name="v")
    s = K.variable([3.0], name="s")
    K.save(tmp_path / "w.safetensors", {"v": v, "s": s, "n": 7, "a": np.arange(3)})
    K.batch_set_value([(v, [0, 0]), (s, [0])])
    K.load(tmp_path / "w.safetensors", {"v": v, "s": s})
    np.testing.assert_array_equal(K.eval(K.cast(v, "float32")), [1, 2.5])
    assert K.get_value(s) == 3 and K.load(tmp_path / "w.safetensors")["n"] == 7


def odd_bools(n=4):
    """True as other bytes than 1, as masks read from files may have it."""
    return np.resize(np.array([2, 0, 255, 1], "uint8"), n).view(bool)


@pytest.mark.parametrize("n", [1, 4, 7, 8, 9, 1000])
def test_bools_of_other_bytes(n):
    b = odd_bools(n)
    plain = b.view("uint8") != 0
    p, q = K.placeholder((n,), dtype="bool"), K.placeholder((n,), dtype="bool")
    f = K.function([p, q], [K.not_equal(p, q), K.cast(p, "int32"), K.identity(p)])
    differ, numbers, same = f([b, plain[::-1].copy()])
    np.testing.assert_array_equal(differ, plain != plain[::-1])
    np.testing.assert_array_equal(numbers, plain.astype("int32"))
    np.testing.assert_array_equal(same.view("uint8"), plain)
    x, v = K.placeholder((n,)), K.variable(np.zeros(n))
    K.set_value(v, b)
    for got in (
        K.function([x], [x])([b])[0],
        K.get_value(v),
        K.get_value(K.variable(b)),
        K.eval(K.constant(b)),
        K.eval(K.constant(b, dtype="bool")),
        K.eval(K.zeros((n,)) + b),
        K.eval(K.cast(K.square(b), "float32")),
    ):
        np.testing.assert_array_equal(got, plain)
    assert b.view("uint8")[0] == 2  # the caller's array is as it was


def test_bools_with_axes_and_strides():
    b = odd_bools(24).reshape(4, 6)
    p = K.placeholder((None, None), dtype="bool")
    f = K.function([p], [K.cast(p, "int32")])
    for view in (b, b.T, b[::2, 1::2], b[:0]):
        np.testing.assert_array_equal(f([view])[0], view.astype(int) != 0)


@pytest.mark.parametrize("dtype", [("float32", "int32"), ["float32"], (np.float32, (2,))])
def test_a_list_is_no_dtype(dtype):
    for use in (
        lambda: K.variable(1.0, dtype=dtype),
        lambda: K.constant(1.0, dtype=dtype),
        lambda: K.cast(K.constant(1.0), dtype),
        lambda: K.zeros((2,), dtype=dtype),
    ):
        with pytest.raises(TypeError, match='dtype must be a name such as "float32"; got'):
            use()


# At the limits of every dtype, and beyond.
NUMBERS = [0, 1, -1, 2, 0.5, -0.5, 1.75, -1.75, 255, 256, 300.7, -300.7, 65504, 65519.9, 65520]
NUMBERS += [3e9, -3e9, 2.0**31, 2.0**32, 2.0**32 + 5, 2.0**53 + 2, 2.0**63, -(2.0**63), -9.3e18]
NUMBERS += [1.5e19, 2.0**64, 1e30, np.nan, np.inf, -np.inf, 1 / 3, 3.4e38, 1e-8, -0.0]


def numbers_in(dtype):
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            return np.array(NUMBERS * 3, pytest.importorskip("ml_dtypes").bfloat16)
        if dtype.startswith("f"):
            return np.array(NUMBERS * 3, dtype)
        if dtype == "bool":
            return np.array([True, False] * 40)
        info = np.iinfo(dtype)
        ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 3, 0, 1, 2, 77]
        return np.array(ends * 8, dtype)


def same_bits(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype
    if got.dtype.kind == "f" or got.dtype.name == "bfloat16":
        nan = np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(got), nan)
        got, wanted = got[~nan], wanted[~nan]
    np.testing.assert_array_equal(got.tobytes(), wanted.tobytes())


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_every_way_in_casts_as_cast_does(source, target):
    """Constants, variables, values set and fed, in either byte order and in lists."""
    a = numbers_in(source)
    n = len(a)
    given = K.placeholder((n,), dtype=source)
    [wanted] = K.function([given], [K.cast(given, target)])([a])
    x, v = K.placeholder((n,), dtype=target), K.variable(np.zeros(n), dtype=target)
    f = K.function([x], [x])
    values = [a, np.repeat(a, 2)[::2]]
    if source != "bfloat16":
        values.append(a.astype(a.dtype.newbyteorder()))
    if source in ("float64", "int64", "uint64", "bool"):  # what lists hold
        values.append(a.tolist())
    for value in values:
        K.set_value(v, value)
        same_bits(K.eval(K.constant(value, dtype=target)), wanted)
        same_bits(K.get_value(K.variable(value, dtype=target)), wanted)
        same_bits(K.get_value(v), wanted)
        same_bits(f([value])[0], wanted)


def test_uint32_of_what_it_does_not_hold():
    a = np.array([np.nan, -np.inf, -9.3e18, 2.0**32 + 5, -1.0] * 17)
    wanted = [0, 0, 0, 5, 2**32 - 1] * 17
    assert K.get_value(K.variable(a, dtype="uint32")).tolist() == wanted
    x = K.placeholder((None,), dtype="uint32")
    assert K.function([x], [x])([a.tolist()])[0].tolist() == wanted


BIG = 2**53 + 1  # no double has this value


def test_integers_beside_one_beyond_int64():
    for big in ([2**63, BIG], (2**64 - 1, BIG, 5), [[2**63 + 1], [BIG]], [np.uint64(2**63), BIG]):
        exact = np.array([int(n) for n in np.ravel(np.array(big, object))], object)
        exact = exact.reshape(np.shape(big))
        for dtype in ("int64", "uint64", "int32", "uint8"):
            bits = 8 * np.dtype(dtype).itemsize
            low = -(2 ** (bits - 1)) if dtype.startswith("i") else 0
            wanted = ((exact - low) % 2**bits + low).astype(dtype)
            x = K.placeholder(wanted.shape, dtype=dtype)
            v = K.variable(np.zeros(wanted.shape), dtype)
            K.set_value(v, big)
            for got in (
                K.eval(K.constant(big, dtype=dtype)),
                K.get_value(K.variable(big, dtype=dtype)),
                K.get_value(v),
                K.function([x], [x])([np.array(big, object)])[0],
                K.function([x], [x])([big])[0],
            ):
                np.testing.assert_array_equal(got, wanted)


def test_integers_of_both_signs_beyond_int64():
    big = [-1, 2**63, BIG, 2**64]
    wanted = [-1, -(2**63), BIG, 0]
    assert K.eval(K.constant(big, dtype="int64")).tolist() == wanted
    assert K.get_value(K.variable(np.array(big, object), dtype="int64")).tolist() == wanted
    assert K.eval(K.constant(big, dtype="uint64")).tolist() == [w % 2**64 for w in wanted]
    wide = K.eval(K.constant(big, dtype="float64"))
    np.testing.assert_array_equal(wide, np.array(big, "float64"))
    np.testing.assert_array_equal(K.eval(K.constant([0.5, 2**63], dtype="float64")), [0.5, 2.0**63])


def test_lists_without_elements():
    for empty in ([], [[], []], ()):
        assert K.dtype(K.square(empty)) == "float32"


def test_large_integers_beside_uint64():
    u = K.constant([2**64 - 1, 2], dtype="uint64")
    assert K.eval(K.equal(u, [2**64 - 2, 2])).tolist() == [False, True]
    assert K.eval(K.equal(u, [2**64 - 1, 2])).tolist() == [True, True]
    difference = u - [2**64 - 2, 1]
    assert K.dtype(difference) == "uint64" and K.eval(difference).tolist() == [1, 1]
    assert K.eval(K.maximum([2**64 - 2, 3], u)).tolist() == [2**64 - 1, 3]
    assert K.dtype(K.constant([1.0, 2.0]) + [2**64 - 2, 1]) == "float32"


def test_integers_beside_tensors_of_integers_are_exact():
    big = 2**63 + 1
    u = K.constant([big] * 3, dtype="uint64")
    i, small = (K.constant([n] * 3, dtype="int64") for n in (BIG, 3))
    for tensor, own, others in (
        (u, big, [2**63, big, 5]),
        (i, BIG, [-1, 2**53, BIG]),
        (i, BIG, [2**63, 2**53, BIG]),
        (small, 3, [3, -3, 2]),
    ):
        for given in (others, tuple(others), np.array(others, object)):
            wanted = [own == n for n in others]
            assert K.eval(K.equal(tensor, given)).tolist() == wanted
            assert K.eval(K.equal(given, tensor)).tolist() == wanted
    assert K.dtype(K.constant([1, 2]) + np.array([2**63, 1], object)) == "float32"
    assert K.dtype(small + np.array([1, 2.5, 3], object)) == "float32"


@pytest.mark.parametrize("values", [[2**63, 2**63, -1], [2**64, 2**63, 5], [2**64] * 30])
@pytest.mark.parametrize("dtype", ["uint64", "int64", "int32"])
def test_integers_that_no_dtype_holds(values, dtype):
    tensor = K.constant([7], dtype=dtype)
    for given in (values, tuple(values), np.array(values, object)):
        for use in (lambda: K.equal(tensor, given), lambda: K.equal(given, tensor)):  # noqa: B023
            with pytest.raises(ValueError) as caught:
                use()
            shown = repr(given)
            if len(shown) > 100:
                kind = "numpy.ndarray" if isinstance(given, np.ndarray) else type(given).__name__
                shown = f"an object of type {kind}"
            assert str(caught.value) == (
                "equal: integers beside a tensor of integers must all be in int64, or all in "
                f"uint64; got {shown}."
            )
    wide = K.constant([1.0], dtype="float64")
    np.testing.assert_array_equal(K.eval(wide * values), np.array(values, "float64"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_class_numbers_beside_halves(dtype, kind):
    n = 3000
    logits = np.zeros((2, n))
    logits[0, 2049] = logits[1, 257] = 10
    output = K.constant(logits, dtype=dtype)
    wanted = np.log(np.exp(10) + n - 1) - 10
    loss = K.sparse_categorical_crossentropy(kind([2049, 257]), output, from_logits=True)
    assert K.dtype(loss) == dtype
    np.testing.assert_allclose(K.eval(K.cast(loss, "float64")), [wanted] * 2, rtol=0.02)
    assert K.eval(K.in_top_k(K.cast(output, "float32"), kind([2049, 257]), 1)).all()
    table = K.constant(np.arange(n), dtype=dtype)
    np.testing.assert_array_equal(
        K.eval(K.cast(K.gather(table, kind([2049, 257])), "float32")),
        K.eval(K.cast(table, "float32"))[[2049, 257]],
    )


WIDE = np.array([1.0, 2.0])  # float64, as NumPy makes it
CHOICES = {
    "switch": lambda x, y: K.switch(K.placeholder((), dtype="bool"), x, y),
    "switch by element": lambda x, y: K.switch(K.placeholder((2,), dtype="bool"), x, y),
    "in_train_phase": K.in_train_phase,
    "in_test_phase": K.in_test_phase,
    "maximum": K.maximum,
    "in_train_phase, training": lambda x, y: K.in_train_phase(x, y, training=1),
    "in_train_phase, tensor": lambda x, y: K.in_train_phase(x, y, training=K.placeholder(())),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_beside_tensors_take_their_dtype(name, dtype):
    x, choose = K.constant([3.0, 4.0], dtype=dtype), CHOICES[name]
    beside = [WIDE, WIDE.tolist(), np.float64(2), np.array(2.0), np.array([1, 2])]
    for other in beside if "training" not in name else beside[:1]:
        assert K.dtype(choose(x, other)) == dtype
        assert K.dtype(choose(other, x)) == dtype
    if name == "maximum" or "element" in name:
        return
    assert K.dtype(choose(lambda: x, WIDE)) == dtype
    assert K.dtype(choose(x, lambda: WIDE)) == dtype
    assert K.dtype(choose(lambda: WIDE, x)) == dtype
    assert K.dtype(choose(lambda: x, lambda: WIDE)) == dtype
    if "training" not in name:
        assert K.dtype(choose(WIDE, lambda: x)) == dtype


T = K.placeholder((), dtype="bool")
BY_TENSOR = {
    "switch": lambda x, y: K.switch(T, x, y),
    "in_train_phase": lambda x, y: K.in_train_phase(x, y, training=T),
    "in_test_phase": lambda x, y: K.in_test_phase(y, x, training=T),
}


@pytest.mark.parametrize("name", BY_TENSOR)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_beside_callables_take_the_dtype_in_either_order(name, dtype):
    x, choose, calls = K.constant([3.0, 4.0], dtype=dtype), BY_TENSOR[name], []

    def tensor():
        calls.append("tensor")
        return x * 2

    def array():
        calls.append("array")
        return WIDE

    for first, second, right in [
        (WIDE, tensor, [[1, 2], [6, 8]]),
        (tensor, WIDE, [[6, 8], [1, 2]]),
        (WIDE.tolist(), tensor, [[1, 2], [6, 8]]),
        (np.array([1, 2]), tensor, [[1, 2], [6, 8]]),
        (array, tensor, [[1, 2], [6, 8]]),
        (tensor, array, [[6, 8], [1, 2]]),
        (array, x, [[1, 2], [3, 4]]),
        (array, [x[0], 5.0], [[1, 2], [3, 5]]),
    ]:
        calls.clear()
        chosen = choose(first, second)
        # Once each, and the one for "true" first.
        assert calls == [f.__name__ for f in (first, second) if callable(f)]
        assert K.dtype(chosen) == dtype
        [gradient] = K.gradients(K.sum(chosen), [x])
        f = K.function([T], [chosen, gradient])
        for flag, wanted in zip((True, False), right, strict=True):
            got, slope = f([flag])
            np.testing.assert_array_equal(got, wanted)
            assert slope[0] == {1: 0, 6: 2, 3: 1}[wanted[0]]


def test_arrays_beside_callables_that_are_not_called():
    """Nobody knows the dtype of what is not called; the program's is that of floatx."""

    def never():
        raise AssertionError

    for choose in (
        lambda x: K.in_train_phase(x, never, training=1),
        lambda x: K.in_train_phase(never, x, training=0),
        lambda x: K.in_test_phase(x, never, training=0),
        lambda x: K.switch(K.constant(True), x, never),
    ):
        for value in (WIDE, lambda: WIDE):
            assert K.dtype(choose(value)) == "float32"
            np.testing.assert_array_equal(K.eval(choose(value)), WIDE)
        assert K.dtype(choose(np.array([1, 2]))) == "int64"
        assert K.dtype(choose(WIDE.astype("float16"))) == "float16"


def test_errors_of_an_array_beside_a_callable():
    v = K.variable([1.0, 2.0])
    for array in (WIDE, lambda: WIDE):
        with pytest.raises(ValueError, match="switch: a branch updates variable"):
            K.switch(T, array, lambda: K.update(v, v + 1))
        with pytest.raises(ValueError) as caught:
            K.switch(T, array, lambda: K.constant([[1.0, 2.0]]))
        assert str(caught.value) == (
            "switch: both expressions must have the same number of dimensions; got shapes (2,) and "
            "(1, 2)."
        )
    with pytest.raises(TypeError, match="switch: expected a tensor, a number or an array"):
        K.switch(T, WIDE, lambda: None)


def test_the_values_of_such_choices():
    x, t = K.constant([3.0, 4.0]), K.placeholder((), dtype="bool")
    f = K.function([t], [K.switch(t, x, WIDE), K.switch(t, lambda: WIDE, x)])
    np.testing.assert_array_equal(f([True]), [[3, 4], WIDE])
    np.testing.assert_array_equal(f([False]), [WIDE, [3, 4]])
    np.testing.assert_array_equal(K.eval(K.in_train_phase(WIDE, x)), [3, 4])
    np.testing.assert_array_equal(K.eval(K.in_test_phase(lambda: WIDE, x)), WIDE)
    np.testing.assert_array_equal(K.eval(K.in_train_phase(WIDE, lambda: x)), [3, 4])
    np.testing.assert_array_equal(K.eval(K.in_test_phase(WIDE, lambda: x)), WIDE)


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_in_rnn_take_the_dtype_of_the_inputs(dtype, unroll):
    x = K.constant(np.ones((2, 3, 4)), dtype=dtype)

    def step(x_t, states):
        state, count, constant = states
        out = x_t + state * constant
        return out, [out, count + 1]

    last, outputs, states = K.rnn(
        step,
        x,
        [np.zeros((2, 4)), np.zeros((2, 1), "int64")],
        constants=[np.full((2, 4), 2.0)],
        unroll=unroll,
    )
    assert [K.dtype(t) for t in (last, outputs, *states)] == [dtype] * 3 + ["int64"]
    np.testing.assert_array_equal(K.eval(K.cast(last, "float32")), np.full((2, 4), 7))
    np.testing.assert_array_equal(K.eval(states[1]), np.full((2, 1), 3))


def test_arrays_that_a_step_of_rnn_gives():
    x = K.constant(np.ones((2, 3, 4)))
    step = lambda x_t, states: (WIDE[:, None], [np.ones((2, 4))])  # noqa: E731
    last, _, [state] = K.rnn(step, x, [K.zeros((2, 4))])
    assert K.dtype(last) == K.dtype(state) == "float32"


def test_map_fn_of_several():
    a, b, right = np.array([1.0, 2, 3]), [10.0, 20, 30], [11, 22, 33]
    for elems in (
        (a, K.constant(b)),
        (K.constant(a), np.array(b)),
        [a, K.constant(b)],
        (a, np.array(b)),
        (a, b),
        (a.tolist(), b),
        (a.astype("float32"), K.variable(b)),
    ):
        got = K.map_fn(lambda pair: pair[0] + pair[1], elems)
        np.testing.assert_array_equal(K.eval(got), right)
    assert K.dtype(K.map_fn(lambda pair: pair[0] + pair[1], (a, K.constant(b)))) == "float32"
    one = K.map_fn(lambda e: e[0] * 2, (a,))
    np.testing.assert_array_equal(K.eval(one), [2, 4, 6])
    np.testing.assert_array_equal(K.eval(K.map_fn(lambda e: e * 2, [1.0, 2, 3])), [2, 4, 6])
    np.testing.assert_array_equal(K.eval(K.map_fn(K.sum, [[1.0, 2], [3, 4]])), [3, 7])


def test_map_fn_with_elems_in_elems():
    a, b, c = (K.constant(n) for n in ([1.0, 2], [10.0, 20], [100.0, 200]))
    (x, y), z = K.map_fn(lambda e: ((e[0][0] + 1, e[0][1] + 2), e[1] + 3), ((a, b), c))
    for got, wanted in [(x, [2, 3]), (y, [12, 22]), (z, [103, 203])]:
        np.testing.assert_array_equal(K.eval(got), wanted)


def test_map_fn_to_several():
    x = K.constant([1.5, 2.5, 3.5])

    def both(a):
        return a, K.cast(a, "int32")

    for dtype in (("float32", "int32"), ["float32", "int32"], None):
        y, n = K.map_fn(both, x, dtype=dtype)
        assert K.dtype(y) == "float32" and K.dtype(n) == "int32"
        np.testing.assert_array_equal(K.eval(y), [1.5, 2.5, 3.5])
        np.testing.assert_array_equal(K.eval(n), [1, 2, 3])
    y, n = K.map_fn(lambda e: both(e[0]), (x,), dtype=("float64", "int64"))
    assert K.dtype(y) == "float64" and K.dtype(n) == "int64"
    for dtype, wanted in [(("float64", None), "int32"), ([None, "int64"], "int64")]:
        y, n = K.map_fn(both, x, dtype=dtype)
        assert K.dtype(y) == (dtype[0] or "float32") and K.dtype(n) == wanted
        np.testing.assert_array_equal(K.eval(n), [1, 2, 3])
    made = K.map_fn(lambda a: [a, a + 1], x)
    assert isinstance(made, list) and K.eval(made[1]).tolist() == [2.5, 3.5, 4.5]
    assert K.dtype(K.map_fn(lambda a: a, x, dtype="int32")) == "int32"


@pytest.mark.parametrize("dtype", [("float32", "int32"), ["float32"] * 4, ()])
def test_map_fn_with_another_number_of_dtypes(dtype):
    for elems in (K.constant([1.0, 2.0]), (K.constant([1.0, 2.0]),)):
        with pytest.raises(ValueError) as caught:
            K.map_fn(lambda a: (K.sum(a), K.sum(a), K.sum(a)), elems, dtype=dtype)
        assert str(caught.value) == (
            f"map_fn: dtype must have one entry for each of the 3 results of fn; got {dtype!r}."
        )


INDICES = [0, slice(None), slice(1, 3), None, Ellipsis]


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5), (3, 4, 5, 6)])
@pytest.mark.parametrize("wide", [[1, 2, 0], [[1, 2], [0, -1]]])
def test_brackets_are_numpys(shape, wide):
    """Every place of a list of indices among numbers, slices, new axes and Ellipsis."""
    a = np.arange(np.prod(shape)).reshape(shape)
    x, array = K.constant(a, dtype="int32"), np.array(wide)
    i = K.placeholder(array.shape, dtype="int32")
    open_x = K.placeholder((None,) * len(shape), dtype="int32")
    tried = 0
    for n in range(1, 4):
        for others in itertools.product(INDICES, repeat=n):
            axes = sum(o is not None and o is not Ellipsis for o in others)
            if axes >= len(shape) or others.count(Ellipsis) > 1:
                continue
            for place in range(n + 1):
                index = [*others[:place], wide, *others[place:]]
                wanted = a[tuple(index[:place] + [array] + index[place + 1 :])]
                got = x[tuple(index)]
                assert K.int_shape(got) == wanted.shape, index
                tried += 1
                if tried % 7 == 0:
                    np.testing.assert_array_equal(K.eval(got), wanted, err_msg=str(index))
                    index[place] = i
                    fed = K.function([open_x, i], [open_x[tuple(index)]])([a, array])[0]
                    np.testing.assert_array_equal(fed, wanted, err_msg=str(index))
    assert tried > 50


def test_brackets_with_numbers_that_only_a_call_knows():
    a = np.arange(60.0).reshape(3, 4, 5)
    x, n = K.constant(a), K.placeholder((), dtype="int32")

    def parts(t, i):
        return [t[i, :, [1, 2]], t[[1, 2], :, i], t[i, [1, 2]], t[:, i, [1, 2]]]

    for got, wanted in zip(K.function([n], parts(x, n))([2]), parts(a, 2), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_gradients_through_such_brackets():
    x = K.constant(np.arange(60.0).reshape(3, 4, 5))
    w = np.arange(8.0).reshape(2, 4)
    [g] = K.gradients(K.sum(x[0, :, [1, 3]] * w), [x])
    wanted = np.zeros((3, 4, 5))
    wanted[0, :, [1, 3]] = w
    np.testing.assert_array_equal(K.eval(g), wanted)
