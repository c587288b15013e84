"""The command horngate: doctor, bench, completion, info; what programs read of it."""

import json
import os
import pathlib
import re
import subprocess
import sys

import engine_process
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
    assert remedy == "Fix it, or remove it to use the defaults."
    found, code = findings(KERAS_BACKEND="abacus")
    assert code == 1 and found["engine abacus"][:2] == ("wrong", "there is no engine of that name")
    found, code = findings(HORNGATE_NUM_THREADS="many")
    assert code == 1 and found["threads"][0] == "wrong"
    assert "must be a whole number" in found["threads"][1]


def test_doctor_and_an_engine_that_is_missing(tmp_path):
    """One thing is wrong, and not the installation: the rest is looked at with native."""
    missing = {"HORNGATE_HOME": str(tmp_path), "HORNGATE_PYTHON_PATHS": str(tmp_path)}
    found, code = findings(KERAS_BACKEND="cntk", HORNGATE_CNTK=str(tmp_path), **missing)
    state, _, remedy = found["engine cntk"]
    assert (code, state) == (1, "wrong") and "horngate engines install cntk" in remedy
    for engine, found in (("cntk", found), ("abacus", findings(KERAS_BACKEND="abacus")[0])):
        wrong = [what for what, (state, _, _) in found.items() if state == "wrong"]
        assert wrong == [f"engine {engine}"]
        assert found["computing"] == ("ok", "a matrix product and a convolution are right", "")


def test_doctor_and_the_engine_of_tests():
    found, code = findings(KERAS_BACKEND="native")
    assert code == 0 and "engine native" in found and "engine null" not in found
    assert not any("null" in text for _, text, _ in found.values())
    found, code = findings(KERAS_BACKEND="null")
    assert code == 1 and found["computing"][0] == "ok"
    assert found["engine null"][:2] == (
        "wrong",
        "it is chosen, but computes nothing: it is for tests",
    )


def test_doctor_writes_nothing(tmp_path):
    found, _ = findings(KERAS_HOME=str(tmp_path), HORNGATE_NO_CONFIG_WRITE="")
    assert found["keras.json"][1].endswith("which does not exist: defaults")
    assert list(tmp_path.iterdir()) == []


def test_doctor_gives_hints(tmp_path):
    found, code = findings(HORNGATE_NUM_THREAD="2")
    assert found["environment"] == (
        "note",
        "HORNGATE_NUM_THREAD is set, but nothing reads it",
        "Did you mean HORNGATE_NUM_THREADS?",
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
    assert complete(tmp_path, "horngate", "doctor", "-") == ["--json", "--help"]
    assert complete(tmp_path, "horngate", "export", "--") == ["--help"]
    for name in ("show", "check", "profile", "export"):
        assert complete(tmp_path, "horngate", name, "") == []  # then Bash offers files
    done = run("completion", "fish")
    assert done.returncode == 1 and done.stderr.startswith("usage: horngate completion bash")


def test_help_and_completion_have_the_same_commands(tmp_path):
    listed = re.findall(r"^  (\w+) ", run("help").stdout, re.M)
    assert sorted(listed) == sorted(complete(tmp_path, "horngate", ""))
    for name in set(listed) - {"help"}:
        assert "there is no command" not in run(name, "--no-such-option").stderr


COMMANDS = re.findall(r"^    \{\"(\w+)\", ", (ROOT / "src/cli/commands.cpp").read_text(), re.M)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(name):
    long, short, other = run(name, "--help"), run(name, "-h"), run("help", name)
    assert long.stdout == short.stdout == other.stdout
    assert [done.returncode for done in (long, short, other)] == [0, 0, 0]
    assert long.stdout.startswith(f"usage: horngate {name} ") and long.stderr == ""
    details = long.stdout.split("\n", 1)[1]
    for option in re.findall(r"^  (-[-\w]+)", details, re.M):
        assert f"{option}" in long.stdout.split("\n  -")[0]  # each one has its place in a form
    # What completion offers is explained.
    offered = re.search(rf"^    {name}\) words='(.*)' ;;", run("completion", "bash").stdout, re.M)[
        1
    ]
    assert all(word in long.stdout for word in offered.split() if word != "--help")


def test_help_of_a_program_is_its_own():
    done = run("profile", "echo", "--help")
    assert not done.stdout.startswith("usage: horngate") and '"echo" ended' in done.stderr


def test_there_are_commands():
    assert len(COMMANDS) >= 12 and "there is no command" in run("shew").stderr
    listed = run("help").stdout.splitlines()[-1]
    assert listed.startswith("With --json") and "show" in listed and "export" not in listed


@pytest.mark.parametrize("name", ["show", "check", "export", "comm", "completion", "profile"])
def test_words_that_are_missing(name):
    done = run(name)
    assert done.returncode in (1, 2) and done.stdout == ""
    assert done.stderr == run(name, "--help").stdout


SAVE = """
import sys
from keras import layers, models
x, z = layers.Input((8, 8, 2), name="x"), layers.Input((3,), name="z")
y = layers.Flatten(name="flat")(layers.Conv2D(3, 3, name="conv", trainable=False)(x))
y = layers.Dense(2, name="dense")(layers.Concatenate(name="both")([y, z]))
models.Model([x, z], y).save(sys.argv[1])
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model with two inputs, in a file."""
    path = tmp_path_factory.mktemp("models") / "m.h5"
    home = {"KERAS_BACKEND": "horngate", "KERAS_HOME": str(path.parent)}
    done = engine_process.run(sys.executable, "-c", SAVE, path, **home)
    assert done.returncode == 0, done.stderr
    return path


def test_show_as_json(model):
    done = run("show", model, "--json")
    assert done.returncode == 0 and done.stderr == ""
    found = json.loads(done.stdout)
    assert found["class"] == "Model" and found["file"] == str(model)
    assert [(i["name"], i["shape"], i["dtype"]) for i in found["inputs"]] == [
        ("x", [None, 8, 8, 2], "float32"),
        ("z", [None, 3], "float32"),
    ]
    assert [o["shape"] for o in found["outputs"]] == [[None, 2]]
    layers = {layer.pop("name"): layer for layer in found["layers"]}
    assert layers["conv"] == {
        "class": "Conv2D",
        "output_shapes": [[None, 6, 6, 3]],
        "parameters": 57,
        "trainable": False,
        "inputs": ["x"],
    }
    assert layers["both"]["inputs"] == ["flat", "z"]
    text = run("show", model).stdout
    assert f"Total params: {found['parameters']}" in text
    assert f"Trainable params: {found['trainable_parameters']}" in text
    assert ["Layer", *layers] == re.findall(r"^(\w+) \(", text, re.M)
    refused = run("show", model, "m.svg", "--json")
    assert refused.returncode == 1 and refused.stderr.startswith("usage: horngate show")


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
