"""`horngate launch` under each mpirun: what it prints, its code, and that nothing is left when it ends."""

import os
import pty
import random
import re
import signal
import subprocess
import time

import pytest
from distributed.ranks import (
    COMMAND,
    LAUNCHER,
    LIBRARIES,
    RUNS,
    WORKER,
    alive,
    clean_environment,
    environment,
    new_mark,
    read_pids,
    run,
    seconds_until_gone,
    slow,
    start,
)

RANK = "rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; "


def shell(script):
    return ["sh", "-c", RANK + script]


@pytest.mark.parametrize("run_number", range(RUNS))
@LAUNCHER
@pytest.mark.parametrize(
    "how, code, said",
    [
        ("exit 3", 3, "ended with code 3."),
        ("kill -KILL $$", 137, "ended by a signal: Killed."),
        ("kill -SEGV $$", 139, "ended by a signal: Segmentation fault."),
    ],
)
def test_one_that_fails_ends_all(library, how, code, said, run_number):
    rank, moment, mark = random.randrange(3), random.random(), new_mark()
    script = f"[ $rank = {rank} ] && {{ sleep {moment:.2f}; echo oops >&2; {how}; }}; sleep 60"
    began = time.time()
    got, text = run(library, 3, *shell(script), options=(), **mark)
    took = time.time() - began - moment
    assert got == code and took < 3, (got, took, text)
    assert re.search(rf"horngate launch: rank {rank} \(host \S+\) {re.escape(said)}", text), text
    assert text.count("horngate launch: rank") == 1, text  # the others were told to end
    assert ("oops" if rank == 0 else f"[{rank}] oops") in text, text
    seconds_until_gone(mark, 5)


@LAUNCHER
def test_output(library):
    script = "printf 'a\\nb'; echo c >&2"
    code, text = run(library, 3, *shell(script), options=("--all-output",))
    lines = sorted(f"[{rank}] {word}" for rank in range(3) for word in "abc")
    assert code == 0 and sorted(text.splitlines()) == lines, text
    code, text = run(library, 3, *shell(script + "; echo $rank"), options=())
    assert code == 0 and sorted(text.split()) == ["a", "b0", "c"], text


@slow
@LAUNCHER
def test_processors_are_divided(library):
    here = len(os.sched_getaffinity(0))
    for ranks in (1, 2, 3):
        _, text = run(library, ranks, *shell("echo threads $HORNGATE_NUM_THREADS"))
        assert text.count(f"threads {max(1, here // ranks)}\n") == ranks, text
    _, text = run(
        library, 2, *shell("echo threads $HORNGATE_NUM_THREADS"), HORNGATE_NUM_THREADS="7"
    )
    assert text.count("threads 7\n") == 2, text


@slow
@LAUNCHER
def test_restarts(library):
    """Rank 1 fails twice; the third start is well, unless it is not allowed."""
    script = "echo start $HORNGATE_RESTART; [ $rank = 0 ] || [ $HORNGATE_RESTART = 2 ] || { sleep 0.5; exit 1; }"
    code, text = run(library, 2, *shell(script), options=("--restarts", "2"))
    assert code == 0 and re.findall(r"^start (\d)", text, re.M) == ["0", "1", "2"], text
    assert (
        "horngate launch: the program ended with code 1; starting it again (start 3 of 3)." in text
    )
    code, text = run(library, 2, *shell(script), options=("--restarts", "1"))
    assert code == 1 and re.findall(r"^start (\d)", text, re.M) == ["0", "1"], text


@slow
@LAUNCHER
def test_a_rank_that_starts_late(library):
    script = "[ $rank = 1 ] && sleep 3; exec " + WORKER + " cases 5 5"  # longer than the timeout
    code, text = run(library, 3, *shell(script))
    assert code == 0 and len(re.findall("rank . of 3: 5 cases", text)) == 3, text


@LAUNCHER
@pytest.mark.parametrize("options", [(), ("--elastic",)])
def test_a_rank_that_is_lost_before_it_meets_the_others(library, options):
    mark = new_mark()
    script = (
        f"[ $rank = 1 ] && {{ sleep {random.random():.2f}; kill -KILL $$; }}; exec {WORKER} loop 60"
    )
    began = time.time()
    code, text = run(library, 3, *shell(script), options=options, seconds=20, **mark)
    assert code == 137 and time.time() - began < 5, text
    assert re.search(r"rank 1 \(host \S+\) ended by a signal: Killed", text), text
    seconds_until_gone(mark, 5)


