"""The code in README.md runs as it stands."""

import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(language, page="README.md"):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.S)


def test_python_block_learns():
    names = {"xs": np.full((32, 784), 0.5), "ts": np.eye(10)[[3] * 32]}
    (code,) = blocks("python")
    exec(code, names)
    first = names["value"]
    for _ in range(5):
        names["value"] = names["train"]([names["xs"], names["ts"]])[0]
    assert np.isclose(first, np.log(10), atol=1e-4)
    assert names["value"] < first


def test_cpp_block_is_the_program_that_the_install_test_builds():
    program = (ROOT / "tests/install/main.cpp").read_text()
    (code,) = blocks("cpp")
    for line in filter(None, code.splitlines()):
        assert line in program, line


def test_the_page_of_models_shows_a_program_that_the_install_test_runs():
    (code,) = blocks("cpp", "docs/models.md")
    assert (ROOT / "tests/install/models.cpp").read_text().endswith(code)
