"""Element-wise primitives."""

import numpy as np
import theano.tensor as T

from graph import lower
from types_of import NAMES, carried, is_float

PLAIN = {
    "neg": T.neg,
    "exp": T.exp,
    "expm1": T.expm1,
    "log": T.log,
    "log1p": T.log1p,
    "sqrt": T.sqrt,
    "sin": T.sin,
    "cos": T.cos,
    "tanh": T.tanh,
    "erf": T.erf,
    "add": T.add,
    "sub": T.sub,
    "mul": T.mul,
    "eq": T.eq,
    "ne": T.neq,
    "lt": T.lt,
    "le": T.le,
    "gt": T.gt,
    "ge": T.ge,
    "div": T.true_div,
}
for _name, _f in PLAIN.items():
    lower(_name)(lambda c, *x, f=_f: f(*x))


def is_bool(c):
    return c.ins[0][0] == NAMES.index("bool")


def has_floats(c):
    return is_float(c.ins[0][0])


def is_unsigned(c):
    return NAMES[c.ins[0][0]].startswith("uint") or is_bool(c)


@lower("abs")
def absolute(c, x):
    return x if is_unsigned(c) else abs(x)


@lower("sign")
def sign(c, x):
    one = c.number(1)
    if is_unsigned(c):
        return T.switch(T.gt(x, 0), one, x)
    return T.switch(T.gt(x, 0), one, T.switch(T.lt(x, 0), -one, x))


@lower("rsqrt")
def rsqrt(c, x):
    return c.number(1) / T.sqrt(x)


@lower("sigmoid")
def sigmoid(c, x):
    # Theano's own sigmoid is cut off where float64 still has digits.
    return c.number(1) / (c.number(1) + T.exp(-x))


@lower("floor")
def floor(c, x):
    return T.floor(x) if has_floats(c) else x


@lower("round")
def round_(c, x):
    return T.round(x, mode="half_to_even") if has_floats(c) else x


@lower("logical_not")
def logical_not(c, x):
    return T.eq(x, 0)


@lower("logical_and")
def logical_and(c, a, b):
    return T.and_(T.neq(a, 0), T.neq(b, 0))


@lower("logical_or")
def logical_or(c, a, b):
    return T.or_(T.neq(a, 0), T.neq(b, 0))


@lower("stop_gradient", moves=True)
def stop_gradient(c, x):
    return x


@lower("cast")
def cast(c, x):
    if c.dtype == "bool":
        return T.neq(x, 0)
    if has_floats(c) and not is_float(c.outs[0][0]):
        return float_to_int(x, c.dtype)
    return T.cast(x, c.dtype)


def float_to_int(x, dtype):
    """Truncates; NaN gives 0, and 32 and 64 bits saturate."""
    x = T.switch(T.isnan(x), T.zeros_like(x), x)
    if dtype in ("int32", "int64"):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        y = T.cast(x, dtype)
        y = T.switch(T.ge(x, float(high)), np.asarray(high, dtype), y)
        return T.switch(T.le(x, float(low)), np.asarray(low, dtype), y)
    if dtype == "uint64":  # negative numbers wrap, as in NumPy
        return T.switch(T.lt(x, 0), T.cast(T.cast(x, "int64"), dtype), T.cast(x, dtype))
    return T.cast(T.cast(x, "int64"), dtype)


def safe_divisor(b):
    """(divisor without zeros, where it was zero): a zero would crash the worker's process."""
    is_zero = T.eq(b, 0)
    return T.switch(is_zero, T.ones_like(b), b), is_zero


@lower("floordiv")
def floordiv(c, a, b):
    if has_floats(c):
        return float_floordiv(c, a, b)
    divisor, is_zero = safe_divisor(b)
    zero = T.constant(np.asarray(0, c.dtype))
    if is_unsigned(c):
        return T.switch(is_zero, zero, T.int_div(a, divisor))
    # The smallest number divided by -1 overflows; -a wraps correctly.
    divisor = T.switch(T.eq(divisor, -1), T.ones_like(b), divisor)
    made = T.switch(T.eq(b, -1), T.cast(-a, c.dtype), T.cast(T.int_div(a, divisor), c.dtype))
    return T.switch(is_zero, zero, made)


def float_floordiv(c, a, b):
    """By the remainder, which is exact; the quotient is then rounded to the integer that it nearly is."""
    rest = float_mod(c, a, b)
    quotient = (a - rest) / b
    whole = T.round(quotient, mode="half_to_even")
    # A finite number divided by an infinite one: 0, or -1 where the signs differ. (An infinite a
    # gives NaN.)
    across = T.switch(T.lt(a, 0), T.gt(b, 0), T.and_(T.gt(a, 0), T.lt(b, 0)))
    by_infinity = T.switch(T.isinf(a), quotient, T.cast(T.switch(across, -1, 0), c.dtype))
    whole = T.switch(T.and_(T.isinf(b), T.eq(a, a)), by_infinity, whole)
    return T.switch(T.eq(b, 0), a / b, whole)


def float_mod(c, a, b):
    return T.mod(a, b)


@lower("mod")
def mod(c, a, b):
    if has_floats(c):
        return float_mod(c, a, b)
    divisor, is_zero = safe_divisor(b)
    zero = T.constant(np.asarray(0, c.dtype))
    if not is_unsigned(c):
        is_zero = T.or_(is_zero, T.eq(b, -1))
        divisor = T.switch(T.eq(divisor, -1), T.ones_like(b), divisor)
    return T.switch(is_zero, zero, T.mod(a, divisor))


@lower("pow")
def pow_(c, a, b):
    if has_floats(c):
        return T.pow(a, b)
    return int_pow(c, a, b)


def is_positive(b):
    """Known and nowhere negative, so that few bits are enough."""
    return isinstance(b, T.Constant) and b.data.size > 0 and b.data.min() >= 0


def int_pow(c, a, b):
    """By squaring; wraps around. A negative exponent gives 0, except for the bases 1 and -1."""
    dtype = carried(c.ins[0][0])
    one = T.constant(np.asarray(1, dtype))
    result, base, rest = T.ones_like(a + b), a, b
    bits = int(b.data.max()).bit_length() if is_positive(b) else np.iinfo(dtype).bits
    for _ in range(bits):
        odd = T.eq(T.mod(rest, 2 * one), one)
        result = T.cast(T.switch(odd, result * base, result), dtype)
        base = T.cast(base * base, dtype)
        rest = T.cast(T.int_div(rest, 2 * one), dtype)
    if is_unsigned(c) or is_positive(b):
        return result
    minus = T.switch(T.eq(T.mod(b, 2 * one), one), -one, one)
    ended = T.switch(T.eq(a, one), one, T.switch(T.eq(a, -one), minus, one - one))
    return T.switch(T.lt(b, 0), ended, result)


@lower("maximum")
def maximum(c, a, b):
    return T.or_(a, b) if is_bool(c) else T.maximum(a, b)


@lower("minimum")
def minimum(c, a, b):
    return T.and_(a, b) if is_bool(c) else T.minimum(a, b)


@lower("select", moves=True)
def select(c, condition, a, b):
    return T.switch(condition, a, b)
