#!/usr/bin/env python3
"""The engines of src/engines/engines.def for everything that is not C++: prints those that can be installed.

--plugins prints those that are plug-ins of their own. As a module of tools/generate.py it writes what the Python package
has of the list: a tuple, and a module horngate.<name> for each engine of users, which KERAS_BACKEND may name.
"""

import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / "src" / "engines" / "engines.def"
PACKAGE = ROOT / "python" / "horngate"

TUPLE = '''"""The engines that users can choose. Made by `make generate` from src/engines/engines.def; do not edit."""

ENGINES = ({})
'''
MODULE = '''"""The backend on the engine "{0}", for Keras: KERAS_BACKEND=horngate.{0}. Made by `make generate`; do not edit."""

from horngate import *  # noqa: F403
from horngate import __all__, __version__  # noqa: F401
from horngate._horngate import set_engine as _set_engine

_set_engine("{0}")
'''


@dataclasses.dataclass
class Engine:
    name: str
    line: str
    kind: str


def read():
    rows = re.findall(r'^ENGINE\((\w+), "([^"]*)", (\w+)\)$', LIST.read_text(), re.M)
    return [Engine(*row) for row in rows]


def for_users():
    return [e.name for e in read() if e.kind != "testing"]


def installable():
    return [e.name for e in read() if e.kind == "driver"]


def plugins():
    return [e.name for e in read() if e.kind != "built_in"]


def files():
    names = for_users()
    found = {PACKAGE / f"{name}.py": MODULE.format(name) for name in names}
    found[PACKAGE / "_engine_names.py"] = TUPLE.format(", ".join(f'"{n}"' for n in names))
    return found


if __name__ == "__main__":
    print(*(plugins() if "--plugins" in sys.argv else installable()))
