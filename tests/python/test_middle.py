"""Results in the middle of a program are values like all others: fed, and differentiated with respect to.

The oracle is the rest of the program, on a variable that holds the result.
"""

import horngate as K
import numpy as np
import pytest

X = np.arange(1.0, 13.0).reshape(3, 4) / 7
MAKE = {
    "reshape": lambda x: K.reshape(x, (2, 6)),
    "flatten": K.flatten,
    "batch_flatten": lambda x: K.batch_flatten(K.reshape(x, (3, 2, 2))),
    "transpose": K.transpose,
    "permute": lambda x: K.permute_dimensions(x, (1, 0)),
    "expand_dims": lambda x: K.expand_dims(x, 1),
    "negative": lambda x: -x,
    "plus 0": lambda x: x + 0,
    "slice": lambda x: x[:],
    "concatenate": lambda x: K.concatenate([x, 2 * x], 1),
    "stop_gradient": K.stop_gradient,
    "identity": K.identity,
}
USE = {
    "reshape": lambda y: K.reshape(y, (-1, 2)),
    "flatten": K.flatten,
    "transpose": lambda y: K.permute_dimensions(y, range(K.ndim(y))[::-1]),
    "squeeze": lambda y: K.squeeze(K.expand_dims(y, 0), 0),
    "negative": lambda y: -y,
    "slice": lambda y: y[:1],
    "sum": lambda y: K.sum(y, 0),
}


def value_and_gradients(y, use):
    """Of a loss of which the used part is one of two paths, and of one in which it is the only path."""
    both = K.sum(K.square(use(y))) + K.sum(3 * y)
    only = K.sum(K.exp(use(y)))
    return [both, only, *K.gradients(both, [y]), *K.gradients(only, [y])]


@pytest.mark.parametrize("use", USE)
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("is_open", [False, True])
def test_it_may_be_fed_and_differentiated(make, use, is_open):
    x = K.placeholder((None, 4) if is_open and make != "reshape" else (3, 4), dtype="float64")
    y = MAKE[make](x)
    results = value_and_gradients(y, USE[use])
    assert all(r is not None for r in results)
    value = K.function([x], [y])([X])[0]
    for fed in (value, np.cos(value)):
        alone = K.variable(fed, dtype="float64")
        wanted = K.function([], value_and_gradients(alone, USE[use]))([])
        # What is before it need not be fed.
        got = K.function([y], results)([fed])
        also = K.function([x, y], results)([X + 1, fed])
        for a, b, c in zip(got, also, wanted):
            np.testing.assert_allclose(a, c, rtol=1e-12)
            np.testing.assert_allclose(b, c, rtol=1e-12)
    np.testing.assert_allclose(
        K.function([x], results)([X])[2],
        K.function([], value_and_gradients(K.variable(value, dtype="float64"), USE[use]))([])[2],
        rtol=1e-12,
    )


def test_tied_weights():
    w, x = K.variable(np.ones((6, 6))), K.placeholder((None, 6))
    turned = K.transpose(w)
    loss = K.sum(K.dot(K.dot(x, turned), K.transpose(turned)))
    got = K.function([x], K.gradients(loss, [turned]))([np.ones((1, 6))])[0]
    np.testing.assert_array_equal(got, np.full((6, 6), 12))


@pytest.mark.parametrize("value", [0.0, 1.0, 2.0])
def test_gradients_with_respect_to_constants(value):
    """Also of those that change nothing."""
    x = K.constant([1.0, 2.0, 3.0])
    for make in (K.constant, lambda v: K.ones_like(x) * v, lambda v: K.zeros_like(x) + v):
        c = make(value)
        for loss, wanted in (
            (x * c, [1, 2, 3]),
            (x + c, [1, 1, 1]),
            (c - x, [1, 1, 1]),
            (c / x, [1, 1 / 2, 1 / 3]),
        ):
            got = K.eval(K.gradients(K.sum(loss), [c])[0])
            np.testing.assert_allclose(np.sum(got), np.sum(wanted), rtol=1e-6)
        one = K.eval(K.gradients(K.sum(K.square(c)), [c])[0])
        np.testing.assert_allclose(one, np.full(one.shape, 2 * value))
    c = K.constant(2.0)
    assert K.eval(K.gradients(K.cast(c, "float64") * 3, [c])[0]) == 3
    got = K.eval(K.gradients(K.sum(K.pow(x, c)), [c])[0])
    np.testing.assert_allclose(got, 4 * np.log(2) + 9 * np.log(3), rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: K.constant(2.0),
        lambda x: K.constant([[1.0, 2.0]]),
        K.ones_like,
        K.zeros_like,
        K.shape,
        lambda x: K.cast(K.constant(2), "int64") * 2,
    ],
)
def test_constants_are_not_fed(make):
    """The graph may have used their values: to ignore the feed would be wrong without a word."""
    x = K.placeholder((3,))
    c = make(x)
    with pytest.raises(ValueError) as caught:
        K.function([x, c], [x * 2])
    assert str(caught.value) == (
        "function: input 1 is a constant, and the graph may already use its value. "
        "To feed it, make it a placeholder or a variable."
    )
