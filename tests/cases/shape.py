"""shape: the shape as a tensor."""

import horngate as K
import numpy as np
from cases.harness import case, check
from cases.inputs import rand


def shape(x):
    return np.array(x.shape, "int32")


for dims in [(2, 3), (), (0, 2), (5,), (2, 1, 3)]:
    case(
        K.shape,
        [rand(*dims)],
        oracle=shape,
        dtypes=("float32", "int64"),
        out="int32",
        none=(len(dims),),
    )


@check
def of_an_open_axis():
    x = K.placeholder((None, 3))
    f = K.function([x], [K.shape(x)[0] * 2])
    for n in (0, 1, 5):
        assert f([np.zeros((n, 3))])[0] == 2 * n


PARTS = (
    slice(-2, None),
    slice(None, -1),
    slice(-3, -1),
    slice(-1, None),
    slice(None, None, -1),
    slice(-1, -3, -1),
    slice(-9, 9, 2),
)


@check(part=PARTS)
def parts_of_open_shapes(part):
    """Arithmetic on shapes is done while a plan is made: the same entries as at run time."""
    x = K.placeholder((None, 3, None, 2))
    f = K.function([x], [K.shape(x)[part], K.zeros_like(x), K.sum(K.shape(x)[part] * 2)])
    for shape in ((1, 3, 4, 2), (5, 3, 1, 2), (0, 3, 2, 2)):
        got, _, total = f([np.zeros(shape)])
        np.testing.assert_array_equal(got, np.array(shape)[part])
        assert total == 2 * np.array(shape)[part].sum()


@check
def reshapes_by_parts_of_a_shape():
    x = K.placeholder((None, None, 4))
    y = K.reshape(x, K.concatenate([K.shape(x)[-1:], K.shape(x)[:-1]], axis=0))
    f = K.function([x], [y])
    for shape in ((2, 3, 4), (5, 1, 4)):
        feed = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        np.testing.assert_array_equal(f([feed])[0], feed.reshape(4, *shape[:2]))
