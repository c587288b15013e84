"""Starting ranks under each MPI library, for the tests beside it."""

import os
import pathlib
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

# As part of `make test`: with the libraries that are there, each fault once, less than a minute.
SHORT = os.environ.get("HORNGATE_TEST_SHORT") == "1"
RUNS = 1 if SHORT else int(os.environ.get("HORNGATE_TEST_FAULTS", "3"))  # of each fault

# Where the libraries are, by tools/test_distributed.sh. One of them may be Debian's own, unpacked.
COMM = pathlib.Path(os.environ.get("HORNGATE_HOME") or BUILD / "horngate-home") / "comm"
LIBRARIES = {
    "openmpi5": COMM / "openmpi/lib/libmpi.so.40",
    "openmpi4": BUILD / "openmpi4/usr/lib/x86_64-linux-gnu/libmpi.so.40",
    "mpich5-abi": COMM / "mpich/lib/libmpi_abi.so.1",
    "mpich5": COMM / "mpich/lib/libmpi.so.12",
}
if SHORT:
    LIBRARIES = {n: p for n, p in LIBRARIES.items() if p.exists() and n in ("openmpi5", "mpich5")}
LAUNCHERS = [name for name in LIBRARIES if name != "mpich5-abi"]  # each mpirun once
LIBRARY = pytest.mark.parametrize("library", LIBRARIES)
LAUNCHER = pytest.mark.parametrize("library", LAUNCHERS)
slow = pytest.mark.skipif(SHORT, reason="only in make test-distributed")


def moved_openmpi4():
    """It was not made for being moved: what it needs to find itself."""
    usr, lib = BUILD / "openmpi4/usr", LIBRARIES["openmpi4"].parent
    return {
        "LD_LIBRARY_PATH": str(lib),
        "OPAL_PREFIX": str(usr),
        "OPAL_LIBDIR": str(lib),
        "OPAL_DATADIR": str(usr / "share"),
        "OMPI_MCA_mca_base_component_path": str(lib / "openmpi/lib/openmpi3"),
        "OMPI_MCA_mca_base_component_show_load_errors": "0",
        "PMIX_MCA_mca_base_component_path": str(lib / "pmix2/lib/pmix"),
    }


def clean_environment():
    """This process's, without what a launcher or a user may have set."""
    ours = ("OMPI_", "PMI", "PRTE_", "HORNGATE_", "HG_RANK_", "HYDRA_", "SLURM_")
    return {k: v for k, v in os.environ.items() if not k.startswith(ours)}


def environment(library):
    path = LIBRARIES[library]
    assert path.exists(), f"{path} is not there; `make test-distributed` gets it"
    env = clean_environment()
    env.update(HORNGATE_MPI=str(path), HORNGATE_COMM_TIMEOUT=str(TIMEOUT))
    if library == "openmpi4":
        env.update(moved_openmpi4())
    return env


def start(library, ranks, *words, options=("--all-output",), around=(), **more):
    """`around`: words before those of the command."""
    env = environment(library)
    env.update(more)
    command = [*around, COMMAND, "launch", "-n", str(ranks), *options, *words]
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


def read_pids(process, ranks):
    """Numbers of the ranks' processes, once all of them have said that they are ready."""
    pids, head = {}, ""
    while len(pids) < ranks:
        line = process.stdout.readline()
        assert line, head
        head += line
        if found := re.search(r"ready rank (\d+) pid (\d+)", line):
            pids[int(found[1])] = int(found[2])
    return pids


def end(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def new_mark():
    """A variable that all processes of one launch carry."""
    return {"HORNGATE_TEST_MARK": f"{os.getpid()}.{time.time()}"}


def alive(mark):
    """Processes that carry the mark in their environment."""
    found, text = [], f"HORNGATE_TEST_MARK={mark['HORNGATE_TEST_MARK']}".encode()
    for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            is_zombie = b"State:\tZ" in (entry.parent / "status").read_bytes()
            if text in entry.read_bytes() and not is_zombie:
                found.append(int(entry.parent.name))
        except OSError:
            pass
    return found


def seconds_until_gone(mark, most):
    """How long processes with the mark live on; they are ended after `most`."""
    began = time.time()
    while left := alive(mark):
        if time.time() - began > most:
            names = [pathlib.Path(f"/proc/{p}/cmdline").read_bytes() for p in left]
            end(left)
            pytest.fail(f"left after {most} s: {names}")
        time.sleep(0.02)
    return time.time() - began
