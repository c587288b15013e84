"""foldl: elements combined from first to last."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case, error
from cases.inputs import rand


def half_and_add(acc, e):
    return acc * 0.5 + K.tanh(e)


def plain(x):
    return K.foldl(half_and_add, x)


def plain_oracle(x):
    acc = x[0]
    for e in x[1:]:
        acc = acc * 0.5 + np.tanh(e)
    return acc


for shape in [(4, 3), (1, 3), (5,), (2, 3, 4), (31, 2)]:
    case(plain, [rand(*shape)], oracle=plain_oracle, second=shape == (4, 3), tol={"float32": 1e-5})


def with_start(x, start):
    return K.foldl(half_and_add, x, initializer=start)


def with_start_oracle(x, start):
    acc = start
    for e in x:
        acc = acc * 0.5 + np.tanh(e)
    return acc


for shape in [(4, 3), (1, 3), (0, 3)]:
    case(with_start, [rand(*shape), rand(3)], oracle=with_start_oracle, second=shape == (4, 3))


def another_shape(x, start):
    """The accumulator need not look like the elements."""
    return K.foldl(lambda acc, e: acc + K.sum(e), x, initializer=start)


case(another_shape, [rand(4, 3), rand(2, 2)], oracle=lambda x, start: start + x.sum())


def captured(x, w):
    return K.foldl(lambda acc, e: acc * w + e, x)


def captured_oracle(x, w):
    acc = x[0]
    for e in x[1:]:
        acc = acc * w + e
    return acc


case(captured, [rand(4, 3), rand(3)], oracle=captured_oracle, second=True)
error(
    plain,
    [rand(0, 3)],
    text="foldl: elems must not be empty without an initializer; got shape (0, 3).",
)
error(plain, [rand()], text="foldl: elems must have at least 1 dimension; got shape ().")
error(
    lambda x: K.foldl(lambda acc, e: K.cast(acc, "float64"), x),
    [rand(3, 2)],
    raises=TypeError,
    label="foldl(another dtype)",
    text="foldl: fn must keep the dtype of the accumulator, float32; got float64.",
)
families.edges(plain, plain_oracle, [rand(101, 103)], tol={"float32": 1e-5})
