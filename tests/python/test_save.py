"""K.save and K.load against NumPy and safetensors."""

import horngate as K
import numpy as np
import pytest

safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()


def random_arrays(seed):
    """Names and arrays of any dtype and shape, also empty, scalar and not contiguous ones."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for k in range(rng.integers(1, 8)):
        shape = tuple(rng.integers(0, 5, rng.integers(0, 4)))
        array = np.asarray(rng.normal(0, 50, shape)).astype(rng.choice(DTYPES))
        if array.ndim > 1 and rng.random() < 0.4:
            array = array.T if rng.random() < 0.5 else array[::-1]
        arrays[rng.choice(["w", "dense/kernel", "größe", "a b", ""]) + f"_{k}"] = array
    return arrays


def same(got, want):
    assert got.keys() == want.keys()
    for name, array in want.items():
        assert got[name].dtype == array.dtype, name
        np.testing.assert_array_equal(got[name], array, err_msg=name)


@pytest.mark.parametrize("seed", range(25))
def test_numpy_reads_what_we_write_and_we_what_it_writes(tmp_path, seed):
    arrays = random_arrays(seed)
    K.save(tmp_path / "ours.npz", arrays)
    with np.load(tmp_path / "ours.npz") as file:
        same({name: file[name] for name in file}, arrays)
    np.savez(tmp_path / "theirs.npz", **arrays)
    same(K.load(tmp_path / "theirs.npz"), arrays)
    one = next(iter(arrays.values()))
    K.save(tmp_path / "one.npy", one)
    np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), one)
    np.save(tmp_path / "one.npy", one)
    np.testing.assert_array_equal(K.load(tmp_path / "one.npy"), one)


@pytest.mark.parametrize("seed", range(25))
def test_safetensors_reads_what_we_write_and_we_what_it_writes(tmp_path, seed):
    arrays = {
        name: np.ascontiguousarray(a).reshape(a.shape) for name, a in random_arrays(seed).items()
    }
    path = tmp_path / "arrays.safetensors"
    K.save(path, arrays)
    same(safetensors.load_file(path), arrays)
    safetensors.save_file(arrays, path)
    same(K.load(path), arrays)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_variables(tmp_path, ending):
    path = tmp_path / f"net.{ending}"
    w, b = (
        K.variable(np.arange(6.0).reshape(2, 3), name="w"),
        K.variable([1, 2], dtype="int32", name="b"),
    )
    K.save(path, [w, b])
    assert sorted(K.load(path)) == sorted([w.name, b.name])
    K.set_value(w, np.zeros((2, 3)))
    assert K.load(path, [w, b]) is None
    np.testing.assert_array_equal(K.get_value(w), np.arange(6.0).reshape(2, 3))
    K.save(path, {"kernel": w, "steps": 3})
    K.set_value(w, np.zeros((2, 3)))
    K.load(path, {"kernel": w})
    assert K.get_value(w)[1, 2] == 5 and K.load(path)["steps"] == 3
    # All or nothing: one that is missing or does not fit leaves the others as they were.
    K.set_value(w, np.zeros((2, 3)))
    for wrong in ({"kernel": w, "nothing": b}, {"kernel": w, "steps": b}):
        with pytest.raises(ValueError):
            K.load(path, wrong)
        assert not K.get_value(w).any()


def test_what_is_refused(tmp_path):
    w = K.variable([1.0])
    with pytest.raises(ValueError, match="must end in .npz, .safetensors or .npy"):
        K.save(tmp_path / "net.txt", {"w": w})
    with pytest.raises(TypeError, match="names must be strings"):
        K.save(tmp_path / "net.npz", {1: w})
    with pytest.raises(ValueError, match="two variables have one name"):
        K.save(tmp_path / "net.npz", [w, w])
    with pytest.raises(ValueError, match="holds one array"):
        K.save(tmp_path / "net.npy", {"w": w})
    with pytest.raises(Exception, match="none.npz"):
        K.load(tmp_path / "none.npz")
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="bad.npz"):
        K.load(tmp_path / "bad.npz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.npz"]


def test_one_variable(tmp_path):
    v = K.variable([1.0, 2.0], name="v")
    for ending in ("npy", "npz"):
        path = tmp_path / f"w.{ending}"
        K.save(path, v if ending == "npy" else [v])
        K.set_value(v, [0, 0])
        K.load(path, v)
        np.testing.assert_array_equal(K.get_value(v), [1, 2])
