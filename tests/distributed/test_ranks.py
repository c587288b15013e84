"""Ranks under each MPI library: results, and faults. `make test-distributed` installs the libraries and runs this."""

import os
import random
import re
import signal
import time

import pytest
from distributed.ranks import (
    LAUNCHER,
    LIBRARIES,
    LIBRARY,
    RUNS,
    SHORT,
    TIMEOUT,
    WORKER,
    end,
    read_pids,
    run,
    slow,
    start,
)


@LIBRARY
@pytest.mark.parametrize("ranks", [1, 3] if SHORT else [1, 2, 3, 4])
def test_random_operations(library, ranks):
    cases = 10 if SHORT else 25
    code, text = run(library, ranks, WORKER, "cases", str(random.randrange(10**6)), str(cases))
    assert code == 0 and len(re.findall(f"rank . of {ranks}: {cases} cases", text)) == ranks, text


@pytest.mark.parametrize("ranks", [3] if SHORT else [2, 3, 4])
def test_the_same_bits_on_all_libraries_and_transports(ranks):
    hashes = set()
    for library in LIBRARIES:
        hashes |= set(re.findall("hash (.*)", run(library, ranks, WORKER, "same", "5")[1]))
    if "openmpi5" in LIBRARIES:
        tcp = run("openmpi5", ranks, WORKER, "same", "5", OMPI_MCA_btl="tcp,self")[1]
        hashes |= set(re.findall("hash (.*)", tcp))
    assert len(hashes) == 1, hashes


@LIBRARY
@pytest.mark.parametrize("what", ["count", "dtype", "kind"])
def test_mismatched_operations_are_named_within_a_second(library, what):
    code, text = run(library, 3, WORKER, "mismatch", what)
    found = re.findall(
        r"after ([\d.]+) s rank (\d): .*: rank [01] \(host \S+\) is at all_reduce float32 x 2000, sum, but "
        r"rank 2 \(host \S+\) at (all_reduce|broadcast) float(?:32|64) x",
        text,
    )
    assert code != 0 and found and all(float(seconds) < 1 for seconds, _, _ in found), text


@LIBRARY
@pytest.mark.parametrize(
    "what, said", [("leaves", "has ended its program"), ("throws", "gave up: a file is missing.")]
)
def test_a_rank_that_ends_or_gives_up_is_named(library, what, said):
    code, text = run(library, 3, WORKER, "mismatch", what)
    assert code != 0 and re.search(rf"rank 2 \(host \S+\) {re.escape(said)}", text), text


def fault(library, ranks, mode, number, options, victims=1):
    """Sends the signal to random ranks at random times; returns which, when the first, the code, what was printed."""
    seconds = "2" if SHORT else "4"
    process = start(library, ranks, WORKER, mode, seconds, options=("--all-output", *options))
    pids = {}
    try:
        pids = read_pids(process, ranks)
        time.sleep(random.random())
        chosen = random.sample(range(ranks), victims)
        at = time.time()
        for rank in chosen:
            os.kill(pids[rank], number)
            time.sleep(random.choice([0, random.random() * 0.02, random.random()]))
        text = process.communicate(timeout=30)[0]
    finally:
        process.kill()
        end(pids.values())
    return chosen, at, process.returncode, text


def check_elastic(library, number, ranks, victims=1):
    """All survivors say in time who it was, and go on; the program ends well."""
    chosen, at, code, text = fault(library, ranks, "elastic", number, ("--elastic",), victims)
    most = 1 if number == signal.SIGKILL else TIMEOUT + 1
    others, left = set(range(ranks)) - set(chosen), ranks - victims
    said = {}
    for seconds, rank, named in re.findall(
        r"at ([\d.]+) rank (\d): \S+: (.*)", text
    ):  # ranks get new numbers: the first thing that each process says counts
        said.setdefault(int(rank), (float(seconds) - at, named))
    assert code == 0, text
    if victims == 1:
        assert set(said) >= others, (chosen, text)
        for rank in others:
            assert said[rank][0] < most, (said, text)
            assert said[rank][1].startswith(f"rank {chosen[0]} (host "), (said, text)
    on = [float(t) - at for t in re.findall(rf"at ([\d.]+) rank \d of {left} goes on", text)]
    assert len(on) == left, (chosen, text)
    if victims == 1:
        assert max(on) < most + 1, (on, text)
    assert len(re.findall(f"of {left} is through", text)) == left, text


@pytest.mark.parametrize("run_number", range(RUNS))
@LAUNCHER
@pytest.mark.parametrize("ranks", [3] if SHORT else [2, 3, 4])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_survivors_go_on(library, ranks, number, run_number):
    check_elastic(library, number, ranks)


@slow
@pytest.mark.parametrize("run_number", range(RUNS))
@LAUNCHER
def test_survivors_of_two_deaths_go_on(library, run_number):
    check_elastic(library, signal.SIGKILL, 4, victims=2)


@pytest.mark.parametrize("run_number", range(RUNS))
@LAUNCHER
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_rank_ends_all_and_is_named(library, number, run_number):
    chosen, at, code, text = fault(library, 3, "loop", number, ())
    took = time.time() - at
    assert code != 0 and took < (TIMEOUT if number == signal.SIGSTOP else 0) + 3, (took, text)
    assert re.search(rf"rank {chosen[0]} \(host \S+\) (ended|does not answer)", text), text
