"""Values that no honest program gives: lists that contain themselves, text of every kind, integers of every size."""

import json
import os
import pathlib
import random
import subprocess
import sys

import horngate as K
import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "reliability"))
import integer_fuzz  # noqa: E402

ODD = 2**53 + 1  # no double has this value


def own_list():
    a = [1.0, 2.0]
    a.append(a)
    return a


def own_twice():
    a = []
    a.extend([a, a, a])
    return a


def own_by_way():
    a, b = [1], (2,)
    a.append(b + (a,))
    return a


def too_deep():
    a = [1.0]
    for _ in range(100000):
        a = [a]
    return a


def with_tensor():
    a = [K.constant(1.0)]
    a.append(a)
    return a


LISTS = [own_list, own_twice, own_by_way, too_deep, with_tensor]


@pytest.mark.parametrize("make", LISTS)
def test_lists_that_contain_themselves(make):
    v, x = K.variable([1.0, 2.0]), K.placeholder((None, 2))
    f = K.function([x], [x * 2])
    for use in (
        K.variable,
        K.constant,
        K.square,
        K.stack,
        lambda a: K.variable(a, dtype="float64"),
        lambda a: K.constant(a, dtype="int32", shape=(2,)),
        lambda a: K.set_value(v, a),
        lambda a: K.batch_set_value([(v, a)]),
        lambda a: K.concatenate([v, a]),
        lambda a: K.update(v, a),
        lambda a: x + a,
        lambda a: a * x,
        lambda a: K.maximum(x, a),
        lambda a: K.switch(True, a, x),
        lambda a: K.gather(x, a),
        lambda a: K.function([x], [x], feed_dict={v: a}),
        lambda a: f([a]),
        lambda a: f(a),
        lambda a: K.reshape(x, a),
        lambda a: K.zeros(a),
        lambda a: K.sum(x, axis=a),
        lambda a: x[a],
    ):
        with pytest.raises((ValueError, TypeError, IndexError)) as caught:
            use(make())
        assert len(str(caught.value)) < 1000


def test_the_text_about_them():
    with pytest.raises(ValueError, match=r"^variable: a list must not contain itself\.$"):
        K.variable(own_list())
    with pytest.raises(ValueError, match=r"^constant: lists must not be nested more than 64 deep"):
        K.constant(too_deep())
    shared = [1.0, 2.0]
    np.testing.assert_array_equal(K.get_value(K.variable([shared, shared])), [[1, 2], [1, 2]])


