"""Cases that functions along axes share."""

import horngate as K
import numpy as np
from cases import oracles
from cases.harness import case, check, error
from cases.inputs import away, bools, data, distinct, rand

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


def scan(function, oracle, name):
    """A running sum or product along an axis."""
    many = [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((3, 4), -1)]
    many += [((2, 3, 5), 1), ((2, 3, 5), -3), ((1, 1), 1)]
    for shape, axis in many:
        x = away(*shape, distance=0.5)
        case(function, [x], axis=axis, oracle=oracle, second=True, tol={"float32": 2e-5})
    case(function, [away(3, 4, distance=0.5)], oracle=oracle)
    no_grad = {"oracle": oracle, "grad": False, "tol": {"float32": 1e-5}}
    for shape, axis in [((0,), 0), ((0, 3), 1), ((2, 0, 3), 1), ((1009,), 0), ((67, 31), 0)]:
        case(function, [rand(*shape, low=0.9, high=1.1)], axis=axis, **no_grad)
    case(function, [rand(3, 257, low=0.9, high=1.1)], axis=1, **no_grad)
    for axis in (0, 1, 2):
        x = rand(53, 61, 67, low=0.9, high=1.1)
        case(function, [x], axis=axis, none=False, **{**no_grad, "tol": {"float32": 2e-5}})
    case(function, [rand(4, 5)], axis=1, oracle=oracle, dtypes=("float16", "bfloat16"))
    for dtype in ("int8", "int32", "int64", "uint8", "uint64"):
        case(function, [rand(3, 4, low=0.1, high=0.3)], axis=1, oracle=oracle, dtypes=(dtype,))
    axis_errors(function, name, several=False)


def truth(function, oracle, name):
    """A reduction to a bool."""

    def some_zeros(*shape):
        return rand(*shape, low=-0.1, high=0.2).as_dtype("int32")

    options = {"empty": oracle, "make": some_zeros, "second": False, "grad": False}
    reduction(function, oracle, name, **options, dtypes=("float32",))
    for dtype in ("float16", "float32", "float64", "int8", "int64", "uint8"):
        values = data([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0], [1.0, 3.0, 1.0]])
        case(function, [values], axis=1, oracle=oracle, dtypes=(dtype,), grad=False)
    case(function, [bools(4, 5)], axis=-1, oracle=oracle, dtypes=("float32",))
    case(function, [rand(3, 4)], axis=1, oracle=oracle, grad="none")


def extreme(function, oracle, name, *, empty, unequal):
    """The largest or smallest; [2, `unequal`, 2] has the 2 twice."""
    reduction(function, oracle, name, empty=empty, make=distinct, tol=0)
    for dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        case(function, [rand(3, 4)], axis=1, oracle=oracles.reduction(oracle), dtypes=(dtype,))
    infinite = [[1.0, np.nan], [np.inf, -np.inf], [-np.inf, -np.inf], [np.inf, np.inf]]
    case(function, [data(infinite)], axis=1, oracle=oracle, grad=False)

    @check
    def equal_elements_share_the_slope():
        x = K.variable([[2.0, unequal, 2.0], [0.0, 0.0, 0.0]])
        gradient = K.eval(K.gradients(function(x, axis=1), x)[0])
        np.testing.assert_allclose(gradient, [[0.5, 0, 0.5], [1 / 3] * 3], rtol=1e-6)


inf, nan = np.inf, np.nan
UNORDERED = [
    [-inf] * 3,
    [inf] * 3,
    [nan] * 3,
    [inf, nan, 1],
    [-inf, nan, nan],
    [-inf, inf, -inf],
    [1, -inf, 2],
]


def position(function, where, name):
    """The position of the largest or smallest, the first of equals."""

    def oracle(x, axis=-1):
        return where(x, axis=axis)

    many = [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((3, 4), -1)]
    many += [((2, 3, 5), 1), ((2, 3, 5), -3), ((1, 1), 1)]
    for shape, axis in many:
        case(function, [distinct(*shape)], axis=axis, oracle=oracle, grad="none")
    no_grad = {"oracle": oracle, "grad": False}
    case(function, [distinct(3, 4)], **no_grad)
    for shape, axis in [((0, 3), 1), ((1009,), 0), ((67, 131), 0), ((67, 131), 1)]:
        case(function, [rand(*shape)], axis=axis, **no_grad)
    case(function, [rand(3, 257, 2)], axis=1, **no_grad)
    for dtype in ("float16", "int8", "int32", "int64", "uint8", "uint64"):
        case(function, [rand(4, 9)], axis=1, oracle=oracle, dtypes=(dtype,), out="int64")
    ties = [[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 3.0, 3.0], [np.inf, -np.inf, np.inf, -np.inf]]
    for axis in (0, 1):
        case(function, [data(ties)], axis=axis, label=f"{name}(ties, axis={axis})", **no_grad)
    for axis in (0, 1):
        case(
            function,
            [data(UNORDERED if axis else list(zip(*UNORDERED)))],
            axis=axis,
            dtypes=("float16", "float32", "float64"),
            out="int64",
            label=f"{name}(infinities and NaN, axis {axis})",
            **no_grad,
        )
    axis_errors(function, name, several=False)
    text = f"{name}: axis 1 of x must not be empty; got shape (2, 0)."
    error(function, [rand(2, 0)], axis=1, text=text)
    for axis in (0, 1, 2):
        case(function, [rand(53, 61, 67)], axis=axis, none=False, **no_grad)
