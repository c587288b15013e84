"""NaN, infinities, zeros and subnormal numbers against NumPy, on every SIMD level; see
tests/reliability/special_values.py."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import reliability_program
from functions_catalogue import FUNCTIONS

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/reliability/special_values.py"
FLAGS = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""


special_values = reliability_program.load("special_values")

SETTINGS = [
    {"HORNGATE_SIMD": "sse4"},
    {"HORNGATE_SIMD": "avx2", "HORNGATE_JIT": "0"},
    {"HORNGATE_SIMD": "avx2", "HORNGATE_JIT": "1"},
    {"HORNGATE_SIMD": "avx512", "HORNGATE_JIT": "0"},
    {"HORNGATE_SIMD": "avx512", "HORNGATE_JIT": "1"},
    {"HORNGATE_PLAIN": "1"},
]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: " ".join(s.values()))
def test_agrees_with_numpy(setting):
    level = setting.get("HORNGATE_SIMD")
    if level in ("avx2", "avx512") and {"avx2": "avx2", "avx512": "avx512f"}[level] not in FLAGS:
        pytest.skip(f"this CPU has no {level}")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HORNGATE_")}
    environment |= {"HORNGATE_NO_CONFIG_WRITE": "1", "HORNGATE_QUIET": "1", **setting}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], capture_output=True, text=True, env=environment
    )
    assert done.stdout, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["first"] == [] and figures["unexplained"] == 0
    assert done.returncode == 0 and figures["compared"] > 1_000_000


def test_no_function_is_missing():
    """Every element-wise function and reduction of the catalogue, and the activations."""
    groups = ("element_wise", "reductions")
    names = {n for n, entry in FUNCTIONS.items() if entry["group"] in groups}
    names |= set("relu elu softplus softsign sigmoid hard_sigmoid tanh identity softmax".split())
    of = special_values.UNARY + special_values.BINARY + special_values.REDUCTIONS
    assert names - {f.name for f in of} == set()


def test_differences_are_seen():
    """The comparison itself fails where it should."""

    def seen(got, want, ulps=0.5, **keywords):
        f = special_values.Function("f", "f", None, None, ulps, **keywords)
        return special_values.differences(f, np.float32(got), np.float32(want)).tolist()

    least = float(np.finfo("float32").smallest_subnormal)
    assert seen([1, np.nan, np.inf, -0.0, least], [1, np.nan, np.inf, -0.0, least]) == [False] * 5
    assert seen([np.nan, 1, 0.0, np.inf, 0.0], [1, np.nan, -0.0, -np.inf, least]) == [True] * 5
    assert seen([0.0], [-0.0], zero_sign=False) == [False]
    assert seen([1.0000002], [1.0]) == [True]
    assert seen([1.0000002], [1.0], 4) == [False]
    assert seen([1.000002], [1.0], 4) == [True]
    assert seen([np.inf], [3e38], 4) == [True]
    assert seen([0.0, -0.0], [least, least], 4) == [False, True]
    assert seen([0.0], [1e-40], 4) == [True]


def test_page_is_current():
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--page"],
        capture_output=True,
        text=True,
        env=os.environ | {"HORNGATE_NO_CONFIG_WRITE": "1", "HORNGATE_QUIET": "1"},
    )
    assert done.returncode == 0, done.stderr
    page = (ROOT / "docs/special_values.md").read_text()
    assert page == done.stdout, f"run {PROGRAM.name} --page > docs/special_values.md"
