"""The fuzzer of whole graphs, tests/fuzz: a minute with fresh seeds, and what it found before."""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from functions_catalogue import BEYOND, FUNCTIONS, OWN
from cases.engines import wanted
from fuzz import __main__ as fuzz_main
from fuzz import compare, covered, generate, hunt, moods, source
from fuzz import worker as fuzz_worker
from fuzz.configurations import Configuration, Worker, of_engine
from fuzz.evaluate import Evaluation, Noise

FOUND = sorted((TESTS / "fuzz" / "found").glob("*.json"))
SECONDS = os.environ.get("HORNGATE_FUZZ_SECONDS", "55")
SEEDS = os.environ.get("HORNGATE_FUZZ_SEEDS")  # instead of fresh ones


def test_a_minute_with_fresh_seeds(record_property):
    """Fails with the smallest program that it found and the seed that makes it again."""
    done = subprocess.run(
        [
            *[sys.executable, "-m", "fuzz", "--jobs", "1", "--most", "1"],
            *(["--seeds", SEEDS] if SEEDS else ["--seconds", SECONDS]),
        ],
        cwd=TESTS,
        capture_output=True,
        text=True,
    )
    for line in done.stdout.splitlines():
        if line.startswith("fuzz: "):
            record_property("told", line)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-2000:]}"


def test_a_slow_configuration_takes_each_so_many_th_seed():
    """By the seed, so that a program that is repeated by itself runs as it did among others."""
    hunter = hunt.Hunt("theano")
    names = {}
    for seed in [3, 10, 20, 21, 120]:
        names[seed] = hunter.other({"seed": seed}).configuration.name
    rare, common = "theano, compiled", "theano, simplified"
    assert names == {3: common, 10: common, 20: rare, 21: common, 120: rare}
    assert hunt.Hunt("cntk").other({"seed": 20}) is None


def program_id(path):
    return path.stem


@pytest.fixture(scope="module")
def worker():
    made = Worker(Configuration("default", {"HORNGATE_NUM_THREADS": "2"}))
    yield made
    made.stop()


def configurations():
    """The default of each engine; of theano also what it simplifies (its C code takes too long)."""
    for engine in [e.name for e in wanted() if e.computes]:
        made = of_engine(engine, random.Random(0))
        yield from made[:2] if engine == "theano" else made[:1]


@pytest.fixture(scope="module")
def engine_worker(request):
    made = Worker(request.param)
    yield made
    made.stop()


@pytest.mark.parametrize("path", FOUND, ids=program_id)
@pytest.mark.parametrize(
    "engine_worker", list(configurations()), indirect=True, scope="module", ids=lambda c: c.name
)
def test_what_was_found(path, engine_worker):
    program = json.loads(path.read_text())
    result = engine_worker.run(program)
    observed = None
    if hunt.needs_observation(program) and "error" not in result:
        observed = result["calls"]
    in_order = engine_worker.configuration.in_order()
    fault = compare.fault_of(compare.Reference(program, observed, in_order), result)
    assert fault is None, f"{path.stem}: {fault}\n{source.standalone(program, {'place': fault})}"


def test_every_function_of_the_catalogue_is_in_programs_or_has_a_reason():
    known = covered.of_table() | set(covered.BY_PROGRAMS) | set(covered.EXCLUDED)
    catalogue = set(FUNCTIONS) | set(BEYOND)
    assert catalogue - known == set()
    # What is composed of functions that are in programs may be in them too.
    assert known - catalogue - set(OWN) == set()
    assert not set(covered.EXCLUDED) & covered.of_table()


def test_every_operation_is_drawn():
    """Within a few thousand programs each entry of the table appears."""
    seen = set()
    for seed in range(6_000):
        program = generate.program_of(seed)
        seen |= {op["op"] for op in program["ops"]}
        if len(seen) == len(generate.NAMES):
            break
    assert set(generate.NAMES) - seen == set()


@pytest.mark.parametrize("mood", moods.MOODS)
def test_each_mood_has_its_share_and_makes_valid_programs(mood):
    seeds = [seed for seed in range(2_000) if moods.mood_of(seed) == mood]
    share = moods.MOODS[mood].share / sum(m.share for m in moods.MOODS.values())
    assert abs(len(seeds) / 2_000 - share) < 0.04
    for seed in seeds[:5]:
        program = generate.program_of(seed)
        assert program["outputs"]
        if not hunt.needs_observation(program):
            Evaluation(program)


def test_a_seed_makes_the_same_program_again():
    for seed in random.Random(1).sample(range(10**6), 20):
        first, again = generate.program_of(seed), generate.program_of(seed)
        assert json.loads(json.dumps(first)) == json.loads(json.dumps(again))


def test_a_program_survives_json():
    """Found programs are kept as files: they mean the same when they come back."""
    for seed in range(60):
        program = generate.program_of(seed)
        if hunt.needs_observation(program):
            continue
        again = json.loads(json.dumps(program))
        assert source.graph(program) == source.graph(again)
        one, two = Evaluation(program), Evaluation(again)
        for a, b in zip(one.values, two.values):
            for name in a:
                np.testing.assert_array_equal(a[name], b[name])


