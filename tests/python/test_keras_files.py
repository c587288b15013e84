"""Files of models, read and written by C++: h5py, safetensors and Python's json say what is right."""

import json
import math
import operator
import os
import random
import struct
import tempfile

import h5py
import keras_files as kf
import numpy as np
import pytest


@pytest.fixture(scope="module")
def tool():
    if not kf.TOOL.exists():
        pytest.skip("build/bin/keras_files_tool is not built (make build does it)")
    tool = kf.Tool()
    yield tool
    tool.close()


def assert_same(got, expected, note):
    got, expected = kf.by_path(got), dict(expected)
    assert sorted(got) == sorted(expected), note
    for path, entry in expected.items():
        mine = got[path]
        assert sorted(mine["attributes"]) == sorted(entry["attributes"]), (note, path)
        assert mine == entry, (note, bytes.fromhex(path))


def test_what_h5py_writes_is_read(tool, tmp_path):
    for seed in kf.seeds(12):
        rng = random.Random(seed)
        kf.make_with_h5py(tmp_path / "x.h5", kf.random_objects(rng), rng)
        assert_same(tool.dump(tmp_path / "x.h5"), kf.by_h5py(tmp_path / "x.h5"), f"seed {seed}")


def test_what_is_written_h5py_reads(tool, tmp_path):
    for seed in kf.seeds(12):
        objects = kf.random_objects(random.Random(seed))
        path = str(tmp_path / "x.h5")
        assert tool.result(do="save", file=path, objects=objects) is True
        assert_same(objects, kf.by_h5py(path), f"seed {seed}")
        assert_same(tool.dump(path), kf.by_path(objects), f"seed {seed}")
        assert os.listdir(tmp_path) == ["x.h5"]


def test_h5py_goes_on_with_what_is_written(tool, tmp_path):
    """Structures are such that HDF5 can insert into them, split them and delete from them."""
    path = str(tmp_path / "x.h5")
    for seed in kf.seeds(8):
        rng = random.Random(seed)
        tool.result(do="save", file=path, objects=kf.random_objects(rng))
        with h5py.File(path, "r+") as file:
            names = ["/"]
            file.visit(names.append)
            groups = [file[n] for n in names if isinstance(file[n], h5py.Group)]
            for group in rng.sample(groups, min(5, len(groups))):
                for name in [n for n in list(group) if rng.random() < 0.3]:
                    del group[name]
            for i in range(rng.choice([1, 20, 300])):
                file[f"more {rng.randrange(10**6)} {i}"] = np.arange(i % 7)
                file.attrs[f"more {i % 50}"] = "x" * (i % 100)
            for name in [n for n in list(file.attrs) if rng.random() < 0.3]:
                del file.attrs[name]
        assert_same(tool.dump(path), kf.by_h5py(path), f"seed {seed}")


@pytest.mark.parametrize("count", [0, 1, 8, 9, 256, 257, 3000, 9000])
def test_links_fill_any_number_of_nodes(tool, tmp_path, count):
    names = [f"weight_{i}" for i in range(count)]
    objects = [{"path": kf.hexed("/"), "kind": "group", "attributes": {}}]
    for name in names:
        value = kf.number(np.float32(len(name)))
        entry = {"path": kf.hexed("/" + name), "kind": "data", "attributes": {}, "value": value}
        objects.append(entry)
    path = str(tmp_path / "many.h5")
    tool.result(do="save", file=path, objects=objects)
    with h5py.File(path, "r") as file:
        assert sorted(file) == sorted(names)
        for name in random.sample(names, min(50, count)):
            assert file[name][()] == len(name)
        assert "weight_x" not in file
    assert_same(tool.dump(path), kf.by_path(objects), count)
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        for name in names:
            file[name] = np.float32(len(name))
    assert_same(tool.dump(tmp_path / "theirs.h5"), kf.by_path(objects), count)


