"""HORNGATE_PROFILE, horngate.profile and the command `horngate profile`."""

import json
import pathlib
import sys

import horngate as K
import numpy as np
import pytest
from engine_process import run
from horngate import profile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys, horngate as K, numpy as np
x = K.placeholder((64, 64), name="image")
f = K.function([x], [K.softmax(K.dot(x, x))])
for _ in range(3): f([np.ones((64, 64))])
sys.exit(%d)
"""


@pytest.fixture
def horngate():
    for place in (ROOT / "build" / "bin", pathlib.Path(sys.executable).parent):
        if (place / "horngate").exists():
            return str(place / "horngate")
    pytest.skip("the command horngate is not built")


def names(path):
    return [bar["name"] for bar in json.loads(path.read_text())["traceEvents"]]


def test_a_block(tmp_path):
    x = K.placeholder((4, 4))
    f = K.function([x], [K.dot(x, x)])
    with profile.trace(tmp_path / "t.json"):
        f([np.ones((4, 4))])
    f([np.ones((4, 4))])
    assert names(tmp_path / "t.json").count("dot: dot_general") == 1


def test_a_block_that_fails_writes_its_trace(tmp_path):
    with pytest.raises(ZeroDivisionError), profile.trace(tmp_path / "t.json"):
        K.eval(K.ones((3,)) + 1)
        1 / 0
    assert "native" in names(tmp_path / "t.json")


def test_a_process(tmp_path):
    done = run(sys.executable, "-c", PROGRAM % 0, HORNGATE_PROFILE=str(tmp_path / "t.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "t.json").count("softmax: softmax") == 3


def test_a_path_that_cannot_be_written():
    done = run(sys.executable, "-c", PROGRAM % 0, HORNGATE_PROFILE="/nowhere/at/all/t.json")
    assert done.returncode == 1
    assert 'cannot write "/nowhere/at/all/t.json"' in done.stderr


def test_the_table(horngate, tmp_path):
    kept = tmp_path / "t.json"
    done = run(horngate, "profile", "-o", str(kept), sys.executable, "-c", PROGRAM % 0)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["time", "ms", "share", "calls", "GFLOP/s", "GB/s", "limit", "what"]
    [row] = [r.split() for r in rows if r.endswith("dot: dot_general")]
    assert row[2] == "3"
    bars = [b for b in json.loads(kept.read_text())["traceEvents"] if "dot_general" in b["name"]]
    rate = 3 * 2 * 64**3 / sum(b["dur"] for b in bars) / 1e3
    assert float(row[3]) == pytest.approx(rate, abs=0.06)
    again = run(horngate, "profile", "--top", "1", str(kept))
    assert "more (--top)" in again.stdout


def test_the_table_as_json(horngate, tmp_path):
    """Alone on standard output: what the program prints goes elsewhere."""
    kept = tmp_path / "t.json"
    program = PROGRAM.replace("sys.exit", "print('its own'); sys.exit") % 3
    done = run(horngate, "profile", "--json", "-o", str(kept), sys.executable, "-c", program)
    found = json.loads(done.stdout)
    assert done.returncode == 3 and "its own" in done.stderr
    rows = {row["what"]: row for row in found["rows"]}
    row = rows["dot: dot_general"]
    assert row["calls"] == 3 and row["flops"] == pytest.approx(3 * 2 * 64**3 / row["seconds"])
    near = max(
        row["flops"] / found["limits"]["flops"], row["bandwidth"] / found["limits"]["bandwidth"]
    )
    assert row["of_limit"] == pytest.approx(near)
    assert sum(r["share"] for r in found["rows"]) == pytest.approx(1)
    assert sum(r["seconds"] for r in found["rows"]) == pytest.approx(found["seconds"])
    again = json.loads(run(horngate, "profile", "--json", "--top", "1", str(kept)).stdout)
    assert again["rows"][0]["seconds"] == max(r["seconds"] for r in found["rows"])
    assert len(again["rows"]) == 1 and again["dropped"] == 0


def test_a_program_that_fails_keeps_its_code(horngate):
    done = run(horngate, "profile", sys.executable, "-c", PROGRAM % 7)
    assert done.returncode == 7 and "dot: dot_general" in done.stdout


@pytest.mark.parametrize(
    "arguments, text",
    [
        ([], "usage: horngate profile"),
        (["--wrong"], 'invalid option "--wrong"'),
        (["none.json"], 'there is no trace "none.json"'),
        (["/no/such/program"], 'cannot run "/no/such/program": No such file or directory.'),
        (["true"], '"true" ended with code 0 and ran nothing on Horngate.'),
    ],
)
def test_wrong_calls(horngate, arguments, text):
    done = run(horngate, "profile", *arguments)
    assert done.returncode == 1 and text in done.stderr
