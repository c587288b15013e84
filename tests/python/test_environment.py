"""HORNGATE_* variables: what they do, and what is said about values that mean nothing."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import horngate as K, numpy as np
x = K.placeholder((None, 40))
f = K.function([x], [K.softmax(K.dot(x, K.transpose(x)) * 0.1)])
print(*f([np.linspace(-1, 1, 120).reshape(3, 40)])[0].ravel())
"""


def run(**variables):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | {"HORNGATE_QUIET": "1", "KERAS_BACKEND": "native"} | variables,
    )


@pytest.mark.parametrize(
    "name, value, must_be",
    [
        ("HORNGATE_NUM_THREADS", "two", "a whole number from 1 to 1024"),
        ("HORNGATE_NUM_THREADS", "0", "a whole number from 1 to 1024"),
        ("HORNGATE_NUM_THREADS", "2 ", "a whole number from 1 to 1024"),
        ("HORNGATE_NUM_THREADS", "100000", "a whole number from 1 to 1024"),
        ("HORNGATE_PLAN_BYTES", "1GB", "a whole number of at least 1"),
        ("HORNGATE_TAPE_BYTES", "-1", "a whole number of at least 1"),
        ("HORNGATE_JIT", "no", "0 or 1"),
        ("HORNGATE_PLAIN", "yes", "0 or 1"),
        ("HORNGATE_WINOGRAD", "off", "0 or 1"),
        ("HORNGATE_STRICT", "2", "0 or 1"),
        ("HORNGATE_QUIET", "true", "0 or 1"),
        ("HORNGATE_SIMD", "mmx", '"", "scalar"'),
    ],
)
def test_a_value_that_means_nothing_is_an_error(name, value, must_be):
    done = run(**{name: value})
    said = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert said.startswith(f"ValueError: {name}: must be {must_be}")
    assert said.endswith(f'; got "{value}".')


@pytest.mark.parametrize(
    "variables",
    [
        {"HORNGATE_NUM_THREADS": "", "HORNGATE_JIT": "", "HORNGATE_PLAIN": "", "HORNGATE_SIMD": ""},
        {"HORNGATE_NUM_THREADS": "3", "HORNGATE_JIT": "1", "HORNGATE_WINOGRAD": "1"},
        {"HORNGATE_PLAIN": "1"},
        {"HORNGATE_SIMD": "scalar"},
        {"HORNGATE_SIMD": "sse4", "HORNGATE_JIT": "0"},
    ],
    ids=lambda v: ",".join(f"{n.split('_', 1)[1]}={x}" for n, x in v.items()),
)
def test_results_are_the_same(variables):
    done, usual = run(**variables), run()
    assert done.returncode == 0, done.stderr
    numbers = [[float(x) for x in d.stdout.split()] for d in (done, usual)]
    assert len(numbers[0]) == 9
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-5)
