"""Files that are made from others are up to date."""

import pathlib
import re

import engine_names
import engines_doc
import functions_doc
import generate
import horngate as K
from cases import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_all_are_current():
    names = [str(path.relative_to(ROOT)) for path in generate.stale()]
    assert names == [], f"not up to date: {', '.join(names)}; run `make generate`"


def test_what_is_made():
    """So that a maker that makes nothing is seen."""
    made = {str(path.relative_to(ROOT)) for path in generate.made()}
    assert made >= {"docs/primitives.md", "docs/functions.md", "docs/engines.md"}
    assert made >= {"python/horngate/backend.pyi", "python/src/bind_regular.cpp"}
    assert made >= {f"python/horngate/{name}.py" for name in engine_names.for_users()}


def test_every_function_has_its_row():
    names = re.findall(r"^\| `(\w+)\(", (ROOT / "docs/functions.md").read_text(), re.M)
    assert sorted(names) == sorted(K.__all__) and len(names) >= 155 + 9


def test_gradients_are_as_the_cases_say():
    """A function whose cases differentiate has a gradient; one with cases that get None has none."""
    page = functions_doc
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


def test_the_engines_page_is_complete():
    """Every primitive that reaches an engine, every variable that an engine reads, every skip."""
    page = (ROOT / "docs/engines.md").read_text()
    columns = len(engine_names.installable())
    rows = re.findall(rf"^\| `(\w+)` \|(?: [a-z ]+ \|){{{columns}}}$", page, re.M)
    primitives = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/primitives.md").read_text(), re.M)
    # Constants are part of every graph, and planning takes stop_gradient out.
    assert sorted(rows) == sorted(set(primitives) - {"constant", "stop_gradient"})
    engines = ROOT / "src" / "engines"
    read = set()
    for file in [*engines.rglob("*.cpp"), *engines.rglob("*.h"), *engines.rglob("*.py")]:
        if "native" not in file.relative_to(engines).parts:
            read |= set(re.findall(r'"(HORNGATE_[A-Z_]+)"', file.read_text()))
    assert read and read <= set(engines_doc.options(engines_doc.pinned()))
    assert "- `cntk`: none." in page or "- `cntk`:\n  - " in page
