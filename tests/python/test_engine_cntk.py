"""The cntk engine: faults of its libraries, what it cannot hold, and that it trains as native does. Each test is a
process of its own, for a process holds one engine."""

import functools

import engine_process
import pytest
from engine_process import TRAIN

python = functools.partial(engine_process.python, "cntk")
refusal = functools.partial(engine_process.refusal, "cntk")

FILES = [
    "libCntk.Core-2.7.so",
    "libCntk.Math-2.7.so",
    "libCntk.PerformanceProfiler-2.7.so",
    "libiomp5.so",
    "libmklml_intel.so",
]


@pytest.fixture(scope="module")
def libraries():
    """The folder of CNTK's libraries, as the engine finds it; a skip where there is none."""
    return engine_process.library("cntk", "libCntk.Core").parent


def links(libraries, folder):
    for name in FILES:
        (folder / name).symlink_to(libraries / name)


def test_a_missing_library(tmp_path):
    text = refusal(tmp_path)
    assert (
        f"engine cntk: could not be opened: HORNGATE_CNTK is {tmp_path}, which contains no" in text
    )
    assert "horngate engines install cntk" in text


def test_nothing_installed_anywhere(tmp_path):
    program = (
        "import horngate as K\ntry: K.eval(K.constant(1.0) + 1)\nexcept RuntimeError as e: print(e)"
    )
    where = {"HORNGATE_CNTK": "", "HORNGATE_HOME": str(tmp_path), "HORNGATE_PYTHON_PATHS": ""}
    text = python(program, **where).stdout
    assert (
        f"CNTK is not installed (looked for libCntk.Core-2.7.so in {tmp_path}/engines/cntk" in text
    )


@pytest.mark.parametrize("name", FILES[1:])
def test_a_missing_part(tmp_path, libraries, name):
    links(libraries, tmp_path)
    (tmp_path / name).unlink()
    assert f"{name} is missing." in refusal(tmp_path)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.001, 0.999])
def test_a_truncated_library(tmp_path, libraries, name, part):
    links(libraries, tmp_path)
    (tmp_path / name).unlink()
    size = (libraries / name).stat().st_size
    with open(libraries / name, "rb") as whole, open(tmp_path / name, "wb") as cut:
        remaining = int(size * part)
        while remaining > 0:
            remaining -= cut.write(whole.read(min(remaining, 1 << 20)))
    assert f"{name} is cut off" in refusal(tmp_path)


def test_a_library_of_another_version(tmp_path, libraries):
    links(libraries, tmp_path)
    target = tmp_path / FILES[0]
    target.unlink()
    engine_process.build_library("int unrelated;\n", target)
    assert "is not CNTK 2.7:" in refusal(tmp_path)


def test_it_is_found_in_the_home_folder_and_in_packages(tmp_path, libraries):
    place = tmp_path / "engines" / "cntk" / "cntk" / "libs"
    place.mkdir(parents=True)
    links(libraries, place)
    engine_process.check_places("cntk", tmp_path)


def test_integers_that_a_double_cannot_hold(libraries):
    program = """
import horngate as K, numpy as np
x = K.placeholder((2,), dtype="int64")
f = K.function([x], [x + 1])
print(f([np.array([2**53 - 2, -5])])[0].tolist())
for bad in (2**53 + 1, 2**60 - 1):
    try: f([np.array([1, bad])])
    except ValueError as e: print(e)
print(f([np.array([3, 4])])[0].tolist())
"""
    lines = python(program).stdout.splitlines()
    assert lines[0] == str([2**53 - 1, -4]) and lines[3] == "[4, 5]"
    for line in lines[1:3]:
        assert line.startswith(
            "engine cntk: CNTK carries integers as float64, which is exact up to 2^53; got"
        )


@pytest.mark.parametrize("unroll", [True, False])
def test_training_is_that_of_native(libraries, unroll):
    program = TRAIN.format(pool="max", unroll=unroll)
    _, left = engine_process.check_training("cntk", program, HORNGATE_QUIET="0")
    # A loop is the host's; unrolled, all runs on CNTK.
    assert all("scan" in line for line in left) and (unroll or left)


def test_a_fork_computes(libraries):
    program = """
import os, horngate as K, numpy as np
x = K.placeholder((64, 64))
f = K.function([x], [K.dot(x, x)])
before = f([np.eye(64)])[0].sum()
pid = os.fork()
if pid == 0:
    os._exit(0 if f([np.eye(64)])[0].sum() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), f([np.eye(64)])[0].sum())
"""
    done = python(program)
    assert done.stdout == "0 64.0\n", done.stdout + done.stderr
