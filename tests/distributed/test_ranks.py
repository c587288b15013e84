"""Ranks under each MPI library: results, faults, the launcher. `make test-distributed` installs the libraries and runs this."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
WORKER = str(BUILD / "bin/comm_worker")
COMMAND = str(BUILD / "bin/horngate")
TIMEOUT = 2  # HORNGATE_COMM_TIMEOUT of these tests

# Where the libraries are, by tools/test_distributed.sh. One of them may be Debian's own, unpacked.
LIBRARIES = {
    "openmpi5": BUILD / "horngate-home/comm/openmpi/lib/libmpi.so.40",
    "openmpi4": BUILD / "openmpi4/usr/lib/x86_64-linux-gnu/libmpi.so.40",
    "mpich5-abi": BUILD / "horngate-home/comm/mpich/lib/libmpi_abi.so.1",
    "mpich5": BUILD / "horngate-home/comm/mpich/lib/libmpi.so.12",
}
LIBRARY = pytest.mark.parametrize("library", LIBRARIES)
OPEN_MPI = pytest.mark.parametrize("library", ["openmpi5", "openmpi4"])


def environment(library):
    path = LIBRARIES[library]
    assert path.exists(), f"{path} is not there; `make test-distributed` gets it"
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "HORNGATE_"))}
    env.update(HORNGATE_MPI=str(path), HORNGATE_COMM_TIMEOUT=str(TIMEOUT))
    if library == "openmpi4":  # it was not made for being moved
        usr, lib = BUILD / "openmpi4/usr", path.parent
        env.update(
            LD_LIBRARY_PATH=str(lib),
            OPAL_PREFIX=str(usr),
            OPAL_LIBDIR=str(lib),
            OPAL_DATADIR=str(usr / "share"),
            OMPI_MCA_mca_base_component_path=str(lib / "openmpi/lib/openmpi3"),
            OMPI_MCA_mca_base_component_show_load_errors="0",
            PMIX_MCA_mca_base_component_path=str(lib / "pmix2/lib/pmix"),
        )
    return env


def start(library, ranks, *words, options=("--all-output",), **more):
    env = environment(library)
    env.update(more)
    command = [COMMAND, "launch", "-n", str(ranks), *options, *words]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def run(library, ranks, *words, seconds=120, **more):
    process = start(library, ranks, *words, **more)
    try:
        text = process.communicate(timeout=seconds)[0]
    finally:
        process.kill()
    return process.returncode, text


@LIBRARY
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_random_operations(library, ranks):
    code, text = run(library, ranks, WORKER, "cases", str(random.randrange(10**6)), "25")
    assert code == 0 and len(re.findall(f"rank . of {ranks}: 25 cases", text)) == ranks, text


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_same_bits_on_all_libraries_and_transports(ranks):
    hashes = set()
    for library in LIBRARIES:
        hashes |= set(re.findall("hash (.*)", run(library, ranks, WORKER, "same", "5")[1]))
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


def fault(library, ranks, mode, number, options):
    """Sends the signal to a random rank at a random time; returns which, when, and what was printed."""
    process = start(library, ranks, WORKER, mode, "4", options=("--all-output", *options))
    pids, head = {}, ""
    while len(pids) < ranks:
        line = process.stdout.readline()
        assert line, head
        head += line
        if found := re.search(r"ready rank (\d) pid (\d+)", line):
            pids[int(found[1])] = int(found[2])
    time.sleep(random.random())
    rank = random.randrange(ranks)
    at = time.time()
    os.kill(pids[rank], number)
    try:
        text = process.communicate(timeout=30)[0]
    finally:
        process.kill()
        for pid in pids.values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return rank, at, process.returncode, text


RUNS = int(os.environ.get("HORNGATE_TEST_FAULTS", "3"))


@pytest.mark.parametrize("run_number", range(RUNS))
@OPEN_MPI
@pytest.mark.parametrize("mode", ["loop", "elastic"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_survivors_name_the_rank(library, mode, number, run_number):
    """Survivors say in time who it was, all of them where they go on."""
    rank, at, code, text = fault(library, 3, mode, number, ("--elastic",))
    most = 1 if number == signal.SIGKILL else TIMEOUT + 1
    others = {0, 1, 2} - {rank}
    said = {
        int(r): float(t) - at
        for t, r in re.findall(rf"at ([\d.]+) rank (\d): \S+: rank {rank} \(host \S+\)", text)
    }
    # A survivor that ends with an error has the launcher end the others, perhaps before they speak.
    assert said and set(said) - {rank} <= others, (rank, text)
    assert min(said.values()) < most, (said, text)
    if mode == "elastic":
        assert set(said) >= others and all(said[r] < most for r in others), (said, text)
        on = [float(t) - at for t in re.findall(r"at ([\d.]+) rank \d of 2 goes on", text)]
        assert len(on) == 2 and max(on) < most + 1, (on, text)
        assert len(re.findall("of 2 is through", text)) == 2, text


@pytest.mark.parametrize("library", ["openmpi5", "openmpi4", "mpich5"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_no_rank_hangs(library, number):
    """As mpirun is by default: it may end the others before they can speak, but it ends them."""
    _, at, code, text = fault(library, 3, "loop", number, ())
    assert code != 0 and time.time() - at < TIMEOUT + 8, text


def alive(mark):
    """Processes that carry the mark in their environment."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if (
                mark.encode() in entry.read_bytes()
                and b"State:\tZ" not in (entry.parent / "status").read_bytes()
            ):
                found.append(int(entry.parent.name))
        except OSError:
            pass
    return found


@pytest.mark.parametrize("library", ["openmpi5", "openmpi4", "mpich5"])
@pytest.mark.parametrize("number, most", [(signal.SIGINT, 1.0), (signal.SIGKILL, 5.0)])
def test_nothing_is_left_when_the_launcher_ends(library, number, most):
    mark = f"HORNGATE_TEST_MARK={os.getpid()}.{time.time()}"
    process = start(library, 2, WORKER, "loop", "60", HORNGATE_TEST_MARK=mark.partition("=")[2])
    for _ in range(2):
        while "ready" not in (line := process.stdout.readline()):
            assert line
    began = time.time()
    process.send_signal(number)
    while alive(mark) and time.time() - began < 20:
        time.sleep(0.05)
    took = time.time() - began
    process.kill()
    process.stdout.close()
    assert not alive(mark) and took < most, took


def test_restarts_and_threads_and_quiet_ranks():
    words = [
        "sh",
        "-c",
        'echo "restart $HORNGATE_RESTART threads $HORNGATE_NUM_THREADS"; [ $HORNGATE_RESTART = 1 ]',
    ]
    code, text = run("openmpi5", 2, *words, options=("--restarts", "1"))
    threads = max(1, len(os.sched_getaffinity(0)) // 2)
    assert code == 0 and text.count(f"restart 1 threads {threads}\n") == 1, text
    assert "ended with code 1; start 2 of 2." in text
