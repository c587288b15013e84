"""Files that h5py can write and that models never have, and files that want more than they are: refused by name."""

import struct
import time

import h5py
import keras_files as kf
import numpy as np
import pytest

REMEDY = "Rewrite it through h5py, in its default format."


@pytest.fixture
def tool():
    """One for each test: the most memory that it took is that of one file."""
    if not kf.TOOL.exists():
        pytest.skip("build/bin/keras_files_tool is not built (make build does it)")
    tool = kf.Tool()
    yield tool
    tool.close()


def chunked(file):
    file.create_dataset("d", data=np.zeros((4, 4)), chunks=(2, 2))


def resizable(file):
    file.create_dataset("d", data=np.zeros(4), maxshape=(None,))


def compressed(file):
    file.create_dataset("d", data=np.zeros((4, 4)), compression="gzip")


def shuffled(file):
    file.create_dataset("d", data=np.zeros((4, 4)), shuffle=True)


def elsewhere(file):
    file.create_dataset("d", (4,), "f4", external=[("other.bin", 0, 16)])


def put_together(file):
    layout = h5py.VirtualLayout((4,), "f4")
    layout[:] = h5py.VirtualSource("other.h5", "d", (4,))
    file.create_virtual_dataset("d", layout)


def soft_link(file):
    file["d"] = h5py.SoftLink("/somewhere")


def external_link(file):
    file["d"] = h5py.ExternalLink("other.h5", "/d")


def second_link(file):
    file["d"] = np.zeros(4)
    file["e"] = file["d"]


def loop(file):
    file.create_group("d")["e"] = file["/"]


def compound(file):
    file["d"] = np.zeros(2, [("a", "f4"), ("b", "i4")])


def complex_numbers(file):
    file["d"] = np.zeros(2, "c16")


def long_doubles(file):
    file["d"] = np.zeros(2, np.longdouble)


def sequences(file):
    file.create_dataset("d", (2,), h5py.vlen_dtype("i4"))[0] = [1, 2]


def references(file):
    file["d"] = np.array([file.ref], h5py.ref_dtype)


def enumeration(file):
    file.create_dataset("d", (2,), h5py.enum_dtype({"a": 0, "b": 1}, "i4"))


def opaque(file):
    file["d"] = np.zeros(2, h5py.opaque_dtype("M8[s]"))


def sub_arrays(file):
    file.attrs.create("d", np.zeros((2, 3)), dtype=np.dtype((np.float64, (3,))))


def committed(file):
    file["t"] = np.dtype("f4")
    file.create_dataset("d", (2,), file["t"])


def committed_alone(file):
    file["t"] = np.dtype("f4")


def many_attributes(file):
    for i in range(20):
        file.create_group("d", track_order=True) if i == 0 else None
        file["d"].attrs[f"a{i}"] = i


def unwritten(file):
    file.create_dataset("d", (1 << 20, 1 << 10), "f8")


CASES = {
    chunked: "is chunked, which is not read.",
    resizable: "is chunked, which is not read.",
    compressed: "goes through filters (compression), which are not read.",
    shuffled: "goes through filters",
    elsewhere: "has its data in other files, which are not read.",
    put_together: "is virtual, which is not read.",
    soft_link: 'has a soft link, "d", which is not followed.',
    external_link: 'has an external link, "d", which is not followed.',
    second_link: "as another link does.",
    loop: "as another link does.",
    compound: "data are a compound",
    complex_numbers: "data are ",
    long_doubles: "in a format of its own",
    sequences: "data are a sequence of varying length",
    references: "data are a reference",
    enumeration: "data are an enumeration of 4 bytes",
    opaque: "data are ",
    sub_arrays: "data are an array",
    committed: "(a committed type), which is not read.",
    committed_alone: "must be a data set",
    many_attributes: "are in dense storage (a fractal heap), which is not read.",
    unwritten: "was never written",
}


@pytest.mark.parametrize("make", CASES, ids=lambda f: f.__name__)
def test_what_models_never_have_is_refused_by_name(tool, tmp_path, make):
    path = tmp_path / "net.h5"
    with h5py.File(path, "w") as file:
        make(file)
    text = tool.error(path)
    assert text.startswith(f"{path}: ") and CASES[make] in text, text
    if make not in (unwritten, committed_alone):
        assert f"{path}: at byte " in text and text.endswith(REMEDY), text


def test_a_user_block(tool, tmp_path):
    path = tmp_path / "net.h5"
    h5py.File(path, "w", userblock_size=1024).close()
    assert tool.error(path).endswith(f"a user block of 1024 bytes, which is not read. {REMEDY}")


def answer_to(tool, path, size):
    """An error, in little memory and time."""
    before = tool.ask(do="json", text="31", sort=False)["peak_mb"]
    answer = tool.ask(do="dump", file=str(path))
    assert "error" in answer and answer["error"].startswith(str(path)), str(answer)[:300]
    assert answer["peak_mb"] - before < 64 + size / 2**20, answer
    assert answer["seconds"] < 5, answer
    return answer["error"]


