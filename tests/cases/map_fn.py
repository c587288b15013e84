"""map_fn: a function of each element along the first axis."""

import horngate as K
import numpy as np
import pytest
from cases import families
from cases.harness import case, check, error
from cases.inputs import distinct, rand


def rows(x):
    return K.map_fn(lambda row: K.tanh(row) * K.sum(row), x)


def rows_oracle(x):
    return np.array([np.tanh(r) * r.sum() for r in x]).reshape(x.shape)


for shape in [(4, 3), (1, 3), (5,), (2, 3, 4), (0, 3), (31, 7)]:
    case(rows, [rand(*shape)], oracle=rows_oracle, second=shape == (4, 3), tol={"float32": 1e-5})


def to_scalars(x):
    return K.map_fn(lambda row: K.max(row), x)


case(to_scalars, [distinct(4, 3)], oracle=lambda x: x.max(1))


def with_a_captured_matrix(x, w):
    return K.map_fn(lambda row: K.dot(K.expand_dims(row, 0), w), x)


case(
    with_a_captured_matrix,
    [rand(4, 3), rand(3, 2)],
    oracle=lambda x, w: (x @ w)[:, None],
    second=True,
)


def nested(x):
    return K.map_fn(lambda row: K.map_fn(lambda e: e * K.sum(row), row), x)


case(nested, [rand(3, 4)], oracle=lambda x: x * x.sum(1, keepdims=True), second=True)


def of_two(x, y):
    return K.map_fn(lambda pair: pair[0] * K.sum(pair[1]), (x, y))


case(of_two, [rand(4, 3), rand(4, 2)], oracle=lambda x, y: x * y.sum(1, keepdims=True), second=True)


def to_two(x):
    return K.map_fn(lambda pair: (pair[0] + 1, pair[0] * 2), (x,))


case(to_two, [rand(4, 3)], oracle=lambda x: (x + 1, x * 2))


def to_ints(x):
    return K.map_fn(lambda row: K.argmax(row), x, dtype="int32")


case(to_ints, [distinct(4, 3)], oracle=lambda x: x.argmax(1), out="int32")
error(
    lambda x: K.map_fn(K.exp, x),
    [rand()],
    label="map_fn(scalar)",
    text="map_fn: elems must have at least 1 dimension; got shape ().",
)
error(
    of_two,
    [rand(4, 3), rand(5, 3)],
    text="map_fn: elems must have the same number of elements; got shapes (4, 3) and (5, 3).",
)


@check
def a_part_of_nothing():
    x = K.variable(np.full((1, 1, 1), 0.5))
    assert K.eval(K.map_fn(lambda p: K.softsign(p)[:, :-1], x)).shape == (1, 1, 0)


@check
def random_numbers_differ_from_step_to_step():
    y = K.map_fn(lambda row: row + K.random_uniform((3,), seed=1), K.constant(np.zeros((4, 3))))
    assert len(np.unique(K.eval(y))) == 12


@check(depends=(False, True))
def updates_in_a_step_are_refused(depends):
    v = K.variable(np.zeros(3), name="total")
    x = K.constant(np.ones((4, 3)))
    with pytest.raises(
        ValueError, match='map_fn: the step function updates variable "total"; updates belong outside'
    ):
        K.map_fn(lambda row: row + K.update_add(v, row if depends else K.ones((3,))), x)


error(
    of_two,
    [rand(3, 2), rand(4, 2)],
    run=True,
    text="map_fn: sequences must have the same length; got 3 and 4.",
)
families.edges(rows, rows_oracle, [rand(101, 103)], tol={"float32": 1e-5})
