"""Times Horngate beside its peers, in turn, and says how many times the best peer's time we need.

    python compare.py                                    # everything, then the report
    python compare.py --only lstm_train --peers torch    # one workload against one peer
    python compare.py --only elem,call --threads 1 --malloc default
    python compare.py --nets                             # the large nets alone, which the others leave out
    python compare.py --check                            # are the results right?

Runners (X_runner.py) stay alive; in each round each of them calls its function for a moment.
report.py says which clock counts.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import memory
import nets_report
import numpy as np
import report
import startup
from applications import FOLDER, INFERENCE, TRAINING
from check import check, difference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = ["torch", "jax", "tf", "ort"]
if "HORNGATE_FDEEP" in os.environ:  # fdeep_runner.py
    PEERS.append("fdeep")
# Keeps freed memory: what is left is not malloc's doing.
PINNED = {
    "MALLOC_MMAP_THRESHOLD_": "4000000000",
    "MALLOC_TRIM_THRESHOLD_": "8000000000",
    "MALLOC_TOP_PAD_": "268435456",
}
BRIEF = 5000  # microseconds: such calls have more and shorter turns; report.low says why
BRIEF_ROUNDS, BRIEF_TURN = 5, 0.4  # times
NETS = {*INFERENCE, *TRAINING}
NET_TOLERANCE = 1e-4  # of the largest value, between all peers, before anything is timed
PATIENCE = 1800  # seconds: torch.compile takes minutes for a large net on a busy machine
PAUSE = 0.02  # seconds; until the threads of the one before have stopped spinning


class Runner:
    """A process that serves one library's workloads; see common.py."""

    def __init__(self, name, python, environment, log):
        self.name = name
        self.process = subprocess.Popen(
            [str(python), str(HERE / f"{name}_runner.py"), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(log, "w"),
            text=True,
            env={**os.environ, **environment},
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        ready = self.wait(180).get("ready")
        if ready is None:
            sys.exit(f"{name}: the runner did not start; see {log}")
        self.lanes = [tuple(x) for x in ready]

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put({"error": "the runner ended"})

    def wait(self, seconds):
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            self.process.kill()
            return {"error": f"no answer in {seconds} s"}

    def ask(self, cmd, patience=600, **command):
        try:
            self.process.stdin.write(json.dumps({"cmd": cmd, **command}) + "\n")
            self.process.stdin.flush()
        except OSError:
            return {"error": "the runner ended"}
        return self.wait(patience)

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(20)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


def start(names, threads, malloc, options, **environment):
    environment["PEER_THREADS"] = str(threads)
    if malloc == "pinned":
        environment.update(PINNED)
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)

    def runner(name):
        own = startup.environment_of(name, folder / "keras")
        log = folder / f"{name}.{threads}.{malloc}.log"
        return Runner(name, startup.python_of(name, options), environment | own, log)

    return [runner(n) for n in names]


def chosen(workload, only):
    if not only:
        return workload not in NETS
    return any(workload.startswith(o) or report.group(workload) == o for o in only)


def takes_part(runner, variant, options):
    """--peers has names of libraries, or torch.eager for one of a library's variants."""
    asked = options.peers.split(",") + ["horngate"]
    skipped = options.skip.split(",")
    names = {runner.name, f"{runner.name}.{variant}"}
    return bool(names & set(asked)) and not names & set(skipped)


def hopeless(rows, here, lane):
    """A peer far behind the best one after a round: more rounds would only take time."""
    t = report.times(rows, *here)
    own = t.get(f"{lane[0].name}.{lane[1]}")
    theirs = [x[0] for p, x in t.items() if not report.is_ours(p)]
    return own and lane[0].name != "horngate" and own[0] > report.FAR * min(theirs)


def results_of(path):
    with np.load(path) as f:
        return [f[k] for k in f.files]


def agreeing(workload, lanes, paths, rows):
    """The lanes whose results are ours; others are not timed on, and their first times go."""
    ours = next((results_of(paths[x]) for x in lanes if x[0].name == "horngate"), "ours failed")
    kept = []
    for lane in lanes:
        peer = f"{lane[0].name}.{lane[1]}"
        far = difference(results_of(paths[lane]), ours)
        if isinstance(far, str) or not far <= NET_TOLERANCE:
            print(f"{workload} {peer}: WRONG, differs by {far}", file=sys.stderr)
            rows[:] = [r for r in rows if (r["workload"], r["peer"]) != (workload, peer)]
            continue
        kept.append(lane)
        for r in rows:
            if (r["workload"], r["peer"]) == (workload, peer):
                r["difference"] = far
    return kept


def measure(threads, malloc, options, only, keep):
    """The rows of one setting; keep(rows) after each workload, so that a stopped run leaves some."""
    names = [p for p in PEERS if any(a.split(".")[0] == p for a in options.peers.split(","))]
    runners = start(["horngate", *names], threads, malloc, options)
    rows = []

    def take_turn(workload, runner, variant, seconds, **more):
        """False when it failed."""
        time.sleep(PAUSE if threads > 1 else 0)
        more |= {"workload": workload, "variant": variant, "seconds": seconds}
        said = runner.ask("time", PATIENCE, **more)
        if "error" in said:
            print(f"{workload} {runner.name}.{variant}: {said['error']}", file=sys.stderr)
            return False
        said |= {"peer": f"{runner.name}.{variant}", "workload": workload}
        rows.append(said | {"threads": threads, "malloc": malloc})
        return True

    for workload in [w for _, w in runners[0].lanes if chosen(w, only)]:
        here = workload, threads, malloc
        lanes = [
            (r, v)
            for r in runners
            for v, w in r.lanes
            if w == workload and takes_part(r, v, options)
        ]
        if workload in NETS:
            with tempfile.TemporaryDirectory() as folder:
                paths = {x: f"{folder}/{i}.npz" for i, x in enumerate(lanes)}
                lanes = [x for x in lanes if take_turn(workload, *x, 0.01, path=paths[x])]
                lanes = agreeing(workload, lanes, paths, rows)
        lanes = [x for x in lanes if take_turn(workload, *x, options.seconds)]
        lanes = [x for x in lanes if not hopeless(rows, here, x)]
        brief = any(t[0] < BRIEF for t in report.times(rows, *here).values())
        seconds = options.seconds * (BRIEF_TURN if brief else 1)
        for _ in range(1, options.rounds * (BRIEF_ROUNDS if brief else 1)):
            lanes = [x for x in lanes if take_turn(workload, *x, seconds)]
        for runner in runners:
            runner.ask("drop")
        report.print_line(rows, *here)
        keep(rows)
    for runner in runners:
        runner.close()
    return rows


def arguments():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--only", default="", help="groups or beginnings of names, with commas")
    a.add_argument("--threads", default="1,2", help="1, 2, or both (the default)")
    a.add_argument("--malloc", help="default (as it comes), pinned, or both; nets: default")
    a.add_argument("--peers", help="torch,jax,tf,ort,fdeep (nets: without jax); torch.eager")
    a.add_argument("--skip", default="", help="peers or variants to leave out: torch.compile")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--seconds", type=float, default=0.15, help="of each turn")
    a.add_argument(
        "--nets", action="store_true", help="the large nets, with results compared first"
    )
    a.add_argument("--check", action="store_true", help="compare results instead of times")
    a.add_argument("--out", default=str(ROOT / "build" / "peers"))
    a.add_argument("--venvs", default=os.environ.get("HORNGATE_PEERS", ROOT / "build/peers/venv"))
    a.add_argument("--python", default=sys.executable, help="one that has NumPy, for ours")
    a.add_argument("--write", action="store_true", help="docs/performance.md too, if all ran")
    a.add_argument("--add", action="store_true", help="to the rows of the last run")
    options = a.parse_args()
    if options.peers is None:
        options.peers = ",".join(p for p in PEERS if p != ("jax" if options.nets else "fdeep"))
    return options


def startup_table(options):
    """What startup.py found last, for the page."""
    path = Path(options.out) / "startup.json"
    if not path.exists():
        return ""
    found = json.loads(path.read_text())
    return f"\n## Start, calls, layouts\n\n{startup.table(found['ours'], found['peers'])}\n"


def memory_table(options):
    """What memory.py found last, for the page."""
    path = Path(options.out) / "memory.json"
    if not path.exists():
        return ""
    said = (
        "Megabytes at the peak of a training step above the imported library, without program "
        "files; two threads, a process per net."
    )
    return f"\n## Memory\n\n{said}\n\n{memory.table(json.loads(path.read_text()))}\n"


def nets_section(options):
    """What --nets found last, for the page."""
    path = Path(options.out) / "nets.json"
    return f"\n{nets_report.section(json.loads(path.read_text()))}" if path.exists() else ""


def describe_nets(options):
    """Writes what the layers are, for the peers."""
    environment = startup.environment_of("horngate", Path(options.out) / "keras")
    subprocess.run(
        [options.python, HERE / "applications.py", FOLDER],
        env={**os.environ, **environment, "KERAS_BACKEND": "horngate"},
        check=True,
    )


def main():
    options = arguments()
    only = [o for o in options.only.split(",") if o]
    if options.nets:
        describe_nets(options)
        only = [w for w in NETS if not only or any(w.startswith(o) for o in only)]
    if options.check:
        return check(options, [o for o in only], start, chosen)
    malloc_kinds = options.malloc or ("default" if options.nets else "default,pinned")
    results = Path(options.out) / ("nets.json" if options.nets else "results.json")
    rows = json.loads(results.read_text()) if options.add and results.exists() else []
    for threads in options.threads.split(","):
        for malloc in malloc_kinds.split(","):
            before = list(rows)
            rows = before + measure(
                int(threads),
                malloc,
                options,
                only,
                lambda new: results.write_text(json.dumps(before + new)),
            )
    print(nets_report.section(rows) if options.nets else report.text(rows))
    if options.write and options.nets and not options.only:
        nets_report.into_page(rows, ROOT / "docs" / "performance.md")
    elif options.write and not only:
        extra = startup_table(options) + memory_table(options) + nets_section(options)
        report.write(rows, ROOT / "docs", extra)


if __name__ == "__main__":
    sys.exit(main())
