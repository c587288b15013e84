"""What the table has for each operation, and what its entries are made with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from fuzz.dtypes import common_of, is_float


@dataclass
class Op:
    """An operation: how to draw it, how K is called, what NumPy makes of it.

    draw    takes a Drawer, gives (values, arguments) or None when nothing fits
    code    the call, with {0}, {1} for the tensors and {name} for arguments; or a function of
            (arguments, names) that gives it, or (lines before it, call)
    value   takes (rounding, arguments, arrays..), gives an array or a tuple of them. Floats come as
            float64, or complex128 with a derivative as the imaginary part. rounding(y, magnitude)
            is what a step inside may lose
    dtype   takes (arguments, dtypes, floatx), gives that of the result or a list
    exact   nothing is rounded
    unify   the arrays are brought to the dtype of the result first
    covers  names of the catalogue
    """

    name: str
    draw: Callable
    code: object
    value: Callable
    dtype: Callable
    exact: bool = False
    unify: bool = False
    covers: tuple = ()
    weight: float = 1.0
    random: bool = False
    outer: bool = False  # not within loops
    statements: bool = (
        False  # has bodies: value takes (evaluation, args, arrays, dtypes), code the op
    )
    check: Callable = lambda seen, args, *inputs: None  # what is wrong with a random result

    @property
    def seen(self):
        """Whether its result must be an output: the evaluator needs it, or it makes an update."""
        return self.random or self.name == "updated"


def body_types(body, types, floatx):
    """The dtypes of a body's results."""
    from fuzz.ops import TABLE

    dtypes = dict(zip(body["parameters"] + body["captured"], types))
    for op in body["ops"]:
        made = TABLE[op["op"]].dtype(op["args"], [dtypes[n] for n in op["in"]], floatx)
        dtypes.update(zip(op["out"], [made] if isinstance(made, str) else made))
    return [dtypes[n] for n in body["results"]]


def same(args, dtypes, floatx):
    return dtypes[0]


def widest(args, dtypes, floatx):
    return common_of(dtypes)


def widest_number(args, dtypes, floatx):
    """Of arithmetic: bool counts in floatx."""
    made = common_of(dtypes)
    return floatx if made == "bool" else made


def floating(args, dtypes, floatx):
    made = common_of(dtypes)
    return made if is_float(made) else floatx


def always(dtype):
    return lambda args, dtypes, floatx: dtype


def dtype_argument(args, dtypes, floatx):
    return args["dtype"]


def real(x):
    """Without the derivative."""
    return x.real if x.dtype.kind == "c" else x


def magnitude(x):
    """|x| of the value alone, in float64."""
    return np.abs(real(x))


def dual(x, f, df):
    """f(x), and its derivative where one is carried along."""
    if x.dtype.kind != "c":
        return f(x)
    made = np.empty(x.shape, complex)
    made.real = f(x.real)
    made.imag = df(x.real) * x.imag
    return made


def channels_first(args):
    """Of a data_format; "default:.." is not written in the call, but set for the whole program."""
    return args["data_format"].endswith("channels_first")
