"""Pages that are made from the sources are up to date."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_primitives_page_is_current():
    spec = importlib.util.spec_from_file_location("primitives_doc", ROOT / "tools/primitives_doc.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs/primitives.md").read_text() == module.render(), "run tools/primitives_doc.py"