def test_what_dropout_divides_is_rounded():
    """Which entries stay is taken from the library; the quotient is a step like others."""
    leaf = {"name": "x0", "kind": "constant", "dtype": "float32", "dims": [50]}
    leaf["data"] = {"kind": "positive", "seed": 1}
    op = {"op": "dropout", "in": ["x0"], "args": {"level": 0.25, "seed": 1}, "out": ["v1"]}
    program = {**generate.program_of(1), "leaves": [leaf], "ops": [op], "outputs": ["v1"]}
    program.update(gradients=[], updates=[], calls=1, floatx="float32", phase=None)
    exact = Evaluation(program).values[0]["v1"]
    noisy = Evaluation(program, Noise(np.random.default_rng(0), amplitude=3.0)).values[0]["v1"]
    np.testing.assert_array_equal(exact == 0, noisy == 0)
    stayed = exact != 0
    assert 0 < np.abs(noisy[stayed] / exact[stayed] - 1).max() < 1e-6


def test_a_sum_that_overflows_does_not_cancel():
    noise = Noise(np.random.default_rng(0), amplitude=0.0, narrow=True)
    noise.dtype = "float32"
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = noise(np.array([1e39, np.inf, 1e-9]), np.array([1e39, np.inf, 1.0]))
    assert not np.isfinite(rounded[:2]).any() and rounded[2] == 0


def test_a_faint_number_may_be_lost():
    """Less than five bits next to 0: a logarithm of it may be -inf."""
    noise = Noise(np.random.default_rng(0), amplitude=0.0, narrow=True, faint=True)
    noise.dtype = "float16"
    assert noise(np.array([5e-7, -5e-7, 2e-6, 1.0])).tolist() == [0, 0, np.float16(2e-6), 1]


def test_a_call_that_changes_is_told():
    x = np.array([1, np.nan, 0, 3], "float32")
    y, z = x.copy(), x.copy()
    y.view("uint32")[1] ^= 1 << 31
    z[2] = -0.0
    assert fuzz_worker.changed("v", x, x.copy(), True) is None
    assert fuzz_worker.changed("v", x, y, False) is None
    told = fuzz_worker.changed("v", x, y, True)
    assert told.startswith("v: 1 of 4 elements, the first at 1: nan (")
    told = fuzz_worker.changed("v", x, z, False)
    assert told == "v: 1 of 4 elements, the first at 2: 0.0 (00000000), then -0.0 (00000080)"
    assert fuzz_worker.changed("v", x, x[:3], False) == "v: float32 (4,), then float32 (3,)"
    for empty in (np.zeros((0, 2)), np.zeros((), bool), np.array(2)):
        assert fuzz_worker.changed("v", empty, empty.copy(), True) is None


def slightly_wrong(result):
    for call in result["calls"]:
        for name, x in call["outputs"].items():
            x = np.array(x)
            if x.dtype == "float32" and x.size:
                at = np.unravel_index(x.size // 2, x.shape)
                x[at] = x[at] * np.float32(1.01) + np.float32(0.01)
                call["outputs"][name] = x
                return True
    return False


def wrong_gradient(result, change):
    for call in result["calls"]:
        for gradients in call["gradients"]:
            for i, g in enumerate(gradients):
                if g is not None and g.size:
                    g = np.array(g)
                    g.flat[0] = change(g.flat[0])
                    gradients[i] = g
                    return True
    return False


def slightly_wrong_gradient(result):
    return wrong_gradient(result, lambda x: x * 1.05 + 0.05)


def gradient_with_nan(result):
    return wrong_gradient(result, lambda x: np.nan)


def gradient_with_infinity(result):
    return wrong_gradient(result, lambda x: np.inf)


def no_lists(leaf):
    return all(isinstance(n, int) for n in leaf["dims"])


@pytest.mark.parametrize(
    "change",
    [slightly_wrong, slightly_wrong_gradient, gradient_with_nan, gradient_with_infinity],
)
def test_a_wrong_element_is_found(change, worker):
    """Most programs are conditioned well enough to tell."""
    programs = [generate.program_of(seed) for seed in range(300)]
    if change is not slightly_wrong:
        programs = [p for p in programs if p["gradients"]]
    caught = tried = 0
    for program in programs:
        large = any(math.prod(np.ravel(x["dims"])) > 5000 for x in program["leaves"] if no_lists(x))
        if large or hunt.needs_observation(program) or program["floatx"] == "float16" or tried > 30:
            continue
        result = worker.run(program)
        if "error" in result or not change(result):
            continue
        tried += 1
        caught += compare.fault_of(compare.Reference(program), result) is not None
    assert tried > 20
    assert caught >= 0.9 * tried, f"{caught} of {tried}"


def killed_job(options, seeds, number, queue):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_job_that_dies_is_a_finding(monkeypatch, capsys):
    """Nothing was found is said of all seeds, or not at all."""
    monkeypatch.setattr(fuzz_main, "job", killed_job)
    options = argparse.Namespace(most=5, keep=None)
    assert fuzz_main.hunted(options, [[1, 2]]) == 1
    assert "job 0 ended with status -9" in capsys.readouterr().out


def test_a_result_that_is_too_large_is_not_computed():
    """Of a transposed convolution: seed 8497 once asked for an array of 12 GB."""
    g = generate.Drawer(1, generate.settings_of(random.Random(1)), None)
    args = {"batch": 256, "filters": 256, "result": [191, 64, 2], "size": [1, 1, 1]}
    x = g.new([256, 1, 1, 1, 1])
    entry = generate.TABLE["conv3d_transpose"]
    monster = dataclasses.replace(entry, value=lambda *_: pytest.fail("it was computed"))
    assert not g.keep(monster, [x, g.new([1, 1, 1, 256, 1])], args)
