"""Cases that many functions share."""

import numpy as np
from cases import oracles
from cases.harness import case, error, ulps
from cases.inputs import away, bools, data, rand

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


REDUCTIONS = [
    ((3, 4), None),
    ((3, 4), 0),
    ((3, 4), 1),
    ((3, 4), -1),
    ((2, 3, 5), -2),
    ((2, 3, 5), [0, 2]),
    ((2, 3, 5), (-1, 1)),
    ((2, 3, 5), [2, 1, 0]),
    ((7,), 0),
    ((1, 1), 1),
    ((), None),
    ((2, 3, 4, 5), (0, 3)),
    ((2, 3, 4, 5), (1, 2)),
]


def reduction(function, oracle, name, *, make=rand, empty=None, second=True, tol=None, **options):
    """A reduction; `empty` is the oracle for axes of size 0, where NumPy has an opinion of its own."""
    oracle = oracles.reduction(oracle)
    keywords = {"oracle": oracle, "tol": tol, **options}
    for i, (shape, axis) in enumerate(REDUCTIONS):
        case(function, [make(*shape)], axis=axis, second=second and i < 2, **keywords)
        case(function, [make(*shape)], axis=axis, keepdims=True, **{"grad": False, **keywords})
    case(function, [make(3, 4)], **keywords)
    case(function, [make(2, 3, 5).known(0, 2)], axis=1, none=(2, 5), **keywords)
    case(function, [make(2, 3, 5).known(0, 2)], axis=1, keepdims=True, none=(2, 1, 5), **keywords)
    no_grad = {**keywords, "grad": False}
    for shape, axis in [
        ((1009,), 0),
        ((257, 129), 0),
        ((257, 129), 1),
        ((257, 129), None),
        ((31, 3, 67), 1),
    ]:
        case(function, [make(*shape)], axis=axis, none=False, **no_grad)
    for shape, axis in [
        ((0, 3), 1),
        ((2, 0, 3), -1),
        ((0,), None),
        ((3, 0), 1),
        ((2, 0, 3), (0, 1)),
    ]:
        if empty or 0 not in np.empty(shape).sum(axis=axis, keepdims=True).shape:
            oracle = oracles.reduction(empty) if empty else keywords["oracle"]
            case(function, [make(*shape)], axis=axis, **{**no_grad, "oracle": oracle})
    if "dtypes" not in options:
        case(function, [make(5, 37)], axis=1, **{**no_grad, "dtypes": ("float16", "bfloat16")})
    axis_errors(function, name)


def axis_errors(function, name, several=True):
    for axis in (2, -3):
        text = f"{name}: axis must be in [-2, 2) for x of shape (2, 3); got axis={axis}."
        error(function, [rand(2, 3)], axis=axis, text=text)
    error(
        function,
        [rand(None, 3, 4)],
        axis=3,
        text=f"{name}: axis must be in [-3, 3) for x of shape (None, 3, 4); got axis=3.",
    )
    if several:
        text = f"{name}: axis must name each axis once; got (1, -1)."
        error(function, [rand(2, 3)], axis=(1, -1), text=text)
