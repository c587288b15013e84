#!/usr/bin/env python3
"""Writes every file that is made from others: `make generate`. Nothing has to be built for it.

--check writes nothing: it names the files that are not up to date and ends with 1. A module of MAKERS has files(),
which gives {path: text}.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import bindings
import engine_names
import engines_doc
import functions_doc
import performance_chart
import primitives_doc
import stubs

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAKERS = (
    stubs,
    bindings,
    engine_names,
    functions_doc,
    primitives_doc,
    engines_doc,
    performance_chart,
)


def made():
    """{path: text} of all of them."""
    found = {}
    for maker in MAKERS:
        found.update(maker.files())
    return found


def stale():
    """{path: text} of those that are not as they should be."""
    return {p: t for p, t in made().items() if not p.exists() or p.read_text() != t}


def main():
    changed = stale()
    for path, text in changed.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.write_text(text)
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
