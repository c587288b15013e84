"""Programs on one engine, each in a process of its own: a process holds one engine."""

import os
import subprocess
import sys

import pytest

RUN = """
import horngate as K, numpy as np
x = K.placeholder((2, 2))
print(K.function([x], [x + 1])([np.zeros((2, 2))])[0].sum())
"""


def environment(engine, **more):
    made = {**os.environ, "KERAS_BACKEND": engine, **more}
    made["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return made


def python(engine, program, **more):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environment(engine, **more),
    )


def required():
    """The engines that must be there: HORNGATE_TEST_REQUIRE, separated by commas."""
    return [n for n in os.environ.get("HORNGATE_TEST_REQUIRE", "").split(",") if n]


def skip_unless_it_runs(done, engine):
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()[-1]
        assert engine not in required(), f"{engine} must run here: {why}"
        pytest.skip(why)


def refusal(engine, folder, times=1, **more):
    """What the process says, which must survive, when the engine is looked for in a folder."""
    program = (
        "import horngate as K\n"
        "x = K.placeholder((2,))\n"
        f"for i in range({times}):\n"
        "    try: K.function([x], [x + 1])([[1, 2]])\n"
        "    except RuntimeError as e: print(e)\n"
        "print('alive')"
    )
    done = python(engine, program, **{f"HORNGATE_{engine.upper()}": str(folder)}, **more)
    assert done.stdout.endswith("alive\n"), done.stdout + done.stderr
    return done.stdout