@pytest.mark.parametrize("text", ["\udcff", "a\0b", "\U0010ffff", "x" * 10000, "\n"])
def test_text_of_every_kind(text):
    for use in (
        lambda: K.variable(1.0, dtype=text),
        lambda: K.conv2d(K.placeholder((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), padding=text),
        lambda: K.pool2d(K.placeholder((1, 4, 4, 1)), (2, 2), data_format=text),
        lambda: K.normalize_data_format(text),
        lambda: K.set_floatx(text),
        lambda: K.resize_images(K.placeholder((1, 4, 4, 1)), 2, 2, text),
        lambda: K.sum(K.placeholder((1, 4)), axis=text),
        lambda: K.function([text], []),
        lambda: K.reshape(K.placeholder((1, 4)), text),
        lambda: K.square(text),
    ):
        with pytest.raises((ValueError, TypeError)) as caught:
            use()
        assert not isinstance(caught.value, UnicodeError), caught.value
    try:
        assert K.variable(1.0, name=text).name
    except ValueError:  # half a character cannot be a name
        assert text == "\udcff"


def test_integers_stay_exact():
    def values(t):
        return np.asarray(K.eval(t)).ravel().tolist()

    v = K.variable([ODD, -ODD], dtype="int64")
    assert values(v) == [ODD, -ODD]
    for dtype in ("int64", "uint64"):
        assert values(K.constant(ODD, dtype=dtype)) == [ODD]
        assert values(K.constant(ODD, dtype=dtype, shape=(2, 1))) == [ODD, ODD]
        assert values(K.arange(ODD, ODD + 5, 2, dtype=dtype)) == [ODD, ODD + 2, ODD + 4]
        assert values(K.cast(K.constant(ODD, dtype="int64"), dtype)) == [ODD]
        x = K.placeholder((1,), dtype=dtype)
        made = [x + ODD, ODD + x, x * 1, x - 1, K.maximum(x, ODD + 4), K.clip(x, 1, ODD - 2)]
        made += [x // ODD, x % (ODD - 1), K.minimum(x, ODD - 2), K.sum(x), K.max(x), x[0] + 2]
        out = K.function([x], made)([np.array([ODD], dtype)])
        got = [int(np.ravel(o)[0]) for o in out]
        assert got[:6] == [2 * ODD, 2 * ODD, ODD, ODD - 1, ODD + 4, ODD - 2]
        assert got[6:] == [1, 1, ODD - 2, ODD, ODD, ODD + 2]
        np.testing.assert_array_equal(K.function([x], [K.equal(x, ODD)])([[ODD]])[0], [True])
        np.testing.assert_array_equal(K.function([x], [K.equal(x, ODD - 1)])([[ODD]])[0], [False])
    big = K.constant(2**63 + 1, dtype="uint64")
    assert values(big) == [2**63 + 1]
    assert values(big + 2) == [2**63 + 3]
    assert values(K.constant(1, dtype="uint64") + (2**63 + 1)) == [2**63 + 2]


def test_the_least_integer_divided_by_minus_one():
    for least in (-(2**63), -(2**31)):
        dtype = "int64" if least < -(2**31) else "int32"
        x = K.placeholder((2,), dtype=dtype)
        f = K.function([x], [x // -1, x % -1, x // K.constant([-1, -1], dtype=dtype)])
        out = f([np.array([least, 7], dtype)])
        assert [int(o[1]) for o in out] == [-7, 0, -7]
        assert int(out[1][0]) == 0
    c = K.constant([-(2**63)], dtype="int64")
    K.eval(c // -1)
    with pytest.raises((ValueError, TypeError, OverflowError)):
        x = K.placeholder((None, 3))
        K.function([x], [K.zeros((K.shape(x)[0] - 2**63,))])([np.ones((2, 3))])


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_taps_that_are_far_apart(data_format):
    """All but the middle one lie outside of the image, however far."""
    x, k = K.placeholder((2, 5, 5, 5)), K.placeholder((3, 3, 5, 4))
    rng = np.random.default_rng(0)
    feeds = [rng.normal(size=(2, 5, 5, 5)), rng.normal(size=(3, 3, 5, 4))]

    def results(distance):
        y = K.conv2d(x, k, padding="same", data_format=data_format, dilation_rate=(distance, 1))
        return K.function([x, k], [y, *K.gradients(K.sum(K.square(y)), [x, k])])(feeds)

    near = results(20)
    for distance in (5000, 2**20, 2**21, 2**31 - 2, 2**31 - 1):
        for a, b in zip(results(distance), near):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_integer_arguments_of_every_function():
    seed = random.randrange(10**6)
    figures, bad = integer_fuzz.fuzz(1500, seed)
    print(json.dumps(figures))
    assert figures["done"] == 1500 and not bad, f"seed {seed}: {json.dumps(bad, indent=1)}"


def test_a_message_that_is_not_utf8(tmp_path):
    program = "import horngate as K\ntry: K.backend()\nexcept ValueError as e: print(ascii(str(e)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "KERAS_BACKEND": b"\xffne", "KERAS_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert r'got "\\xffne".' in done.stdout, done.stdout + done.stderr


def test_integers_that_are_too_large_are_told():
    with pytest.raises(OverflowError) as caught:
        K.zeros((2**70,))
    assert str(caught.value) == (f"zeros: shape must be an integer of 64 bits; got {2**70}.")
    with pytest.raises(OverflowError, match="random_uniform: seed must be an integer of 64 bits"):
        K.random_uniform((2,), seed=2**64)


def test_a_truth_is_no_index():
    """NumPy adds an axis for it, which hardly anybody means."""
    for index in (True, False, (slice(None), True)):
        with pytest.raises(TypeError, match="must be an integer; got (True|False)"):
            K.constant([[1.0, 2.0]])[index]
