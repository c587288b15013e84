"""The command horngate: doctor, bench, completion, info; what programs read of it."""

import json
import os
import pathlib
import re
import subprocess

import horngate as K
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(K.__file__).parents[2] / "bin/horngate"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/bin/horngate is not built")


def run(*words, **variables):
    env = {**os.environ, **variables}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=env)


def findings(**variables):
    """{what: (state, text, remedy)} and the exit code."""
    done = run("doctor", "--json", **variables)
    rows = json.loads(done.stdout)
    assert rows["version"] == K.__version__
    assert rows["wrong"] == sum(row["state"] == "wrong" for row in rows["findings"])
    found = {row["what"]: (row["state"], row["text"], row["remedy"]) for row in rows["findings"]}
    return found, done.returncode


def test_doctor_of_this_build():
    found, code = findings(KERAS_BACKEND="native")
    assert code == 0, found
    assert {"cpu", "threads", "memory", "keras.json", "engine native", "computing"} <= set(found)
    assert found["computing"][:2] == ("ok", "a matrix product and a convolution are right")
    assert found["module"] == ("ok", f"horngate {K.__version__}", "")
    text = run("doctor", KERAS_BACKEND="native").stdout
    assert re.search(r"^ok +engine native +.*chosen$", text, re.M)
    assert text.rstrip().splitlines()[-1].startswith("Nothing is wrong")


def test_doctor_finds_what_is_wrong(tmp_path):
    (tmp_path / "keras.json").write_text('{"floatx": "float12"}')
    found, code = findings(KERAS_HOME=str(tmp_path), KERAS_BACKEND="")
    state, text, remedy = found["keras.json"]
    assert (code, state) == (1, "wrong") and "float12" in text
    assert remedy == "Mend it, or remove it: then the defaults count."
    found, code = findings(KERAS_BACKEND="abacus")
    assert code == 1 and found["engine abacus"][:2] == ("wrong", "there is none of that name")
    found, code = findings(HORNGATE_NUM_THREADS="many")
    assert code == 1 and found["threads"][0] == "wrong"
    assert "must be a whole number" in found["threads"][1]


def test_doctor_writes_nothing(tmp_path):
    found, _ = findings(KERAS_HOME=str(tmp_path), HORNGATE_NO_CONFIG_WRITE="")
    assert found["keras.json"][1].endswith("which does not exist: defaults")
    assert list(tmp_path.iterdir()) == []


def test_doctor_gives_hints(tmp_path):
    found, code = findings(HORNGATE_NUM_THREAD="2")
    assert found["environment"] == (
        "note",
        "HORNGATE_NUM_THREAD is set, and nobody reads it",
        "Is HORNGATE_NUM_THREADS meant?",
    )
    assert code == 0  # notes are no faults
    found, _ = findings(HORNGATE_NUM_THREADS="1000", HORNGATE_PYTHON=str(tmp_path / "none"))
    assert found["threads"][0] == "note" and "unset HORNGATE_NUM_THREADS" in found["threads"][2]
    assert found["python"][0] == "note" and "set HORNGATE_PYTHON" in found["python"][2]


def test_doctor_knows_the_variables_that_are_read():
    read = set()
    for path in [*(ROOT / "src").rglob("*"), *(ROOT / "python/horngate").rglob("*.py")]:
        if path.suffix in {".cpp", ".h", ".py", ".json"} and path.is_file():
            for line in path.read_text().splitlines():
                if re.search(r"environ|getenv|folders\(|library\(", line) or path.suffix == ".json":
                    read |= set(re.findall(r'"(HORNGATE_[A-Z_]+)"', line))
    source = (ROOT / "src/cli/doctor_environment.cpp").read_text()
    known = set(re.findall(r'"(HORNGATE_[A-Z_]+)"', source))
    assert {name for name in read - known if not name.startswith("HORNGATE_TEST_")} == set()
    documents = "".join(p.read_text() for p in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    everywhere = "".join(
        p.read_text() for p in (ROOT / "src").rglob("*.cpp") if "cli" not in p.parts
    )
    everywhere += "".join(p.read_text() for p in (ROOT / "python/horngate").rglob("*.py"))
    assert [name for name in known if name not in documents + everywhere] == []


def complete(tmp_path, *words):
    """What Bash offers for the last of the words."""
    script = (
        f'eval "$({PROGRAM} completion bash)"; COMP_WORDS=({" ".join(map(repr, words))}) '
        f'COMP_CWORD={len(words) - 1}; _horngate; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_completion(tmp_path):
    assert complete(tmp_path, "horngate", "e") == ["engines", "export"]
    assert set(complete(tmp_path, "horngate", "")) > {"help", "doctor", "bench", "completion"}
    assert complete(tmp_path, "horngate", "engines", "i") == ["install"]
    assert "onnx" in complete(tmp_path, "horngate", "engines", "install", "")
    assert complete(tmp_path, "horngate", "doctor", "-") == ["--json"]
    assert complete(tmp_path, "horngate", "show", "") == []  # then Bash offers files
    done = run("completion", "fish")
    assert done.returncode == 1 and done.stderr.startswith("usage: horngate completion bash")


def test_help_and_completion_have_the_same_commands(tmp_path):
    listed = re.findall(r"^  (\w+) ", run("help").stdout, re.M)
    assert sorted(listed) == sorted(complete(tmp_path, "horngate", ""))
    for name in set(listed) - {"help"}:
        assert "there is no command" not in run(name, "--no-such-option").stderr


def test_info_as_json():
    rows = json.loads(run("info", "--json", KERAS_BACKEND="native").stdout)
    assert (rows["version"], rows["engine"]) == (K.__version__, "native")
    assert rows["threads"] >= 1 and rows["floatx"] == "float32"


def test_bench():
    """Quick and rough: all cases run, numbers agree, NumPy takes part."""
    done = run("bench", "--json", "--seconds", "1", "--only", "call", "training", "softmax")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["cases"]) == ["call", "training", "softmax"]
    for times in found["cases"].values():
        assert {"horngate", "numpy"} <= set(times)
        for name in ("horngate", "numpy"):
            assert times[name]["seconds"] > 0 and not times[name]["differs"]


def test_bench_draws_bars():
    done = run("bench", "--seconds", "1", "--only", "gelu", PYTHONIOENCODING="utf-8", COLUMNS="80")
    bars = dict(re.findall(r"^  (\w+) +([█▏▎▍▌▋▊▉]+) ", done.stdout, re.M))
    assert {"horngate", "numpy"} <= set(bars) and max(map(len, bars.values())) == 40
    assert "GFLOP/s in registers" in done.stdout.splitlines()[0]
    done = run("bench", "--seconds", "1", "--only", "gelu", PYTHONIOENCODING="ascii")
    assert re.search(r"^  numpy +#", done.stdout, re.M)
    assert "invalid choice" in run("bench", "--only", "nothing").stderr
