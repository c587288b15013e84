"""slice: a block of a tensor."""

import horngate as K
import numpy as np
import pytest
from cases import families
from cases.harness import case, check, error
from cases.inputs import data, rand


def block(x, start, size):
    return x[tuple(np.s_[b : None if n == -1 else b + n] for b, n in zip(start, size))]


for shape, start, size in [
    ((4, 3), [1, 0], [2, 2]),
    ((4, 3), [1, 1], [-1, -1]),
    ((4, 3), [0, 0], [4, 3]),
    ((4, 3), [4, 0], [0, -1]),
    ((5,), [2], [2]),
    ((2, 3, 4), (0, 1, 2), (2, 1, -1)),
    ((0, 3), [0, 1], [0, 2]),
    ((131, 67), [7, 3], [101, 61]),
]:
    case(
        K.slice, [rand(*shape)], start=start, size=size, oracle=block, tol=0, second=len(shape) == 1
    )
case(K.slice, [rand(4, 3)], start=[1, 0], size=[2, -1], oracle=block, none=(2, None), tol=0)
for dtype in ("float16", "bfloat16", "int8", "int64", "bool"):
    case(K.slice, [rand(4, 3)], start=[1, 0], size=[2, 2], oracle=block, tol=0, dtypes=(dtype,))


def by_tensors(x, start, size):
    return K.slice(x, start, size)


def by_tensors_oracle(x, start, size):
    return block(x, start.tolist(), size.tolist())


for start, size in [([1, 0], [2, 3]), ([1, 0], [-1, 3]), ([5, 4], [-1, -1]), ([0, 4], [0, 0])]:
    case(
        by_tensors,
        [rand(5, 4), data(start, "int32").known(), data(size, "int32").known()],
        oracle=by_tensors_oracle,
        tol=0,
        open=True,
    )
error(
    K.slice,
    [rand(4, 3)],
    start=[1],
    size=[2, 2],
    text="slice: start and size must have one entry per axis of x; got 1 and 2 for shape (4, 3).",
)
error(
    K.slice,
    [rand(4, 3)],
    start=[5, 0],
    size=[0, 1],
    text="slice: start must be at most 4 on axis 0 of x of shape (4, 3); got 5.",
)
error(
    K.slice,
    [rand(4, 3)],
    start=[1, 1],
    size=[2, 3],
    text="slice: start + size must be at most 3 on axis 1 of x of shape (4, 3); got 1 + 3.",
)
families.edges(K.slice, block, [rand(101, 103)], [rand(1, 1)], start=[0, 0], size=[1, -1], tol=0)


@check
def what_there_is_not_is_an_error_beside_an_axis_of_0():
    """No elements are too few for nothing, so that their number alone would not tell."""
    x, start, size = K.placeholder((4, 5)), *(K.placeholder((2,), dtype="int32") for _ in "ab")
    computed = K.function([x, start, size], [K.slice(x, start, size)])
    rows, columns = K.placeholder((None, 5)), K.placeholder((4, None))
    cells = K.placeholder((None, None))
    feed = np.ones((4, 5))
    for at, n, fits in [
        ((4, 5), (0, 0), True),
        ((4, 5), (-1, -1), True),
        ((4, 2), (0, 3), True),
        ((1, 5), (3, 0), True),
        ((4, 5), (0, 1), False),
        ((4, 4), (-1, 2), False),
        ((3, 5), (2, 0), False),
        ((5, 1), (0, 0), False),
        ((5, 1), (-1, 0), False),
        ((4, 6), (0, -1), False),
    ]:
        size_of = tuple(total - a if m == -1 else m for total, a, m in zip((4, 5), at, n))
        if fits:
            assert computed([feed, list(at), list(n)])[0].shape == size_of
        else:
            with pytest.raises(ValueError, match="slice"):
                computed([feed, list(at), list(n)])
        for given in (rows, columns, cells):
            try:
                y = K.slice(given, at, n)
            except ValueError:
                assert not fits
                continue
            f = K.function([given], [y])
            if fits:
                assert f([feed])[0].shape == size_of
            elif max(at[0] - 4, at[1] - 5) <= 0:
                with pytest.raises(ValueError, match="slice"):
                    f([feed])
    assert K.int_shape(K.slice(cells, (0, 0), (2, -1))) == (2, None)
    y = K.slice(cells, (0, 0), (2, -1))
    assert K.function([cells], [y])([np.ones((3, 0))])[0].shape == (2, 0)
    with pytest.raises(ValueError, match="slice"):
        K.function([cells], [y])([np.ones((1, 0))])


@check
def a_start_beyond_an_open_axis_is_an_error():
    x = K.placeholder((None, 2))
    f = K.function([x], [K.slice(x, [2, 0], [-1, 2])])
    assert [f([np.ones((n, 2))])[0].shape for n in (2, 3)] == [(0, 2), (1, 2)]
    with pytest.raises(ValueError, match="slice"):
        f([np.ones((1, 2))])
