"""The folders of src/ include each other only as the picture in src/README.md shows, without cycles."""

import pathlib
import re

import engine_names
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINES = {f"engines/{name}" for name in engine_names.plugins()}
SOURCES = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".h", ".cpp", ".def"})


def read_map(text):
    """What each folder may include. A row is a mark for each row above it, then the folder's name."""
    picture = re.search(r"^```\n(ir\n.*?)^```$", text, re.M | re.S)
    assert picture, "src/README.md: there is no picture that begins with ir"
    allowed, rows = {}, []
    for line in picture[1].splitlines():
        marks, names = re.fullmatch(r"((?:[●·] +)*)(\S.*)", line).groups()
        marks = marks.split()
        assert len(marks) == len(rows), (
            f'src/README.md: "{line}" has {len(marks)} marks below {len(rows)} rows'
        )
        below = {name for mark, row in zip(marks, rows) if mark == "●" for name in row}
        others = sorted(ENGINES - set(allowed))
        rows.append(others if names == "the other engines" else names.split(", "))
        for name in rows[-1]:
            assert name not in allowed, f"src/README.md shows {name} twice"
            allowed[name] = below
    return allowed


def folder_of(path):
    """src/ir/node.h: ir. Each engine is a folder of its own, with all that is in it."""
    parts = path.relative_to(ROOT / "src").parts[:-1]
    return "/".join(parts[:2] if parts[0] == "engines" else parts[:1])


def included(path, text):
    """The files of src/ that a file includes, each with its line."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line):
            for base in (path.parent, ROOT / "src", ROOT / "src/engines"):
                target = (base / found[1]).resolve()
                if target.is_file() and target.is_relative_to(ROOT / "src"):
                    yield number, found[1], folder_of(target)
                    break


def faults_of(path, text, allowed, used=None):
    """One line for each include that the map does not show."""
    folder, name = folder_of(path), path.relative_to(ROOT)
    if folder not in allowed:
        return [f"{name}: src/README.md does not show its folder, {folder}"]
    faults = []
    for number, include, target in included(path, text):
        if target != folder and target not in allowed[folder]:
            shown = ", ".join(sorted(allowed[folder])) or "no other folder"
            faults.append(
                f'{name}:{number} includes "{include}" of {target}; '
                f"by the picture in src/README.md {folder} includes {shown}"
            )
        elif used is not None and target != folder:
            used.add((folder, target))
    return faults


MAP = read_map((ROOT / "src/README.md").read_text())


def test_includes_are_as_the_map_shows():
    used = set()
    faults = [f for p in SOURCES for f in faults_of(p, p.read_text(), MAP, used)]
    assert not faults, "\n".join(faults)
    # One row shows several engines, which include what they need of it.
    used |= {(engine, target) for folder, target in used if folder in ENGINES for engine in ENGINES}
    shown = {(folder, target) for folder, below in MAP.items() for target in below}
    idle = [f"{folder} includes nothing of {target}" for folder, target in sorted(shown - used)]
    assert not idle, "src/README.md shows what is not: " + "; ".join(idle)
    assert {folder_of(p) for p in SOURCES} == set(MAP)


@pytest.mark.parametrize(
    "folder, targets",
    [
        ("ir", {"prims"}),
        ("prims", {"passes", "engines"}),
        ("passes", {"engines"}),
    ],
)
def test_what_the_picture_may_never_show(folder, targets):
    assert not targets & {name.split("/")[0] for name in MAP[folder]}


def test_api_knows_no_engine_from_inside():
    assert [name for name in MAP["api"] if name.startswith("engines/")] == []


@pytest.mark.parametrize(
    "file, include, target, rule",
    [
        ("src/ir/node.h", '#include "prims/build.h"', "prims", "ir includes no other folder"),
        ("src/prims/add.cpp", '#  include "passes/passes.h"', "passes", "prims includes ir"),
        ("src/prims/scan.cpp", '#include "../grad/reverse.h"', "grad", "prims includes ir"),
        (
            "src/api/nn.cpp",
            '#include "engines/native/kernels/random.h"',
            "engines/native",
            "api includes comm, engines, files, grad, ir, plan, prims",
        ),
        (
            "src/engines/native/fuse.cpp",
            "#include <plan/plan.h>",
            "plan",
            "engines/native includes",
        ),
        ("src/files/bytes.h", '#include "ir/node.h"', "ir", "files includes no other folder"),
        ("src/engines/cntk/lower.cpp", '#include "onnx/lower.h"', "engines/onnx", "engines/common"),
    ],
)
def test_an_include_against_the_order_is_named(file, include, target, rule):
    """The check can fail, and says where and why."""
    text = (ROOT / file).read_text()
    assert faults_of(ROOT / file, text, MAP) == []
    (fault,) = faults_of(ROOT / file, text + include + "\n", MAP)
    path = re.search(r'["<](.*)[">]', include)[1]
    line = len(text.splitlines()) + 1
    assert fault.startswith(f'{file}:{line} includes "{path}" of {target};') and rule in fault


def test_models_use_what_users_have():
    """src/keras is built on public headers and files/ alone, and nothing in src/ needs it."""
    assert MAP["keras"] == {"files"} and MAP["files"] == set()
    assert [name for name, below in MAP.items() if "keras" in below] == []


def test_a_new_folder_must_be_shown():
    (fault,) = faults_of(ROOT / "src/new/file.cpp", "", MAP)
    assert "does not show its folder, new" in fault


def test_a_picture_with_a_cycle_is_refused():
    """A mark right of the name is not a row of the picture."""
    with pytest.raises(AssertionError, match="2 marks below 1 rows"):
        read_map("```\nir\n●  ●  prims\n```\n")
