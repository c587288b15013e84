"""Pages that are made from the sources are up to date."""

import importlib.util
import pathlib
import re

import horngate as K
import pytest
from cases import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["primitives", "functions"])
def test_page_is_current(page):
    made = load(f"{page}_doc").render()
    assert (ROOT / f"docs/{page}.md").read_text() == made, f"run tools/{page}_doc.py"


def test_every_function_has_its_row():
    names = re.findall(r"^\| `(\w+)\(", (ROOT / "docs/functions.md").read_text(), re.M)
    assert sorted(names) == sorted(K.__all__) and len(names) == 155 + 9


def test_gradients_are_as_the_cases_say():
    """A function whose cases differentiate has a gradient; one with cases that get None has none."""
    page = load("functions_doc")
    seen = {}
    for _, case in harness.all_cases():
        seen.setdefault(harness.name_of(case.function), set()).add(case.grad)
    checked = 0
    for name, grads in seen.items():
        if name in K.__all__ and grads - {False}:
            assert page.gradient(name) == ("yes" if True in grads else "none"), name
            checked += 1
    assert checked > 80
    assert not page.NO_GRADIENT & page.NO_TENSORS
    assert page.NO_GRADIENT | page.NO_TENSORS <= set(K.__all__)
