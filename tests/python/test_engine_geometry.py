"""Random geometry of convolutions and pools on every engine, against NumPy and, for gradients, against native.

Seeds are new in each run and printed; HORNGATE_TEST_SEED repeats one, HORNGATE_TEST_DRAWS makes more of them.
"""

import json
import os
import pathlib
import random

import engine_names
import engine_process
import numpy as np
import pytest

PROGRAM = pathlib.Path(__file__).parents[1] / "engine_geometry.py"
DRAWS = {"native": 150, "onnx": 150, "theano": 25}  # of the others 100


def lines(engine, seed, draws):
    """What the program prints on an engine; a process that ends early names the draw."""
    done = engine_process.run(
        engine_process.sys.executable,
        PROGRAM,
        seed,
        draws,
        engine=engine,
        HORNGATE_THEANO_MODE="FAST_COMPILE",
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"draw {len(found)} ended {engine}: {done.stderr[-2000:]}"
    return found


def differences(ours, native):
    """Complaints: what the oracle says, and gradients that are not those of native."""
    for a, b in zip(ours, native):
        complaint = a["complaint"] or b["complaint"]
        for k, (x, y) in enumerate(zip(a["gradients"], b["gradients"])):
            x, y = np.array(x), np.array(y)
            error = np.abs(x - y).max(initial=0) if x.shape == y.shape else np.inf
            if not error <= 2 * a["unit"] * max(1.0, np.abs(y).max(initial=0)):
                complaint = complaint or f"gradient {k} differs from native by {error:.3g}"
        if complaint:
            yield f"draw {a['draw']}: {a['program']}: {complaint}"


@pytest.mark.parametrize("engine", engine_names.for_users())
def test_random_geometry(engine):
    seed = int(os.environ.get("HORNGATE_TEST_SEED") or random.SystemRandom().randrange(10**9))
    draws = int(os.environ.get("HORNGATE_TEST_DRAWS") or DRAWS.get(engine, 100))
    if engine != "native":
        engine_process.skip_unless_it_runs(
            engine_process.python(engine, engine_process.RUN), engine
        )
    print(f"HORNGATE_TEST_SEED={seed} HORNGATE_TEST_DRAWS={draws} on {engine}")
    wrong = list(differences(lines(engine, seed, draws), lines("native", seed, draws)))
    assert not wrong, f"seed {seed}, {len(wrong)} of {draws}:\n" + "\n".join(wrong[:20])
