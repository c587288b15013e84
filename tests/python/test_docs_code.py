"""The code of README.md and docs/ runs, and prints what the pages say."""

import os
import re
import shutil

import docs_code
import headers
import pytest

PYTHON_PAGES = [p for p in docs_code.pages() if docs_code.blocks(p, "python")]
CPP_PAGES = [p for p in docs_code.pages() if docs_code.blocks(p, "cpp")]


def name(page):
    return str(page.relative_to(docs_code.ROOT))


@pytest.fixture
def environment(tmp_path):
    unset = ("KERAS_BACKEND", "HORNGATE_STRICT", "HORNGATE_PLAIN")
    kept = {k: v for k, v in os.environ.items() if k not in unset}
    return kept | {
        "KERAS_HOME": str(tmp_path / "keras"),
        "HORNGATE_QUIET": "1",
        "HORNGATE_NO_CONFIG_WRITE": "1",
    }


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=name)
def test_python(page, tmp_path, environment):
    docs_code.run_python(page, tmp_path, environment)


def test_cpp(tmp_path, environment):
    """All pages, and the examples of headers, in one translation unit: most of the time goes into reading headers."""
    if not shutil.which("c++"):
        pytest.skip("no C++ compiler")
    program = tmp_path / "program"
    docs_code.compile_cpp(docs_code.cpp_program(CPP_PAGES), program)
    for page in CPP_PAGES:
        docs_code.run_cpp(program, page, tmp_path, environment)


def test_something_runs():
    """So that a change of the fences is seen."""
    assert len(PYTHON_PAGES) >= 14 and len(CPP_PAGES) >= 7 and docs_code.header_examples()[0] >= 60


def test_examples_of_every_header_are_compiled():
    """Here, or those of K functions by test_cpp_signatures.py."""
    compiled = {docs_code.INCLUDE / name for name in docs_code.header_names()} | {*headers.HEADERS}
    have_examples = {h for h in docs_code.INCLUDE.rglob("*.h") if "/// Example:" in h.read_text()}
    assert have_examples - compiled == set()


def test_commands_of_the_pages_exist():
    """`make x` and `horngate x` in blocks of shell."""
    targets = set(re.findall(r"^([a-z-]+):.*##", (docs_code.ROOT / "Makefile").read_text(), re.M))
    usage = (docs_code.ROOT / "src/cli/commands.cpp").read_text()
    commands = set(re.findall(r'^    \{"(\w+)", ', usage, re.M))
    for page in docs_code.pages():
        for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(), re.S | re.M):
            wanted = re.findall(r"^(?:\w+=\S+ )*make ([a-z-]+)", block, re.M)
            assert set(wanted) <= targets, page
            assert set(re.findall(r"^horngate (\w+)", block, re.M)) <= commands, page
