"""One version everywhere, and a script that sees when a library no longer fits the programs built with it."""

import pathlib
import re
import shutil
import subprocess
import tomllib

import pytest

import horngate as K

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(Horngate VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[
    1
]


def test_one_version():
    assert K.__version__ == VERSION
    program = pathlib.Path(K.__file__).parents[2] / "bin/horngate"
    said = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert said.stdout == f"horngate {VERSION}\n"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = project["tool"]["scikit-build"]["metadata"]["version"]
    assert re.search(found["regex"], (ROOT / found["input"]).read_text())["value"] == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_engines_that_are_packages_are_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    # What the engines themselves say that they need.
    assert extras["onnx"] == ["onnxruntime>=1.17"]
    assert extras["tensorflow"] == ["tensorflow-cpu>=2.16,<3"]


BEFORE = 'struct S { int a; }; __attribute__((visibility("default"))) int f(const S& s) { return s.a; }\n'
CHANGES = {
    "the same": (BEFORE, 0, "abi_check: ok"),
    "a new function": (
        BEFORE + '__attribute__((visibility("default"))) int g(int x) { return x; }\n',
        0,
        "abi_check: ok",
    ),
    "a member in front": (BEFORE.replace("int a;", "int z; int a;"), 1, "interface changed"),
    "no function": (BEFORE.replace("int f(", "int h("), 1, "interface changed"),
}


@pytest.mark.skipif(not shutil.which("abidiff"), reason="no abidiff here (Debian: abigail-tools)")
@pytest.mark.parametrize("what", CHANGES)
def test_abi_check(tmp_path, what):
    code, status, text = CHANGES[what]
    for name, source in (("before", BEFORE), ("after", code)):
        prefix = tmp_path / name
        (prefix / "lib").mkdir(parents=True)
        (prefix / "include").mkdir()
        # The types are in a header, since only those count.
        struct, functions = source.split("};", 1)
        (prefix / "include/f.h").write_text(struct + "};\n")
        (prefix / "f.cpp").write_text('#include "f.h"\n' + functions)
        for stem in ("horngate", "horngate_keras"):
            subprocess.run(
                [
                    "g++",
                    "-g",
                    "-shared",
                    "-fPIC",
                    f"-Wl,-soname,lib{stem}.so.0.1",
                    "-Iinclude",
                    "f.cpp",
                ]
                + ["-o", f"lib/lib{stem}.so"],
                cwd=prefix,
                check=True,
            )
    said = subprocess.run(
        [ROOT / "tools/abi_check.sh", tmp_path / "before", tmp_path / "after"],
        capture_output=True,
        text=True,
    )
    assert said.returncode == status, said.stdout + said.stderr
    assert text in said.stdout + said.stderr
