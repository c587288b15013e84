"""The notebooks of examples/notebooks: their code runs and learns, and what is kept of them is small.

Here the cells run one after the other with a drawing library that draws nothing; `make test-notebooks` runs them in
Jupyter's kernel.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"
# What must hold after the last cell; none is reached without learning.
LEARNT = {
    "digits": "final > 0.85",
    "gradient_ascent": "np.sum(model.predict(pictures).argmax(axis=1) == np.arange(10)) >= 8",
    "sequence_to_sequence": "right > 0.8",
    "variational_autoencoder": "error < 0.7",
}
# Whatever is asked of a picture is done, and nothing is drawn.
NO_DRAWING = """
import sys, types, unittest.mock
import numpy as np
def subplots(rows, columns, **_):
    axes = np.empty((rows, columns), object)
    for place in np.ndindex(axes.shape):
        axes[place] = unittest.mock.MagicMock()
    return unittest.mock.MagicMock(), axes.squeeze()
pyplot = unittest.mock.MagicMock(subplots=subplots)
package = types.ModuleType("matplotlib")
package.pyplot = pyplot
sys.modules.update({"matplotlib": package, "matplotlib.pyplot": pyplot})
"""


def cells(name, kind):
    found = json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]
    return [c for c in found if c["cell_type"] == kind]


def test_all_are_here():
    names = {p.stem for p in FOLDER.glob("*.ipynb")}
    assert names == set(LEARNT)
    assert set(re.findall(r"\[(\w+)\.ipynb\]", (FOLDER / "README.md").read_text())) == names


@pytest.mark.parametrize("name", sorted(LEARNT))
def test_it_runs_and_learns(name, tmp_path):
    code = "\n".join("".join(c["source"]) for c in cells(name, "code"))
    program = f"{NO_DRAWING}\n{code}\nassert {LEARNT[name]}\n"
    environment = os.environ | {
        "KERAS_BACKEND": "horngate",
        "KERAS_HOME": str(tmp_path),
        "HORNGATE_QUIET": "1",
    }
    if name == "digits":
        environment["KERAS_BACKEND"] = "native"  # K alone
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=FOLDER, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("name", sorted(LEARNT))
def test_what_is_kept(name):
    """Results with pictures, in order and small; nothing about the machine that they come from."""
    path = FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < 300_000
    code = cells(name, "code")
    assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1))
    outputs = [o for c in code for o in c["outputs"]]
    assert any("image/png" in o.get("data", {}) for o in outputs)
    text = "".join("".join(o.get("text", "")) + "".join(o.get("traceback", "")) for o in outputs)
    assert "/" not in text and "Error" not in text and "Warning" not in text
