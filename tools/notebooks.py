#!/usr/bin/env python3
"""Runs the notebooks of examples/notebooks in Jupyter's kernel: tools/notebooks.py [--write] [name ..]

--write keeps what they print and draw in the files. `make test-notebooks` calls this with an environment that has nbclient.
"""

import argparse
import pathlib
import sys
import time

import nbclient
import nbformat

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples" / "notebooks"
# PNG small enough for a repository, and sharp enough to read.
SETUP = "import matplotlib; matplotlib.rcParams.update({'figure.dpi': 70, 'savefig.bbox': 'tight', 'font.size': 8})"


def tidy(notebook):
    """Removes what differs from run to run and says nothing."""
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr"]
            for output in cell.outputs:
                output.get("data", {}).pop("text/plain", None) if "image/png" in output.get(
                    "data", {}
                ) else None
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }


def run(path, write):
    notebook = nbformat.read(path, as_version=4)
    first = nbformat.v4.new_code_cell(SETUP)
    notebook.cells.insert(0, first)
    began = time.monotonic()
    client = nbclient.NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    notebook.cells.pop(0)
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = number
    if write:
        tidy(notebook)
        nbformat.write(notebook, path)
    print(
        f"{path.name}: {time.monotonic() - began:.1f} s, {path.stat().st_size / 1000:.0f} kB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not options.names or path.stem in options.names:
            run(path, options.write)


if __name__ == "__main__":
    sys.exit(main())
