"""Cases that many functions share."""

import horngate as K
import numpy as np
import pytest
from cases.harness import case, check, error, ulps
from cases.inputs import away, bools, data, distinct, rand

EDGES = [(), (0,), (1,), (7,), (1, 1, 1), (2, 0, 3), (5, 31), (1009,), (3, 2, 5, 7)]
LARGE = (70_001,)

# Zeros, infinities, NaN, denormals of either width, limits of exp, halves, whole numbers.
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-45,
    1e-40,
    5e-324,
    1e-310,
    1e-38,
    2.2e-308,
]
SPECIAL += [1e-20, 1e-7, 0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 10.0, 88.5, 89.0, 104.0, 709.5, 710.0, 746.0]
SPECIAL += [
    1e4,
    1e7,
    3.3e38,
    1e300,
    -1e-20,
    -1e-7,
    -0.1,
    -0.5,
    -1.0,
    -1.5,
    -2.5,
    -3.0,
    -10.0,
    -17.0,
]
SPECIAL += [-87.0, -88.5, -103.0, -104.5, -709.5, -745.0, -746.5, -1e4, -1e7, -3.3e38, -1e300]


def unary(function, oracle, *, low=-2.0, high=2.0, kinks=(), tol=None, grad=True, **options):
    """An element-wise function of one tensor."""
    tol = tol or ulps(4)

    def of(*shape):
        return away(*shape, kinks=kinks, low=low, high=high)

    def plain(tree, **more):
        case(function, tree, oracle=oracle, **{"tol": tol, "grad": False, **options, **more})

    plain([of(3, 4)], grad=grad, second=grad is True, none=(None, None))
    plain([of(2, 1, 3).known(1)], grad=grad, none=(None, 1, None))
    for shape in EDGES:
        plain([of(*shape)], none=False)
    plain([of(*LARGE)], none=False)
    plain([of(0, 3)], grad=grad)
    half_tol = ulps(1) if isinstance(tol, ulps) else None
    plain([of(4, 33)], dtypes=("float16", "bfloat16"), tol=half_tol)


def edges(function, oracle, *trees, **options):
    """More shapes, for values alone: nothing, one, primes, many."""
    for tree in trees:
        keywords = {"grad": False, "none": False, **options}
        case(function, list(tree), oracle=oracle, **keywords)


def special(function, oracle, *, without=(), tol=None, **options):
    """The values at which mistakes are made."""
    values = [v for v in SPECIAL if v not in without]
    case(
        function,
        [data(values)],
        oracle=oracle,
        tol=tol or ulps(4),
        grad=False,
        none=False,
        label=f"{function.__name__}(special values)",
        **options,
    )


def near_multiples_of_pi(function, oracle):
    """Where sine and cosine are small, so that every digit of the angle counts."""
    rng = np.random.default_rng(7)
    quarter = np.arange(-40, 41) * (np.pi / 2)
    off = 10.0 ** rng.uniform(-15, -1, (5, quarter.size)) * rng.choice([-1, 1], (5, quarter.size))
    case(
        function,
        [data(np.concatenate([quarter, (quarter * (1 + off)).ravel(), quarter * 100]))],
        oracle=oracle,
        tol=ulps(4),
        grad=False,
        none=False,
        label=f"{function.__name__}(near multiples of pi)",
    )


def does_not_meet_what_lies_between_taps(convolve, x_shape, *kernel_shapes):
    """Infinities that no tap of a dilated kernel meets do not show, in results and in gradients.
    Where a 1 shows an infinity does, and nowhere else."""

    @check
    def only_taps_meet_infinities():
        x = K.placeholder(x_shape)
        kernels = [K.constant(0.5, shape=k) for k in kernel_shapes]
        y = convolve(x, *kernels)
        c = K.placeholder(K.int_shape(y))
        [g] = K.gradients(K.sum(y * c), [x])
        f = K.function([x, c], [y, g])
        size = [x_shape, K.int_shape(y)]
        for at in np.random.default_rng(1).integers(0, 10**6, (6, 2)):
            one = [np.zeros(s, "float32") for s in size]
            for a, i in zip(one, at):
                a.flat[i % a.size] = 1
            endless = [np.where(a == 1, np.float32(np.inf), a) for a in one]
            plain, odd = f(one), f(endless)
            for p, o in zip(plain, odd, strict=True):
                np.testing.assert_array_equal(np.isfinite(o), p == 0)


