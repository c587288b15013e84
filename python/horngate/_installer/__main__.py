"""`python3 <this folder> install NAME..`: runs without the package around it."""

import importlib.util
import os
import sys

_folder = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location(
    "horngate_installer",
    os.path.join(_folder, "__init__.py"),
    submodule_search_locations=[_folder],
)
sys.modules["horngate_installer"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules["horngate_installer"])

if __name__ == "__main__":
    from horngate_installer.command import main

    sys.exit(main(sys.argv[1:]))
