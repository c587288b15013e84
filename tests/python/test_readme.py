"""The programs of README.md and docs/models.md are those that the install test builds and runs.

That all code of the pages runs is in test_docs_code.py.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def only_block(page):
    (code,) = re.findall(r"```cpp\n(.*?)```", (ROOT / page).read_text(), re.S)
    return code


def test_readme():
    assert (ROOT / "tests/install/main.cpp").read_text().endswith(only_block("README.md"))


def test_the_page_of_models():
    assert (ROOT / "tests/install/models.cpp").read_text().endswith(only_block("docs/models.md"))


def test_the_net_of_digits_is_the_example():
    """Statement by statement; how lines are broken does not matter."""
    program = re.sub(r"\s", "", (ROOT / "examples/fit_digits.cpp").read_text())
    (code,) = re.findall(r"```c\+\+\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    for statement in re.sub(r"\s", "", re.sub(r"//.*", "", code)).split(";"):
        assert statement in program, statement
