"""reshape: the same elements in the same order under another shape."""

import horngate as K
import numpy as np
import pytest
from cases import families
from cases.harness import case, check, error
from cases.inputs import data, rand


def reshape(x, shape):
    return np.reshape(x, shape)


for old, new in [
    ((2, 3), (3, 2)),
    ((2, 3), (6,)),
    ((2, 3), (-1,)),
    ((2, 3), (1, -1)),
    ((2, 3, 4), (-1, 4)),
    ((2, 3, 4), (2, 12)),
    ((2, 3, 4), (4, 3, 2)),
    ((1,), ()),
    ((), (1, 1)),
    ((0, 3), (3, 0)),
    ((0, 3), (-1, 3)),
    ((2, 0, 3), (0,)),
    ((7, 11, 13), (-1, 11)),
    ((2, 3), (2, 1, 3)),
]:
    case(K.reshape, [rand(*old)], shape=new, oracle=reshape, tol=0, second=new == (6,))
for dtype in ("float16", "bfloat16", "int8", "int64", "uint16", "bool"):
    case(K.reshape, [rand(2, 3)], shape=(3, 2), oracle=reshape, dtypes=(dtype,), tol=0)
case(K.reshape, [rand(2, 3, 4).known(1, 2)], shape=(-1, 12), oracle=reshape, none=(None, 12))


def by_the_shape_of_another(x, y):
    return K.reshape(x, K.shape(y))


def with_a_tensor_among_numbers(x, y):
    return K.reshape(x, (K.shape(y)[0], -1))


case(
    by_the_shape_of_another,
    [rand(2, 6), rand(3, 4).no_grad()],
    oracle=lambda x, y: x.reshape(y.shape),
)
case(
    with_a_tensor_among_numbers,
    [rand(2, 6), rand(3, 4).no_grad()],
    oracle=lambda x, y: x.reshape(3, 4),
)
case(
    lambda x, shape: K.reshape(x, shape),
    [rand(2, 6), data([3, 4], "int32").known()],
    oracle=reshape,
    open=True,
    label="reshape(by a fed shape)",
)
error(
    K.reshape,
    [rand(2, 3)],
    shape=(4, 2),
    text="reshape: (2, 3) has 6 elements and cannot become (4, 2), which has 8.",
)
error(
    K.reshape,
    [rand(2, 3)],
    shape=(4, -1),
    text="reshape: (2, 3) has 6 elements and cannot become (4, -1): 6 is not a multiple of 4.",
)
error(
    K.reshape,
    [rand(2, 3)],
    shape=(-1, -1),
    text="reshape: shape must have at most one -1; got (-1, -1).",
)
error(
    K.reshape,
    [rand(2, 3)],
    shape=(-2, 3),
    text="reshape: shape must have entries of at least 0, or -1 for what is left; got (-2, 3).",
)
error(
    K.reshape,
    [rand(2, 3)],
    shape=(4, -1),
    run=True,
    text="reshape: (2, 3) has 6 elements and cannot become (4, -1): 6 is not a multiple of 4.",
)
families.edges(K.reshape, reshape, [rand(101, 103)], [rand(1, 1)], [rand(0, 3)], shape=(-1,), tol=0)


@check
def what_comes_before_a_view_is_checked():
    """The second view needs no more than the elements; whether the first one can be made, a call knows."""
    x, shape = K.placeholder((None, None)), K.placeholder((2,), dtype="int32")
    f = K.function([x], [K.reshape(K.squeeze(x, 0), (2, 3))])
    g = K.function([x, shape], [K.reshape(K.reshape(x, shape), (2, 3))])
    assert f([np.ones((1, 6))])[0].shape == g([np.ones((1, 6)), [3, 2]])[0].shape == (2, 3)
    with pytest.raises(ValueError, match="squeeze"):
        f([np.ones((2, 3))])
    with pytest.raises(ValueError, match=r"reshape: \(1, 6\) has 6 elements"):
        g([np.ones((1, 6)), [5, 2]])


@check
def to_the_same_shape_is_checked():
    """A known x leaves one way to fill an open shape, which the call has to ask for."""
    x, n = K.placeholder((2, 3)), K.placeholder((), dtype="int32")
    f = K.function([x, n], [K.reshape(x, (2, n))])
    assert f([np.ones((2, 3)), 3])[0].shape == (2, 3)
    with pytest.raises(ValueError, match=r"reshape: \(2, 3\) has 6 elements"):
        f([np.ones((2, 3)), 5])
