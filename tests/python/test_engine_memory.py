"""An engine whose memory the host cannot read (tests/engines/guarded.cpp): all cases, and a net that is trained."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "tests" / "engines"

pytestmark = pytest.mark.skipif(
    not (FOLDER / "libhorngate_engine_guarded.so").exists(),
    reason="the engines of the C++ tests are not built in build/",
)


def run(command, **environment):
    kept = {k: v for k, v in os.environ.items() if k not in ("HORNGATE_STRICT", "PYTEST_ADDOPTS")}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**kept, "HORNGATE_ENGINE_PATH": str(FOLDER), **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def test_all_cases_pass():
    """A sample of them, unless HORNGATE_TEST_SAMPLE says all."""
    said = run(
        [
            sys.executable,
            "-m",
            "pytest",
            "tests/cases",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
        ],
        HORNGATE_TEST_ENGINES="guarded",
    )
    passed = int(re.search(r"(\d+) passed", said)[1])
    assert passed > 1000
    print(passed, "cases")


def test_a_net_is_trained_as_on_native():
    program = str(ROOT / "build" / "bin" / "cpp_digits")
    told = {}
    for engine in ("native", "guarded"):
        lines = run([program], KERAS_BACKEND=engine).splitlines()
        told[engine] = [re.sub(r"[\d.]+ us|engine \w+", "", line) for line in lines]
    assert told["native"] == told["guarded"]
    assert any("accuracy" in line or "right" in line for line in told["native"]), told["native"]