@pytest.mark.parametrize("run_number", range(RUNS))
@LAUNCHER
@pytest.mark.parametrize(
    "number, most", [(signal.SIGINT, 1.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 5.0)]
)
def test_nothing_is_left_when_the_launcher_ends(library, number, most, run_number):
    """At a random moment, before or after the ranks have met."""
    mark = new_mark()
    process = start(library, 3, WORKER, "loop", "60", **mark)
    has_met = random.random() < 0.7
    if has_met:
        read_pids(process, 3)
    time.sleep(random.random() * 0.5)
    process.send_signal(number)
    took = seconds_until_gone(mark, 20)
    code = process.wait(timeout=5)
    process.stdout.close()
    assert took < most, took
    # A signal may come before the launcher listens to it.
    codes = [] if number == signal.SIGKILL else [128 + number]
    assert code in (codes if has_met and codes else [*codes, -number])


@LAUNCHER
def test_nothing_is_left_when_mpirun_is_killed(library):
    mark = new_mark()
    process = start(library, 3, WORKER, "loop", "60", **mark)
    read_pids(process, 3)
    (mpirun,) = (
        int(pid)
        for pid in alive(mark)
        if open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1] == str(process.pid)
    )
    os.kill(mpirun, signal.SIGKILL)
    assert seconds_until_gone(mark, 20) < 5
    assert process.wait(timeout=5) == 137
    process.stdout.close()


@LAUNCHER
def test_ctrl_c_on_a_terminal(library):
    """Whose processes read from it, which stops those in the background of a terminal."""
    mark = new_mark()
    pid, terminal = pty.fork()
    if pid == 0:
        words = [COMMAND, "launch", "-n", "2", "--all-output", WORKER, "loop", "60"]
        os.execve(COMMAND, words, environment(library) | mark)
    text = b""
    while text.count(b"ready") < 2:
        text += os.read(terminal, 4096)
    os.write(terminal, b"\x03")
    took = seconds_until_gone(mark, 20)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert took < 1 and os.waitstatus_to_exitcode(status) == 130, (took, status)


@LAUNCHER
def test_signals_of_users_reach_the_ranks(library):
    script = "trap 'echo got $rank; exit 0' USR1; echo ready rank $rank pid $$; while :; do sleep 0.1; done"
    process = start(library, 2, *shell(script))
    read_pids(process, 2)
    process.send_signal(signal.SIGUSR1)
    text = process.communicate(timeout=10)[0]
    assert sorted(re.findall(r"got (\d)", text)) == ["0", "1"] and process.returncode == 0, text


@LAUNCHER
def test_plain_mpirun(library):
    path = LIBRARIES[library]
    folder = next(up / "bin" for up in path.parents if (up / "bin").is_dir())
    mpirun = next(p for p in (folder / "mpirun", folder / "mpirun.openmpi") if p.exists())
    options = [] if library == "mpich5" else ["--oversubscribe", "--allow-run-as-root"]
    env = environment(library)
    if library != "openmpi4":  # the plug-in finds the library of the mpirun that started it
        del env["HORNGATE_MPI"]
    done = subprocess.run(
        [mpirun, *options, "-n", "3", WORKER, "cases", "7", "5"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert len(re.findall("rank . of 3: 5 cases", done.stdout)) == 3, done


def said(*words, **variables):
    env = {k: v for k, v in clean_environment().items() if k != "PATH"} | variables
    done = subprocess.run([COMMAND, "launch", *words], env=env, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "", done
    return done.stderr


def test_no_mpi():
    text = said("-n", "2", "/bin/true", PATH="/nowhere", HORNGATE_HOME="/nowhere")
    assert text == (
        "horngate launch: there is no mpirun. `horngate comm install openmpi` gets one; or put one on PATH, or "
        "name its folder in HORNGATE_MPI.\n"
    )
    text = said("-n", "2", "/bin/true", HORNGATE_MPI="/nowhere")
    assert text == "horngate launch: found no bin/mpirun in or above HORNGATE_MPI=/nowhere.\n"


def test_a_program_that_does_not_exist():
    text = said("-n", "2", "no-such-program", PATH="/usr/bin")
    assert text == (
        'horngate launch: PROGRAM must be on PATH or the path of an executable file; got "no-such-program".\n'
    )


@pytest.mark.parametrize(
    "words, text",
    [
        (["-n", "0", "true"], '-n must be a number of at least 1; got "0".'),
        (["-n", "two", "true"], '-n must be a number of at least 1; got "two".'),
        (
            ["-n", "2", "--restarts", "-1", "true"],
            '--restarts must be a number of at least 0; got "-1".',
        ),
        (["-n", "3", "-H", "a:1,b:1", "true"], "-H must have a slot for each of 3 ranks; got 2."),
        (["-n", "3", "-H", "a:1,:2", "true"], '-H must be HOST:SLOTS,HOST:SLOTS,..; got "a:1,:2".'),
        (["-n", "3", "-H", "a:none", "true"], '-H must be HOST:SLOTS,HOST:SLOTS,..; got "a:none".'),
        (["-n"], "-n needs a value."),
        (["--fast", "-n", "2", "true"], 'there is no option "--fast".'),
    ],
)
def test_wrong_options(words, text):
    assert said(*words, PATH="/usr/bin").startswith("horngate launch: " + text)
