"""bias_add: a bias along the channels, or for each position."""

import horngate as K
import numpy as np
import pytest
from cases import oracles
from cases.harness import case, check, error
from cases.inputs import rand

for shape in [(4, 3), (2, 4, 3), (2, 4, 5, 3), (1, 2, 4, 2, 3)]:
    case(K.bias_add, [rand(*shape), rand(3)], oracle=oracles.bias_add, second=True)
    case(K.bias_add, [rand(*shape), rand(*shape[1:])], oracle=oracles.bias_add)
    if len(shape) < 3:
        continue
    first = (shape[0], 3, *shape[1:-1])
    case(
        K.bias_add,
        [rand(*first), rand(3)],
        data_format="channels_first",
        oracle=oracles.bias_add,
        second=True,
    )
    # The bias is written channels_last and reshaped, not transposed, as Keras does.
    case(
        K.bias_add,
        [rand(*first), rand(*shape[1:])],
        data_format="channels_first",
        oracle=oracles.bias_add,
    )
    case(K.bias_add, [rand(*shape), rand(3)], data_format="channels_last", oracle=oracles.bias_add)
case(K.bias_add, [rand(0, 3), rand(3)], oracle=oracles.bias_add)
case(K.bias_add, [rand(67, 31, 5), rand(5)], oracle=oracles.bias_add, grad=False)
case(
    K.bias_add,
    [rand(4, 3), rand(3)],
    oracle=oracles.bias_add,
    dtypes=("float16", "bfloat16", "int32"),
)
case(K.bias_add, [rand(4, 3).known(1), rand(3).known()], oracle=oracles.bias_add, none=(None, 3))
error(
    K.bias_add,
    [rand(2, 4, 5, 3), rand(5, 3)],
    text="bias_add: bias must have 1 or 3 dimensions for x of shape (2, 4, 5, 3); got shape (5, 3).",
)
error(
    K.bias_add,
    [rand(2, 4, 3), rand(4)],
    text="bias_add: bias of shape (4,) does not fit x of shape (2, 4, 3) (channels_last).",
)
error(
    K.bias_add,
    [rand(2, 4, 3), rand(3)],
    data_format="channels_first",
    text="bias_add: bias of shape (3,) does not fit x of shape (2, 4, 3) (channels_first).",
)
error(
    K.bias_add,
    [rand(2, 4, 3), rand(3)],
    data_format="channels_middle",
    text='bias_add: data_format must be "channels_last" or "channels_first"; got "channels_middle".',
)


@check
def open_sizes_must_agree_in_the_call():
    x, bias = K.placeholder((None, None)), K.placeholder((None,))
    images = K.placeholder((None, None, None, 2))
    f = K.function([x, bias], [K.bias_add(x, bias)])
    g = K.function([images, bias], [K.bias_add(images, bias, data_format="channels_first")])
    np.testing.assert_array_equal(f([np.ones((2, 3)), [1, 2, 3]])[0], [[2, 3, 4]] * 2)
    assert g([np.ones((1, 3, 2, 2)), [1, 2, 3]])[0][0, :, 0, 0].tolist() == [2, 3, 4]
    for call in (
        lambda: f([np.ones((2, 3)), [1]]),
        lambda: f([np.ones((2, 1)), [1, 2, 3]]),
        lambda: g([np.ones((1, 3, 2, 2)), [1]]),
    ):
        with pytest.raises(ValueError, match="bias_add"):
            call()


@check
def a_known_bias_must_fit_an_open_size():
    x, bias = K.placeholder((None, None)), K.placeholder((3,))
    f = K.function([x, bias], [K.bias_add(x, bias)])
    np.testing.assert_array_equal(f([np.ones((2, 3)), [1, 2, 3]])[0], [[2, 3, 4]] * 2)
    with pytest.raises(ValueError, match="bias_add"):
        f([np.ones((2, 1)), [1, 2, 3]])


@check(data_format=("channels_last", "channels_first"), known=(False, True))
def x_is_not_spread_over_a_bias_with_several_axes(data_format, known):
    first = data_format == "channels_first"
    x = K.placeholder((None, 2, None) if first else (None, None, 2))
    bias = K.placeholder((3, 2) if known else (None, None))
    f = K.function([x, bias], [K.bias_add(x, bias, data_format=data_format)])
    rng = np.random.default_rng(0)
    feed, b = rng.normal(size=(2, 3, 2)), rng.normal(size=(3, 2))
    shape = (2, 2, 3) if first else (2, 3, 2)
    wanted = feed.reshape(shape) + (b.reshape(2, 3) if first else b)
    np.testing.assert_allclose(f([feed.reshape(shape), b])[0], wanted, rtol=1e-5)
    with pytest.raises(ValueError, match="bias_add"):
        f([np.ones((2, 2, 1) if first else (2, 1, 2)), b])
    if not known:  # a bias of one row is for all
        assert f([np.ones(shape), b[:1]])[0].shape == shape