def test_texts_in_any_order(tool, tmp_path):
    """Each is in another collection of the heap than the one before."""
    path, count = tmp_path / "x.h5", 60_000
    with h5py.File(path, "w") as file:
        file["texts"] = [f"text {i}" for i in range(count)]
        place = file["texts"].id.get_offset()
    whole = bytearray(path.read_bytes())
    order = list(range(count))
    random.Random(1).shuffle(order)
    entries = [bytes(whole[place + 16 * i : place + 16 * i + 16]) for i in range(count)]
    whole[place : place + 16 * count] = b"".join(entries[i] for i in order)
    path.write_bytes(whole)
    answer = tool.ask(do="dump", file=str(path))
    assert answer["seconds"] < 5, answer["seconds"]
    texts = kf.by_path(answer["result"])[kf.hexed("/texts")]["value"]["texts"]
    assert [bytes.fromhex(t) for t in texts] == [b"text %d" % i for i in order]


@pytest.mark.parametrize("count, width", [(8, 1), (9, 1), (60, 250), (3000, 1), (9000, 200)])
def test_names_beyond_ascii(tool, tmp_path, count, width):
    """From the ninth member on h5py has them in a fractal heap."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for i in range(count):
            file.create_group(f"größe {i} " + "x" * width)
        for i in range(0, count, 5):
            del file[f"größe {i} " + "x" * width]
    assert_same(tool.dump(tmp_path / "x.h5"), kf.by_h5py(tmp_path / "x.h5"), count)


@pytest.mark.parametrize(
    "options", [{"libver": "latest"}, {"libver": "v108"}, {"track_order": True}]
)
def test_other_formats_of_h5py_while_they_are_small(tool, tmp_path, options):
    path = tmp_path / "x.h5"
    with h5py.File(path, "w", **options) as file:
        group = file.create_group(
            "model_weights/dense_1", **({"track_order": True} if "track_order" in options else {})
        )
        group["kernel:0"] = np.arange(12, dtype="f4").reshape(3, 4)
        group.attrs["weight_names"] = [b"kernel:0", b"bias:0"]
        file.attrs["model_config"] = "{}" * 3000
        file["flag"] = np.array([True, False])
    assert_same(tool.dump(path), kf.by_h5py(path), options)
    whole = path.read_bytes()
    place = whole.index(b"OHDR") + 12
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    assert str(path) in tool.error(path)


def models():
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
        patch.setenv("KERAS_BACKEND", "horngate")
        patch.setenv("KERAS_HOME", home)
        return pytest.importorskip("keras", reason="Keras is not installed (make build does it)")


def test_files_of_keras(tool, tmp_path):
    keras = models()
    layers = keras.layers
    x = layers.Input((8, 6))
    y = layers.Bidirectional(layers.LSTM(5))(x)
    y = keras.models.Sequential([layers.Dense(4, input_shape=(10,)), layers.Activation("relu")])(y)
    y = layers.BatchNormalization()(y)
    model = keras.models.Model(x, [layers.Dense(2)(y), layers.Dense(3, name="überraschung")(y)])
    model.compile("adam", "mse")
    feeds = np.random.rand(4, 8, 6)
    model.fit(feeds, [np.zeros((4, 2)), np.zeros((4, 3))], verbose=0)
    path, weights = str(tmp_path / "model.h5"), str(tmp_path / "weights.h5")
    model.save(path)
    model.save_weights(weights)
    for file in (path, weights):
        objects = tool.dump(file)
        assert_same(objects, kf.by_h5py(file), file)
        tool.result(do="save", file=file, objects=objects)
        assert_same(tool.dump(file), kf.by_path(objects), file)
    again = keras.models.load_model(path)
    for a, b in zip(model.predict(feeds), again.predict(feeds), strict=True):
        np.testing.assert_array_equal(a, b)
    state = [keras.backend.get_value(w) for w in again.optimizer.weights]
    for a, b in zip(state, model.optimizer.weights, strict=True):
        np.testing.assert_array_equal(a, keras.backend.get_value(b))
    again.load_weights(weights)


def test_the_wide_list_of_names_that_keras_splits(tool, tmp_path):
    keras = models()
    names = [b"name_%060d" % i for i in range(3000)]
    path = str(tmp_path / "x.h5")
    with h5py.File(path, "w") as file:
        saving = keras.engine.saving
        saving.save_attributes_to_hdf5_group(file, "layer_names", names)
    root = kf.by_path(tool.dump(path))[kf.hexed("/")]
    parts = [
        root["attributes"][kf.hexed(f"layer_names{i}")]["texts"]
        for i in range(len(root["attributes"]))
    ]
    assert len(parts) > 2 and [bytes.fromhex(t) for part in parts for t in part] == names
    tool.result(do="save", file=path, objects=[root])
    with h5py.File(path, "r") as file:
        assert [
            n.encode() for n in saving.load_attributes_from_hdf5_group(file, "layer_names")
        ] == names


def random_json(rng, depth=0):
    kind = rng.randrange(9 if depth < 5 else 7)
    if kind == 0:
        return rng.choice([None, True, False, "", 0, -0.0, math.nan, math.inf, -math.inf])
    if kind == 1:
        return rng.choice(
            [0, 1, -1, 2**63 - 1, -(2**63), 2**64 - 1, rng.randrange(-(2**63), 2**64)]
        )
    if kind == 2:
        return struct.unpack("d", rng.randbytes(8))[0]
    if kind == 3:
        return rng.choice(
            [0.1, 1.0, 1e-5, 1e16, 123456789012345680.0, 1e15, 5e-324, 1.7976931348623157e308]
        )
    if kind == 4:
        return float(np.float32(rng.random() * 10 ** rng.randrange(-9, 9)))
    if kind in (5, 6):
        letters = [
            chr(rng.choice([rng.randrange(128), rng.randrange(0xD800), 0x1F600])) for _ in range(9)
        ]
        return "".join(letters)
    if kind == 7:
        return [random_json(rng, depth + 1) for _ in range(rng.randrange(6))]
    return {random_name_of_key(rng): random_json(rng, depth + 1) for _ in range(rng.randrange(6))}


def random_name_of_key(rng):
    return "".join(chr(rng.randrange(32, 0x2FF)) for _ in range(rng.randrange(5)))


def test_json_is_that_of_python(tool):
    for seed in kf.seeds(400):
        rng = random.Random(seed)
        value = random_json(rng)
        sort = rng.random() < 0.5
        text = json.dumps(value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
        got = bytes.fromhex(tool.result(do="json", text=kf.hexed(text), sort=sort)).decode()
        assert got == json.dumps(value, sort_keys=sort), f"seed {seed}: {text}"


def test_floats_out_of_range_are_those_of_python(tool):
    for text in (
        "1e999",
        "-1e999",
        "1e-999",
        "-1e-999",
        "0e999",
        "0.000001e320",
        "1" + "0" * 400 + ".0",
        "0." + "0" * 400 + "1e5",
    ):
        got = bytes.fromhex(tool.result(do="json", text=kf.hexed(text), sort=False)).decode()
        assert got == json.dumps(json.loads(text)), text


def tensors_of(rng):
    tensors = []
    for name in {kf.random_name(rng) for _ in range(rng.choice([0, 1, 5, 60]))}:
        value = kf.number(kf.random_array(rng))
        tensors.append(
            {
                "name": kf.hexed(name),
                "dtype": value["dtype"],
                "dims": value["dims"],
                "data": value["data"],
            }
        )
    metadata = {
        kf.hexed(kf.random_name(rng)): kf.hexed(kf.random_name(rng))
        for _ in range(rng.choice([0, 3]))
    }
    return tensors, metadata


def test_safetensors_both_ways(tool, tmp_path):
    numpy = pytest.importorskip(
        "safetensors.numpy", reason="safetensors is not installed (make build does it)"
    )
    from safetensors import safe_open

    path = str(tmp_path / "x.safetensors")
    for seed in kf.seeds(40):
        tensors, metadata = tensors_of(random.Random(seed))
        arrays = {bytes.fromhex(t["name"]).decode(): kf.to_array(t) for t in tensors}
        texts = {bytes.fromhex(k).decode(): bytes.fromhex(v).decode() for k, v in metadata.items()}
        tool.result(do="save", file=path, tensors=tensors, metadata=metadata)
        read = numpy.load_file(path)
        assert sorted(read) == sorted(arrays), seed
        for name, array in arrays.items():
            assert read[name].dtype == array.dtype and read[name].shape == array.shape, (seed, name)
            assert read[name].tobytes() == array.tobytes(), (seed, name)
        with safe_open(path, "np") as file:
            assert (file.metadata() or {}) == texts
        numpy.save_file(
            {k: np.ascontiguousarray(v).reshape(v.shape) for k, v in arrays.items()},
            path,
            texts or None,
        )
        dump = tool.dump(path)
        assert dump["metadata"] == metadata, seed
        key = operator.itemgetter("name")
        assert sorted(dump["tensors"], key=key) == sorted(tensors, key=key), seed


def test_npz_and_npy_both_ways(tool, tmp_path):
    path, single = str(tmp_path / "x.npz"), str(tmp_path / "x.npy")
    for seed in kf.seeds(40):
        rng = random.Random(seed)
        tensors, _ = tensors_of(rng)
        tool.result(do="save", file=path, tensors=tensors)
        with np.load(path, allow_pickle=False) as read:
            assert sorted(kf.hexed(n) for n in read.files) == sorted(t["name"] for t in tensors), (
                seed
            )
            for t in tensors:
                array = read[bytes.fromhex(t["name"]).decode()]
                assert kf.number(array) | {"name": t["name"]} == t | {"null": False}, seed
        arrays = {bytes.fromhex(t["name"]).decode(): kf.to_array(t) for t in tensors}
        changed = {}
        for name, array in arrays.items():
            if rng.random() < 0.3:
                array = np.asfortranarray(array).reshape(array.shape, order="F")
            if rng.random() < 0.3:
                array = array.astype(array.dtype.newbyteorder(">"))
            changed[name] = array
        with open(path, "wb") as file:
            np.savez(file, **changed)
        key = operator.itemgetter("name")
        assert sorted(tool.dump(path)["tensors"], key=key) == sorted(tensors, key=key), seed
        for name, array in list(changed.items())[:5]:
            np.save(single, array)
            (dump,) = tool.dump(single)["tensors"]
            assert kf.to_array(dump).tobytes() == arrays[name].tobytes(), (seed, name)
            tool.result(do="save", file=single, tensors=[dump])
            assert np.load(single).tobytes() == arrays[name].tobytes(), (seed, name)


def test_what_numpy_writes_and_we_do_not_read(tool, tmp_path):
    path, single = tmp_path / "x.npz", tmp_path / "x.npy"
    np.savez_compressed(path, a=np.zeros(3))
    assert "is compressed (method 8), which is not read. Write it with numpy.savez" in tool.error(
        path
    )
    np.save(single, np.array([{}], object), allow_pickle=True)
    assert "Python objects, which only Python can make" in tool.error(single)
    np.save(single, np.zeros(2, [("a", "f4")]))
    assert "an array has structures, which is not read." in tool.error(single)
    np.save(single, np.array(["text"]))
    assert 'elements of type "<U4", which is not read.' in tool.error(single)
    np.save(single, np.arange(3))
    single.write_bytes(single.read_bytes().replace(b"(3,), }  ", b"(3L,), } "))  # as Python 2 did
    assert tool.dump(single)["tensors"][0]["dims"] == [3]
    np.savez(path, a=np.zeros(3))
    whole = bytearray(path.read_bytes())
    whole[whole.index(b"\x93NUMPY") + 140] ^= 1
    path.write_bytes(whole)
    assert 'the sum of member "a" is wrong.' in tool.error(path)