def of_integers(
    function, oracle, *, out="float32", dtypes=("int32", "int64", "uint8"), low=0, high=0.5
):
    """Whole numbers go in; `out` None: they come out as well."""

    def of_floats(x):
        return oracle(x.astype("float64"))

    keywords = {"out": out, "oracle": of_floats} if out else {"oracle": oracle}
    case(function, [rand(3, 5, low=low, high=high)], dtypes=dtypes, grad=False, **keywords)


def of_bools(function, oracle, out="float32"):
    case(function, [bools(4, 3)], oracle=oracle, dtypes=("float32",), grad=False, out=out)


BROADCASTS = [
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((4,), (3, 4)),
    ((3, 1), (1, 4)),
    ((2, 1, 3), (5, 1)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((1,), (7,)),
    ((0, 3), (1, 3)),
    ((2, 1, 4), (1, 0, 1)),
    ((1, 1), (3, 1, 5)),
    ((2, 3, 1, 5), (4, 1)),
]


def binary(function, oracle, *, first, second, grad=None, numbers=(2.0, 0.75), **options):
    """An element-wise function of two; `first` and `second` make inputs of a shape."""
    keywords = {"oracle": oracle, **options}
    for i, (a, b) in enumerate(BROADCASTS):
        with_second = i < 3 and grad is None
        case(function, [first(*a), second(*b)], grad=grad, second=with_second, **keywords)
    # Every dimension is open, so that only a call knows what is broadcast; here one side stays known.
    case(function, [first(3, 1).known(), second(1, 4)], grad=grad, **keywords)
    case(function, [first(1031, 67), second(67)], grad=False, none=False, **keywords)
    for number in numbers:
        case(function, [first(2, 3), number], grad=grad, **keywords)
        case(function, [number, second(2, 3)], grad=grad, **keywords)
    case(
        function,
        [first(3, 5), second(5)],
        grad=False,
        **{**keywords, "dtypes": ("float16", "bfloat16")},
    )


def extreme_of_two(function, oracle, name):
    """The larger or smaller of two at each place."""
    options = {"tol": ulps(0), "numbers": (2.0, 0.75, 0.0)}
    binary(function, oracle, first=rand, second=away, **options)
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        case(function, [rand(3, 4), rand(4)], oracle=oracle, dtypes=(dtype,))
    nan = [np.nan, 1.0, np.inf, -np.inf, np.nan]
    case(function, [data(nan), data(nan[::-1])], oracle=oracle, grad=False, label=f"{name}(NaN)")
    does_not_broadcast(function, name)

    @check
    def of_equal_elements_the_first_has_the_slope():  # as in TensorFlow
        x, y = K.variable([1.0, 2.0]), K.variable([1.0, 2.0])
        dx, dy = (K.eval(g) for g in K.gradients(function(x, y), [x, y]))
        np.testing.assert_array_equal(dx, [1, 1])
        np.testing.assert_array_equal(dy, [0, 0])

    @check
    def two_numbers_are_constants():
        assert K.eval(function(1, 2)) == oracle(1, 2)
        y = function(np.float32(1), 0.5)
        assert y.dtype == "float32" and K.eval(y) == oracle(1, 0.5)


def does_not_broadcast(function, name):
    error(
        function,
        [rand(2, 3), rand(4, 3)],
        text=f"{name}: shapes (2, 3) and (4, 3) do not broadcast together.",
    )
    error(
        function,
        [rand(None, 3), rand(2)],
        text=f"{name}: shapes (None, 3) and (2,) do not broadcast together.",
    )


def comparison(function, oracle, name):
    """A comparison: bool comes out, nothing flows back."""

    def near(*shape):
        # Few distinct values, so that both answers, and equality, occur.
        return rand(*shape, low=0, high=0.3).as_dtype("int32")

    for a, b in BROADCASTS:
        case(function, [near(*a), near(*b)], oracle=oracle, dtypes=("float32",), grad=False)
    for dtypes in [
        ("float16", "bfloat16", "float32", "float64"),
        ("int8", "int64", "uint8", "uint64"),
    ]:
        case(
            function,
            [rand(5, 7, high=0.4), rand(5, 7, high=0.4)],
            oracle=oracle,
            dtypes=dtypes,
            grad=False,
        )
    case(function, [rand(3, 4), rand(4)], oracle=oracle, grad="none")
    nan = [np.nan, 1.0, np.inf, -np.inf, 0.0, -0.0, np.nan]
    case(function, [data(nan), data(nan[::-1])], oracle=oracle, grad=False, label=f"{name}(NaN)")
    case(function, [data([1.0, 2.0, 3.0]), 2.0], oracle=oracle, grad=False)
    case(function, [2, data([1.0, 2.0, 3.0])], oracle=oracle, grad=False)
    case(function, [rand(1031, 67), rand(67)], oracle=oracle, grad=False, none=False)
    does_not_broadcast(function, name)


def fold(function, name, in_order):
    """foldl and foldr: `in_order` turns elements into the order in which they are combined."""

    def half_and_add(acc, e):
        return acc * 0.5 + K.tanh(e)

    def plain(x):
        return function(half_and_add, x)

    def plain_oracle(x):
        acc, *rest = in_order(x)
        for e in rest:
            acc = acc * 0.5 + np.tanh(e)
        return acc

    for shape in [(4, 3), (1, 3), (5,), (2, 3, 4), (31, 2)]:
        case(
            plain,
            [rand(*shape)],
            oracle=plain_oracle,
            second=shape == (4, 3),
            tol={"float32": 1e-5},
        )

    def with_start(x, start):
        return function(half_and_add, x, initializer=start)

    def with_start_oracle(x, start):
        acc = start
        for e in in_order(x):
            acc = acc * 0.5 + np.tanh(e)
        return acc

    for shape in [(4, 3), (1, 3), (0, 3)]:
        case(with_start, [rand(*shape), rand(3)], oracle=with_start_oracle, second=shape == (4, 3))

    def another_shape(x, start):
        """The accumulator need not look like the elements."""
        return function(lambda acc, e: acc + K.sum(e), x, initializer=start)

    case(another_shape, [rand(4, 3), rand(2, 2)], oracle=lambda x, start: start + x.sum())

    def captured(x, w):
        return function(lambda acc, e: acc * w + e, x)

    def captured_oracle(x, w):
        acc, *rest = in_order(x)
        for e in rest:
            acc = acc * w + e
        return acc

    case(captured, [rand(4, 3), rand(3)], oracle=captured_oracle, second=True)
    error(
        plain,
        [rand(0, 3)],
        text=f"{name}: elems must not be empty without an initializer; got shape (0, 3).",
    )
    error(plain, [rand()], text=f"{name}: elems must have at least 1 dimension; got shape ().")
    error(
        lambda x: function(lambda acc, e: K.cast(acc, "float64"), x),
        [rand(3, 2)],
        raises=TypeError,
        label=f"{name}(another dtype)",
        text=f"{name}: fn must keep the dtype of the accumulator, float32; got float64.",
    )
    edges(plain, plain_oracle, [rand(101, 103)], tol={"float32": 1e-5})


def pools(function, oracle, geometries, paddings=("valid", "same"), **options):
    """Every geometry (sizes, window, strides) with these paddings, and both layouts and modes."""
    for data_format in ("channels_last", "channels_first"):
        for padding in paddings:
            for pool_mode in ("max", "avg"):
                for sizes, size, strides in geometries:
                    shape = (2, 3, *sizes) if data_format == "channels_first" else (2, *sizes, 3)
                    case(
                        function,
                        [distinct(*shape)],
                        pool_size=size,
                        strides=strides,
                        padding=padding,
                        data_format=data_format,
                        pool_mode=pool_mode,
                        oracle=oracle,
                        second=set(size) == {2} and data_format == "channels_last",
                        **options,
                    )


def phase(function, name, first):
    """A choice by the learning phase; `first` is the phase in which the first argument comes out."""
    value = np.array([1.0, -2.0])

    def at(phase):
        """What comes out for x * 2 and x in a phase."""
        return value * 2 if phase == first else value

    @check(phase=(0, 1), callables=(False, True))
    def by_the_fed_phase(phase, callables):
        x = K.placeholder((2,))
        y = function(lambda: x * 2, lambda: x) if callables else function(x * 2, x)
        assert y._uses_learning_phase
        f = K.function([x, K.learning_phase()], [y])
        for one in (phase, bool(phase), float(phase), np.array(phase)):
            np.testing.assert_array_equal(f([value, one])[0], at(phase))

    @check
    def testing_when_nothing_is_fed():
        x = K.placeholder((2,))
        np.testing.assert_array_equal(K.function([x], [function(x * 2, x)])([value])[0], at(0))

    @check(phase=(0, 1))
    def by_the_fixed_phase(phase):
        K.set_learning_phase(phase)
        x = K.placeholder((2,))
        np.testing.assert_array_equal(K.function([x], [function(x * 2, x)])([value])[0], at(phase))

    @check(training=(0, 1, False, True))
    def by_the_argument(training):
        x = K.placeholder((2,))
        y = function(x * 2, x, training=training)
        assert not y._uses_learning_phase
        np.testing.assert_array_equal(K.function([x], [y])([value])[0], at(int(training)))

    @check(phase=(0, 1), dtype=("bool", "int32", "float32"))
    def by_a_tensor(phase, dtype):
        x, training = K.placeholder((2,)), K.placeholder((), dtype=dtype)
        y = function(x * 2, x, training=training)
        np.testing.assert_array_equal(K.function([x, training], [y])([value, phase])[0], at(phase))

    @check(phase=(0, 1))
    def gradient(phase):
        x = K.placeholder((2,))
        [g] = K.gradients(function(x * 2, x), [x])
        [got] = K.function([x, K.learning_phase()], [g])([value, phase])
        np.testing.assert_array_equal(got, at(phase) / value)

    def chosen(phase):
        return phase == first

    @check(phase=(0, 1))
    def gradient_of_an_operand_of_another_shape(phase):
        """One row against two; what else depends on the row adds its own part."""
        x, w = K.placeholder((2, 3)), K.variable(np.ones((1, 3)))
        row = w * 2.0
        loss = K.sum(function(x, row)) + 5 * K.sum(row)
        f = K.function([x, K.learning_phase()], K.gradients(loss, [w, x]))
        dw, dx = f([np.ones((2, 3)), phase])
        np.testing.assert_array_equal(dw, np.full((1, 3), 10.0 if chosen(phase) else 12.0))
        np.testing.assert_array_equal(dx, np.full((2, 3), 1.0 if chosen(phase) else 0.0))

    @check(phase=(0, 1), rows=(1, 2, 5))
    def gradient_of_some_of_the_rows(phase, rows):
        x = K.placeholder((None, 3))
        y = function(x[:2], x)
        [g] = K.gradients(K.sum(y * y * y), [x])
        [h] = K.gradients(K.sum(g), [x])
        feed = np.arange(1.0, 1.0 + 3 * rows).reshape(rows, 3)
        taken = np.ones((rows, 1))
        if chosen(phase):
            taken[2:] = 0
        got = K.function([x, K.learning_phase()], [g, h])([feed, phase])
        np.testing.assert_allclose(got[0], 3 * feed**2 * taken)
        np.testing.assert_allclose(got[1], 6 * feed * taken)

    @check(callables=(False, True), training=(None, 0, 1))
    def gives_a_tensor_of_its_own(callables, training):
        """The gradient with respect to the result is not that with respect to the operand."""
        x = K.placeholder(())
        y = function(lambda: x, lambda: x, training) if callables else function(x, x, training)
        [g] = K.gradients(y * y + 3 * x, [y])
        assert K.function([x], [g])([3.0])[0] == 6

    @check
    def updates_in_a_branch_are_refused():
        """They would run in both phases."""
        v = K.variable(0.0, name="total")
        for branches in (
            (lambda: K.update_add(v, 1.0), lambda: v * 1),
            (lambda: v * 1, lambda: K.update_add(v, 1.0) * 2),
        ):
            with pytest.raises(
                ValueError, match=f'{name}: a branch updates variable "total"; updates belong outside'
            ):
                function(*branches)
        K.set_learning_phase(first)  # then one of them is all there is
        assert K.eval(function(lambda: K.update_add(v, 1.0), lambda: v * 1)) == 1

    @check(value=(False, True), fed=(1, 5))
    def by_a_tensor_of_open_sizes(value, fed):
        """One of them whole, and not one row spread over the others."""
        x, training = K.placeholder((None, 3)), K.placeholder((), dtype="bool")
        y = function(x[:1], x, training=training)
        f = K.function([x, training], [y, *K.gradients(K.sum(y * y), [x])])
        feed = np.arange(3.0 * fed).reshape(fed, 3)
        taken = feed * 1.0
        if chosen(value):
            taken[1:] = 0
        y, g = f([feed, value])
        np.testing.assert_array_equal(y, feed[:1] if chosen(value) else feed)
        np.testing.assert_array_equal(g, 2 * taken)

    error(
        function,
        [rand(2, 3), rand(3)],
        text=f"{name}: x and alt must have the same number of dimensions; got shapes (2, 3) and (3,).",
    )


def by_zero(function):
    """A division of integers by 0."""

    @check(dtype=("int8", "int32", "int64", "uint8", "uint32"))
    def by_zero_does_no_harm(dtype):
        """What comes out is anybody's guess; the process and the other elements must be well."""
        lowest = np.iinfo(dtype).min
        x, y = K.placeholder((4,), dtype=dtype), K.placeholder((4,), dtype=dtype)
        minus_one = np.array(-1).astype(dtype)
        values = np.array([7, 9, lowest, 5], dtype), np.array([0, 2, minus_one, 1], dtype)
        [got] = K.function([x, y], [function(x, y)])(list(values))
        assert got.dtype == dtype and got.shape == (4,)
        assert got[1] == function(9, 2) and got[3] == function(5, 1)


def special_pairs(function, oracle, tol=0, zeros=(0.0, -0.0)):
    """Each of these numbers with each other."""
    numbers = [*zeros, 1, -1, 0.5, -0.5, 2.5, -2.5, 3, -7, 100.25, np.inf, -np.inf, np.nan, 1024]
    x, y = (a.ravel() for a in np.meshgrid(numbers, numbers, indexing="ij"))
    case(
        function,
        [data(x), data(y)],
        oracle=oracle,
        grad=False,
        tol=tol,
        dtypes=("float32", "float64"),
        label="all pairs of special values",
    )


def filled(function, oracle, name):
    """A variable full of one number."""

    @check(
        shape=[(), (0,), (3,), (2, 3), (2, 0, 1)],
        dtype=("float16", "float32", "float64", "int32", "uint8", "bool"),
    )
    def is_a_variable(shape, dtype):
        v = function(shape, dtype=dtype)
        assert K.is_variable(v) and K.int_shape(v) == shape and K.dtype(v) == dtype
        np.testing.assert_array_equal(K.eval(v), oracle(shape, dtype))

    @check
    def dtype_is_floatx():
        K.set_floatx("float64")
        assert K.dtype(function((2,))) == "float64"

    @check
    def of_a_shape_that_a_call_knows():
        x = K.placeholder((None, 3))
        y = function(K.shape(x))
        assert not K.is_variable(y)
        f = K.function([x], [y])
        for rows in (0, 1, 4):
            np.testing.assert_array_equal(f([np.full((rows, 3), 7.0)])[0], oracle((rows, 3)))

    error(
        function,
        [(2, None)],
        text=f"{name}: shape must have entries of at least 0, and no None; got (2, None).",
    )


def update(function, argument, apply):
    """A change of a variable; `apply` says what the value becomes."""
    start, change = np.array([1.0, -2.0]), np.array([5.0, 7.0])

    @check(dtype=("float32", "float64"))
    def happens_when_called(dtype):
        v = K.variable(start, dtype=dtype)
        f = K.function([], [K.identity(v)], updates=[function(v, K.constant(change))])
        np.testing.assert_array_equal(f([])[0], start)
        got = K.get_value(v)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, apply(start, change))
        f([])
        np.testing.assert_array_equal(K.get_value(v), apply(apply(start, change), change))

    @check
    def its_value_is_the_new_one():
        made = function(K.variable(start), K.constant(change))
        np.testing.assert_array_equal(K.eval(made), apply(start, change))

    @check
    def the_value_is_cast():
        v = K.variable(start)
        K.function([], [], updates=[function(v, K.constant([2, 3], dtype="int32"))])([])
        assert K.dtype(v) == "float32"
        np.testing.assert_array_equal(K.get_value(v), apply(start, [2, 3]))

    @check(needs_numbers=False)
    def of_another_shape():
        v = K.variable(start)
        try:
            function(v, **{argument: K.zeros((3,))})
        except ValueError as e:
            assert "(2,)" in str(e) and "(3,)" in str(e)
        else:
            raise AssertionError("nothing was raised")
