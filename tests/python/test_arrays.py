"""NumPy arrays cross the border without copies, and memory lives as long as somebody sees it."""

import gc
import sys

import horngate as K
import numpy as np
import pytest
from horngate import _horngate


def resident_bytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_a_feed_is_released_after_the_call():
    x = K.placeholder((None,))
    f = K.function([x], [x + 1])
    a = np.ones(5, "float32")
    before = sys.getrefcount(a)
    f([a])
    assert sys.getrefcount(a) == before
    with pytest.raises(ValueError):
        f([a.reshape(1, 5)])
    assert sys.getrefcount(a) == before


def test_read_only_feeds():
    x = K.placeholder((None,))
    a = np.arange(3, dtype="float32")
    a.flags.writeable = False
    np.testing.assert_array_equal(K.function([x], [x + 1])([a])[0], [1, 2, 3])


def test_outputs_are_writable_and_own_their_memory():
    x = K.placeholder((None,))
    f = K.function([x], [x + 1])
    [y] = f([np.zeros(4)])
    assert y.flags.writeable and y.flags.c_contiguous and y.flags.aligned
    assert y.base is not None and not y.flags.owndata
    y[:] = 7
    [z] = f([np.zeros(4)])
    np.testing.assert_array_equal(y, np.full(4, 7))
    np.testing.assert_array_equal(z, np.ones(4))
    view = y[1:]
    del f, y, z, x
    gc.collect()
    K.clear_session()
    np.testing.assert_array_equal(view, [7, 7, 7])


def test_memory_of_outputs_is_given_back():
    x = K.placeholder((None,))
    f = K.function([x], [x + 1])
    a = np.zeros(1 << 22, "float32")
    for _ in range(5):
        f([a])
    before = resident_bytes()
    for _ in range(50):
        f([a])
    assert resident_bytes() - before < 100 << 20


def test_empty_arrays():
    x = K.placeholder((None, 3))
    y, n = K.function([x], [x * 2, K.sum(x)])([np.zeros((0, 3))])
    assert y.shape == (0, 3) and n == 0


def test_scalars_are_numpy_scalars():
    """Not arrays without axes: Keras and its programs test for np.float32, as TensorFlow gives it."""
    [y] = K.function([], [K.constant(3.0)])([])
    assert type(y) is np.float32 and y == 3
    v = K.variable(2, dtype="int64")
    assert type(K.get_value(v)) is np.int64 and type(K.eval(v > 1)) is np.bool_
    assert type(K.batch_get_value([v])[0]) is np.int64


def test_feeds_and_constants_do_not_alias():
    a = np.ones(3, "float32")
    c = K.constant(a)
    v = K.variable(a)
    y = K.zeros((3,)) + a
    a[:] = 5
    for t in (c, v, y):
        np.testing.assert_array_equal(K.eval(t), np.ones(3))


def test_a_feed_that_is_an_output():
    x = K.placeholder((3,))
    a = np.ones(3, "float32")
    [y] = K.function([x], [x])([a])
    y[:] = 5
    np.testing.assert_array_equal(a, np.ones(3))


def test_subclasses_and_memory_maps(tmp_path):
    x = K.placeholder((None,))
    f = K.function([x], [x + 1])
    m = np.memmap(tmp_path / "data", dtype="float32", mode="w+", shape=(4,))
    m[:] = 2
    np.testing.assert_array_equal(f([m])[0], np.full(4, 3))
    np.testing.assert_array_equal(f([np.ma.array([1.0, 2.0])])[0], [2, 3])


def test_unaligned_feeds():
    x = K.placeholder((None,))
    raw = np.zeros(4 * 5 + 1, "uint8")
    a = raw[1:].view("float32")
    a[:] = [1, 2, 3, 4, 5]
    assert not a.flags.aligned
    np.testing.assert_array_equal(K.function([x], [x + 1])([a])[0], [2, 3, 4, 5, 6])


def test_dlpack_of_memory_that_is_read_only():
    x = np.frombuffer(bytes(16), "float32")
    with pytest.raises(BufferError, match="to_dlpack: the array is read-only"):
        _horngate.to_dlpack(x)


def test_dlpack():
    a = np.arange(6, dtype="float32").reshape(2, 3)
    back = _horngate.from_dlpack(_horngate.to_dlpack(a))
    assert np.shares_memory(a, back)
    np.testing.assert_array_equal(a, back)
    from_exporter = _horngate.from_dlpack(a)
    assert np.shares_memory(a, from_exporter)
    unused = _horngate.to_dlpack(a)
    del unused
    capsule = _horngate.to_dlpack(a)
    _horngate.from_dlpack(capsule)
    with pytest.raises(TypeError):
        _horngate.from_dlpack(capsule)
    count = sys.getrefcount(a)
    del back, from_exporter, capsule
    gc.collect()
    assert sys.getrefcount(a) < count


def test_large_array_is_not_copied_on_the_way_in():
    """A feed of 256 MB that is only summed adds little to the memory in use."""
    x = K.placeholder((None,))
    f = K.function([x], [K.sum(x)])
    a = np.ones(1 << 26, "float32")
    f([a])
    before = resident_bytes()
    assert f([a])[0] == 1 << 26
    assert resident_bytes() - before < 32 << 20


@pytest.mark.parametrize("of", [K.size, lambda y: K.shape(K.flatten(y))])
def test_sizes_beyond_int32_are_refused(of):
    """Nothing is computed: of the product only its size is wanted."""
    x = K.placeholder((None, 1))
    f = K.function([x], [of(x * K.transpose(x))])
    assert np.all(f([np.ones((46340, 1))])[0] == 46340**2)
    with pytest.raises(ValueError, match=r"sizes must fit into int32; got 4294967296\."):
        f([np.ones((65536, 1))])
