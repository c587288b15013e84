"""Programs of tests/reliability as modules; tools/ has a module of that folder's name."""

import importlib.util
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "reliability"


def load(name):
    if str(FOLDER) not in sys.path:  # what they import from each other
        sys.path.append(str(FOLDER))
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module
