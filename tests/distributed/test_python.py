"""horngate.distributed under each MPI library: results beside NumPy's, callbacks of Keras, exceptions."""

import random
import re
import sys

import pytest
from distributed.ranks import LAUNCHER, LIBRARY, ROOT, SHORT, run

WORKER = str(ROOT / "tests/distributed/worker.py")


def run_python(library, ranks, *words, **more):
    more = {
        "KERAS_HOME": str(ROOT / "build/keras"),
        "HORNGATE_NO_CONFIG_WRITE": "1",
        "HORNGATE_QUIET": "1",
        "HORNGATE_COMM_TIMEOUT": "60",  # one rank may import Keras seconds after the others
        **more,
    }
    return run(library, ranks, sys.executable, WORKER, *words, **more)


def ends_with(expected, code, text, library):
    """Whether a program ended so. MPICH's mpiexec may kill ranks that are about to end: it gives their code, or nobody does."""
    is_killed = code == 9 or (code == 1 and "was killed before it could report how" in text)
    return code == expected or (library == "mpich5" and is_killed)


@LIBRARY
@pytest.mark.parametrize("ranks", [1, 3] if SHORT else [1, 2, 3, 4])
def test_random_operations(library, ranks):
    count = 10 if SHORT else 50
    code, text = run_python(library, ranks, "cases", str(random.randrange(10**6)), str(count))
    assert code == 0 and len(re.findall(f"of {ranks}: {count} cases", text)) == ranks, text


@LIBRARY
@pytest.mark.parametrize("ranks", [2] if SHORT else [1, 2, 3])
def test_callbacks_of_keras(library, ranks):
    code, text = run_python(library, ranks, "keras")
    assert code == 0 and len(re.findall(f"of {ranks}: trained", text)) == ranks, text


@LIBRARY
@pytest.mark.parametrize("end_well", "01")
def test_an_exception_is_told_to_the_others(library, end_well):
    code, text = run_python(library, 3, "raises", end_well)
    said = r"sees rank 2, given_up: barrier: rank 2 \(host \S+\) gave up: ValueError: a file is missing"
    assert ends_with(1, code, text, library) and len(re.findall(said, text)) == 2, (code, text)


@LAUNCHER
@pytest.mark.parametrize(
    "what", ["root", "shape"] if SHORT else ["root", "op", "order", "shape", "half", "name", "size"]
)
def test_ranks_that_differ_are_told(library, what):
    code, text = run_python(library, 3, "differ", what)
    found = re.findall(
        r"after ([\d.]+) s rank \d: CommError mismatch: .*rank [01] \(host \S+\) is at (.*), but rank 2 \(host \S+\) at (.*): op",
        text,
    )
    # A rank that has got what another one broadcast is through.
    assert len(found) >= (2 if what in ("root", "size") else 3), (code, text)
    assert all(float(seconds) < 1 and one != other for seconds, one, other in found), text


@LAUNCHER
@pytest.mark.parametrize("ranks", [2, 3])
def test_a_rank_that_ends_is_in_no_barrier(library, ranks):
    _, text = run_python(library, ranks, "differ", "end")
    assert (
        len(re.findall("CommError left: barrier: .* has ended its program", text)) == ranks - 1
    ), text


@LAUNCHER
def test_what_breaks_nothing(library):
    code, text = run_python(library, 3, "stays")
    assert code == 0 and len(re.findall("of 3: unbroken", text)) == 3, text


@LAUNCHER
def test_signal_handlers(library):
    code, text = run_python(library, 2, "handler")
    assert code == 0 and "a signal handler cannot begin one" in text and "rank 1: []" in text, text
    code, text = run_python(library, 2, "terminated")
    assert ends_with(5, code, text, library), (code, text)
    assert "gave up: preempted" in text and "SystemError" not in text, text


@LAUNCHER
def test_ctrl_c_while_leaving(library):
    _, text = run_python(library, 2, "leaves")
    found = re.search(r"KeyboardInterrupt .* after ([\d.]+) s", text)
    assert found and float(found[1]) < 1, text


@LAUNCHER
def test_threads_may_ask_while_ranks_meet(library):
    code, text = run_python(library, 2, "late")
    assert code == 0 and len(re.findall("of 2: met", text)) == 2, text
