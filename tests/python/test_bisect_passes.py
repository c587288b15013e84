"""tools/bisect_passes.py finds the pass that a program blames."""

import os
import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "bisect_passes.py"


def run(*command):
    done = subprocess.run([sys.executable, TOOL, *command], capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


def program(condition):
    text = f"import os, sys; w = os.environ['HORNGATE_WITHOUT'].split(','); sys.exit(not ({condition}))"
    return [sys.executable, "-c", text]


def test_one_pass_is_found():
    code, lines = run(*program("'views' in w"))
    assert (code, lines[-1]) == (0, "To blame: views")


def test_two_passes_that_must_both_go_are_found():
    code, lines = run(*program("'views' in w and 'jit' in w"))
    assert (code, lines[-1]) == (0, "To blame: views, jit")


def test_a_program_that_works_or_always_fails():
    assert run(*program("True"))[0] == 1
    assert run(*program("False"))[1][-1].startswith("It fails without any pass")


def test_the_library_knows_the_passes():
    names = run("--passes")[1]
    assert "row_chains" in names
    text = (
        "import numpy as np, horngate as K; x = K.placeholder((2,)); "
        "K.function([x], [x + 1])([np.ones(2)])"
    )
    command = [sys.executable, "-c", text]
    for value, works in ((",".join(names), True), ("abacus", False)):
        done = subprocess.run(
            command, env=dict(os.environ, HORNGATE_WITHOUT=value), capture_output=True, text=True
        )
        assert (done.returncode == 0) == works, done.stderr
        message = f"must be a comma-separated list of passes ({', '.join(names)}); got"
        assert works or message in done.stderr
