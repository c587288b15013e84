"""Programs written for Keras 1 give on it what they give on Keras 2.3.1, from the same weights.

SUITE_REFERENCE is the folder with 2.3.1. What the editions do alike can still be wrong in
both; so each program must also learn.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


def run(program, weights, result, ordering, site=None):
    env = dict(os.environ)
    way = ["-m", "horngate", "run"]
    if site is not None:
        paths = env["PYTHONPATH"].split(os.pathsep)
        env["PYTHONPATH"] = os.pathsep.join([paths[0], site, *paths[2:]])
        way = []
    command = [sys.executable, *way, PROGRAMS / f"{program}.py", weights, result, ordering]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(result)


@pytest.mark.parametrize("ordering", ["tf", "th"])
@pytest.mark.parametrize("program", ["mlp", "cnn", "lstm", "autoencoder"])
def test_program(program, ordering, tmp_path):
    weights = tmp_path / "weights.h5"
    then = run(program, weights, tmp_path / "then.npz", ordering)
    reference = os.environ["SUITE_REFERENCE"]
    now = run(program, weights, tmp_path / "now.npz", ordering, reference)
    assert str(then["keras"]).startswith("1.") and str(now["keras"]) == "2.3.1"
    np.testing.assert_allclose(then["first"], now["first"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(then["loss"], now["loss"], rtol=1e-3)
    np.testing.assert_allclose(then["last"], now["last"], rtol=1e-2, atol=1e-4)
    assert then["loss"][-1] < then["loss"][0]
