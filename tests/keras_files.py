"""Files of models for tests: random ones, what h5py says about them, and the C++ tool that reads and writes them."""

import json
import pathlib
import random
import subprocess

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "bin" / "keras_files_tool"
DTYPES = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
LETTERS = "abcXYZ_019 .:-é中\U0001f600"


class Tool:
    """The program tests/models/files_tool.cpp, which answers one task after the other."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, **task):
        self.process.stdin.write(json.dumps(task).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"the tool died with {self.process.wait()} at {str(task)[:500]}"
        return json.loads(line)

    def result(self, **task):
        answer = self.ask(**task)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def dump(self, path):
        return self.result(do="dump", file=str(path))

    def error(self, path):
        answer = self.ask(do="dump", file=str(path))
        return answer.get("error", "it was read")

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(10) == 0


def hexed(text):
    # h5py shows bytes that are no UTF-8 as halves of surrogate pairs.
    text = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    return text.hex()


def number(array):
    array = np.asarray(array)
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return {"dims": list(array.shape), "null": False, "dtype": array.dtype.name, "data": data.hex()}


def values(value, dtype, shape):
    """What h5py read, as the tool shows it."""
    text = h5py.check_string_dtype(dtype)
    if shape is None:
        kind = dtype.name if not text else "varying" if text.length is None else "fixed"
        key, nothing = ("texts", []) if text else ("data", "")
        return {"dims": [], "null": True, "dtype": kind, key: nothing}
    if text is None:
        return number(np.asarray(value, dtype))
    texts = [value] if shape == () else list(np.asarray(value).ravel())
    kind = "varying" if text.length is None else "fixed"
    return {
        "dims": list(shape),
        "null": False,
        "dtype": kind,
        "texts": [hexed(t) for t in texts],
    }


def attributes(thing):
    out = {}
    for name in thing.attrs:
        known = thing.attrs.get_id(name)
        value = thing.attrs[name]
        shape = None if isinstance(value, h5py.Empty) else known.shape
        out[hexed(name)] = values(value, known.dtype, shape)
    return out


def by_h5py(path):
    """What the tool's dump must be, by h5py; objects by their paths."""
    found = {}

    def look(name, thing):
        entry = {"path": hexed(thing.name), "attributes": attributes(thing)}
        if isinstance(thing, h5py.Group):
            entry["kind"] = "group"
        else:
            entry["kind"] = "data"
            entry["value"] = values(thing[()], thing.dtype, thing.shape)
        found[entry["path"]] = entry

    with h5py.File(path, "r") as file:
        look("/", file)
        file.visititems(look)
    return found


def by_path(objects):
    found = {entry["path"]: entry for entry in objects}
    assert len(found) == len(objects)
    return found


def random_name(rng, length=None):
    length = length or rng.choice([1, 1, 3, 7, 8, 9, 20, 300])
    while (name := "".join(rng.choice(LETTERS) for _ in range(length))) in (".", ".."):
        pass
    return name


def random_shape(rng):
    return tuple(rng.choice([0, 1, 1, 2, 3, 5, 17]) for _ in range(rng.randrange(5)))


def random_array(rng, dtype=None):
    shape, dtype = random_shape(rng), np.dtype(dtype or rng.choice(DTYPES))
    count = int(np.prod(shape))
    if dtype == bool:
        return np.array([rng.random() < 0.5 for _ in range(count)], bool).reshape(shape)
    return np.frombuffer(rng.randbytes(count * dtype.itemsize), dtype).reshape(shape)


def random_text(rng):
    length = rng.choice([0, 1, 5, 100, 3000, 5000])
    return "".join(rng.choice(LETTERS) for _ in range(length))


def random_objects(rng):
    """Groups, data sets and attributes such as the writer takes, in the tool's form."""

    def some_attributes():
        out = {}
        for _ in range(rng.choice([0, 0, 1, 3, 12, 40])):
            kind = rng.randrange(4)
            if kind == 0:
                texts = [hexed(random_text(rng))]
                value = {"dims": [], "null": False, "dtype": "varying", "texts": texts}
            elif kind == 1:
                texts = [random_name(rng)[:9].encode()[:12] for _ in range(rng.randrange(1, 30))]
                value = {"dims": [len(texts)], "null": False, "dtype": "fixed"}
                value["texts"] = [t.hex() for t in texts]
            elif kind == 2:
                value = number(np.zeros(0))
            else:
                value = number(random_array(rng))
            if len(value.get("data", "")) > 120_000:
                continue  # more than HDF5 allows an attribute
            out[hexed(random_name(rng))] = value
        return out

    objects = {"/": {"path": hexed("/"), "kind": "group", "attributes": some_attributes()}}
    groups = ["/"]
    for _ in range(rng.choice([0, 1, 5, 30])):
        parent = rng.choice(groups)
        for _ in range(rng.choice([1, 1, 2, 9, 70])):
            path = parent.rstrip("/") + "/" + random_name(rng)
            if path in objects:
                continue
            entry = {
                "path": hexed(path),
                "attributes": some_attributes() if rng.random() < 0.2 else {},
            }
            if rng.random() < 0.3:
                entry["kind"] = "group"
                groups.append(path)
            else:
                entry["kind"] = "data"
                entry["value"] = number(random_array(rng))
            objects[path] = entry
    return list(objects.values())


def make_with_h5py(path, objects, rng, **options):
    """The same file written by h5py, with what else it has: endianness, other texts, compact data."""
    more = rng.random() < 0.5
    with h5py.File(path, "w", **options) as file:
        for entry in objects:
            name = bytes.fromhex(entry["path"]).decode()
            if entry["kind"] == "group":
                thing = file.require_group(name)
            else:
                array = to_array(entry["value"])
                if more and rng.random() < 0.2 and array.dtype.kind in "iuf":
                    array = array.astype(array.dtype.newbyteorder(">"))
                thing = file.create_dataset(name, data=array)
            for key, value in entry["attributes"].items():
                key = bytes.fromhex(key).decode()
                if value["dtype"] == "varying":
                    thing.attrs[key] = bytes.fromhex(value["texts"][0]).decode()
                elif value["dtype"] == "fixed":
                    thing.attrs[key] = [bytes.fromhex(t) for t in value["texts"]]
                else:
                    thing.attrs[key] = to_array(value)
        if more:
            file.attrs["empty thing"] = h5py.Empty(rng.choice(["f4", "S3", "i8"]))
            file["texts of varying length"] = [random_text(rng) for _ in range(20)]
            file["texts of one width"] = np.array([b"abc", b"", b"d"], "S5")
            file["an empty thing"] = h5py.Empty("f4")
            file.create_dataset("never written", (3, 2), ">i2", fillvalue=rng.randrange(-9, 9))
            file.create_dataset("never filled", (3, 2), "f8")
            compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            compact.set_layout(h5py.h5d.COMPACT)
            space = h5py.h5s.create_simple((4,))
            data = h5py.h5d.create(file.id, b"compact", h5py.h5t.STD_I16BE, space, compact)
            data.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(4, dtype=">i2"))
            file.attrs.create("padded", b"ab", dtype=h5py.string_dtype("ascii", 7))
            for i in range(rng.choice([0, 3, 30])):
                file.attrs[f"late {i}"] = "x" * rng.randrange(2000)


def to_array(value):
    data = bytes.fromhex(value["data"])
    return np.frombuffer(data, np.dtype(value["dtype"])).reshape(value["dims"])


def seeds(count):
    """Some that stand and one that is new with each run."""
    return [*range(count), random.randrange(1 << 32)]