def bomb_texts(path):
    """4,000 texts that are all the same ten megabytes of the file."""
    with h5py.File(path, "w") as file:
        file.attrs["a"] = ["x" * (10 << 20)] + [f"{i}" for i in range(1, 4000)]
    whole = path.read_bytes()
    at = whole.index(struct.pack("<I", 10 << 20))
    path.write_bytes(whole[:at] + whole[at : at + 16] * 4000 + whole[at + 64000 :])
    return "has more text than the file has bytes"


def bomb_data(path):
    """A hundred data sets over the same bytes."""
    with h5py.File(path, "w") as file:
        for i in range(100):
            file.create_dataset(f"d{i:03}", data=np.full(1 << 15, i, "i4"))
        place = file["d000"].id.get_offset()
        others = [file[f"d{i:03}"].id.get_offset() for i in range(1, 100)]
    whole = bytearray(path.read_bytes())
    for other in others:
        at = whole.index(struct.pack("<QQ", other, 1 << 17))
        whole[at : at + 8] = struct.pack("<Q", place)
    path.write_bytes(whole)
    return "or two objects share it"


def bomb_shape(path):
    """A safetensors header that wants 2^62 bytes."""
    header = b'{"a":{"dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,4611686018427387904]}}'
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    return "bytes of data"


def bomb_json(path):
    header = b'{"a":' + b"[" * 10_000_000
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    return "values are nested deeper than 512"


def bomb_values(path):
    header = b'{"a":[' + b"{}," * 8_000_000
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    return "more than 200000 values"


def bomb_links(path):
    """So many links that what describes them in memory would be far larger than the file."""
    count = 300_000
    names = b"".join(b"%06x\0\0" % i for i in range(count))
    heap_place = 1 << 12
    tables = heap_place + 32 + 8 + len(names)
    per = 60_000
    out = bytearray(tables)
    heap = (
        b"HEAP\0\0\0\0" + struct.pack("<QQQ", 8 + len(names), 1, heap_place + 32) + bytes(8) + names
    )
    out[heap_place : heap_place + len(heap)] = heap
    tree = b"TREE\0\0" + struct.pack("<HQQ", count // per, 2**64 - 1, 2**64 - 1) + bytes(8)
    for first in range(0, count, per):
        tree += struct.pack("<QQ", len(out), 8 * (first + per))
        out += b"SNOD\1\0" + struct.pack("<H", per)
        out += b"".join(
            struct.pack("<QQIIQQ", 8 + 8 * i, 96, 0, 0, 0, 0) for i in range(first, first + per)
        )
    header = struct.pack("<BBHIIIHHBBHQQ", 1, 0, 1, 1, 24, 0, 0x11, 16, 0, 0, 0, 256, heap_place)
    out[96 : 96 + len(header)] = header
    out[256 : 256 + len(tree)] = tree
    start = b"\x89HDF\r\n\x1a\n" + bytes(5) + b"\x08\x08\0" + struct.pack("<HHI", 4, 16, 0)
    start += struct.pack("<QQQQQQIIQQ", 0, 2**64 - 1, len(out), 2**64 - 1, 0, 96, 0, 0, 0, 0)
    out[: len(start)] = start
    path.write_bytes(out)
    return "more than 200000 links"


def bomb_archive(path):
    """50,000 members of an .npz, all of them the same."""
    array = b"\x93NUMPY\1\0" + struct.pack("<H", 60_000)
    array += b"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }".ljust(60_000)
    local = b"PK\3\4" + bytes(26) + array
    central = b"".join(
        struct.pack("<4s16xIIHHHHHII", b"PK\1\2", len(array), len(array), 9, 0, 0, 0, 0, 0, 0)
        + b"%05d.npy" % i
        for i in range(50_000)
    )
    end = struct.pack("<4sIHHIIH", b"PK\5\6", 0, 50_000, 50_000, len(central), len(local), 0)
    path.write_bytes(local + central + end)
    return "members of the archive overlap"


def deep_groups(path):
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(2000):
            group = group.create_group("a")
    return "groups are nested deeper than 512"


BOMBS = [
    bomb_texts,
    bomb_data,
    bomb_shape,
    bomb_json,
    bomb_values,
    bomb_links,
    bomb_archive,
    deep_groups,
]


@pytest.mark.parametrize("make", BOMBS, ids=lambda f: f.__name__)
def test_a_small_file_takes_little_memory_and_time(tool, tmp_path, make):
    tensors = make in (bomb_shape, bomb_json, bomb_values)
    kind = "safetensors" if tensors else "npz" if make is bomb_archive else "h5"
    path = tmp_path / f"net.{kind}"
    says = make(path)
    text = answer_to(tool, path, path.stat().st_size)
    assert says in text, text


def test_a_large_file_is_read_at_once(tool, tmp_path):
    """What nobody asks for is not read: 256 MB cost nothing until then."""
    path = tmp_path / "net.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("large", (1 << 26,), "f4")[0] = 1
        file["bad"] = h5py.SoftLink("/nowhere")
    start = time.monotonic()
    assert "soft link" in answer_to(tool, path, 0)
    assert time.monotonic() - start < 5
