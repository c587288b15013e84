"""Our time next to NumPy's and each installed peer's, and next to the libraries underneath.

    python bench/run.py [--threads N] [--rounds N] [--seconds S] [--wall]
                        [--keep-memory] [--only NAME ...] [--without NAME ...]

Prints every measurement, then one line of ratios per workload, then the marks we set ourselves,
each with PASS or FAIL. A missed mark is not an error. bench/README.md says how to read it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import peers

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "build" / "bin" / "bench_core"
CALL_MARK = 6.0  # us, one element from Python
# glibc gives large blocks back to the system and gets them again, page by page, in the next call.
KEEP_MEMORY = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(1 << 28),
}
ROW = "{:<14} {:<36} {:>12} {:>12} {:>14}"


class Worker:
    """A contender's process. `problem` says why it cannot be asked."""

    def __init__(self, name, options):
        self.name, self.problem = name, None
        self.process = subprocess.Popen(
            [sys.executable, peers.__file__, name, str(options.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Why a peer cannot be imported is not our business; why we cannot, is.
            stderr=None if name == "horngate" else subprocess.DEVNULL,
            env={**os.environ, **(KEEP_MEMORY if options.keep_memory else {})},
            text=True,
        )
        self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.problem = "its process ended"
            return {"error": self.problem}
        return json.loads(line)

    def ask(self, **command):
        if self.problem:
            return {"error": self.problem}
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(workers, workload, options):
    """Samples by contender. They run in turn, so that a busy machine hurts all alike."""
    samples, checks = {}, {}
    for _ in range(options.rounds):
        for worker in workers:
            answer = worker.ask(workload=workload, seconds=options.seconds, clock=options.clock)
            if "error" in answer:
                if worker.name not in samples:
                    print(f"{workload:<14} {worker.name}: {answer['error']}")
                continue
            samples.setdefault(worker.name, []).extend(answer["samples"])
            if "check" in answer:
                checks[worker.name] = answer["check"]
    return samples, checks


def differing(checks):
    """Names of contenders whose result is not that of NumPy."""
    if "numpy" not in checks:
        return []
    total, size = checks["numpy"]
    near = [total, size]
    return [
        name
        for name, values in checks.items()
        if any(abs(v - n) > 1e-4 * size for v, n in zip(values, near))
    ]


def run_core(options):
    """Rows and marks of the C++ program."""
    if not CORE.exists():
        print(f"{CORE} is missing: `make bench` builds it. C++ rows are left out.")
        return [], []
    command = [str(CORE), "--json", "--threads", str(options.threads), *options.only]
    command += ["--seconds", str(options.rounds * options.seconds * 2)]
    command += ["--wall"] if options.wall else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        lines.append({"mark": f"bench_core ended with code {done.returncode}", "pass": False})
    return [x for x in lines if "who" in x], [x for x in lines if "mark" in x]


def print_rows(rows):
    """rows: (workload, who, min, median), ours first within a workload."""
    print(ROW.format("workload", "who", "min us", "median us", "min, ours = 1"))
    previous, ours = None, 1.0
    for workload, who, least, median in rows:
        if workload != previous:
            ours = least
        name = workload if workload != previous else ""
        print(ROW.format(name, who, f"{least:.2f}", f"{median:.2f}", f"{least / ours:.2f}"))
        previous = workload
    print()


def summary_table(names, core, python):
    """One line per workload; ratios above 1 mean that we are faster."""
    columns = ["workload", "C++ us", "Python us", "direct / C++", *names]
    rows = []
    for workload in peers.WORKLOADS:
        direct, mine = core.get(workload, []), python.get(workload, {})
        if not direct and not mine:
            continue
        ours = mine.get("horngate")
        row = [workload, f"{direct[0]:.2f}" if direct else "-", f"{ours:.2f}" if ours else "-"]
        row.append(f"{direct[1] / direct[0]:.2f}" if len(direct) > 1 else "-")
        for name in names:
            row.append(f"{mine[name] / ours:.2f}" if ours and name in mine else "-")
        rows.append(row)
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    print("Ratios of minima, theirs / ours: above 1 we are faster. Peers are compared in Python.")
    for row in [columns, *rows]:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells))
    print()


def mark(reached, text):
    print(f"{'PASS' if reached else 'FAIL'}  {text}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="for every contender; default 1")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=0.25, help="per contender and round")
    parser.add_argument("--wall", action="store_true", help="not CPU time for one thread")
    parser.add_argument(
        "--keep-memory", action="store_true", help="peers' freed memory stays with the process"
    )
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of workload names")
    parser.add_argument("--without", nargs="+", default=[], help="peers to leave out")
    options = parser.parse_args()
    # What others on the machine make us wait is no property of the call; see README.md.
    options.clock = "cpu" if options.threads == 1 and not options.wall else "wall"
    return options


def main():
    options = parse()
    load = os.getloadavg()[0]
    clock = {"cpu": "CPU time (calls under 2 ms: wall time)", "wall": "wall time"}[options.clock]
    print(
        f"Horngate benchmarks: float32, threads: {options.threads}, {clock}; "
        f"this machine has {os.cpu_count()} CPUs and a load of {load:.1f}.\n"
    )

    print("From C++, in turn with the libraries called directly:")
    rows, marks = run_core(options)
    print_rows([(r["workload"], r["who"], r["min_us"], r["median_us"]) for r in rows])
    core = {}
    for r in rows:
        core.setdefault(r["workload"], []).append(r["min_us"])

    workers = []
    for name in peers.available():
        if name not in options.without:
            worker = Worker(name, options)
            if worker.problem:
                print(f"{name}: cannot be imported; left out.")
            else:
                workers.append(worker)
    names = [w.name for w in workers if w.name != "horngate"]
    print("From Python, in turn with", ", ".join(names) + ":")
    python, rows, wrong = {}, [], []
    for workload in peers.WORKLOADS:
        if options.only and not workload.startswith(tuple(options.only)):
            continue
        samples, checks = measure(workers, workload, options)
        python[workload] = {name: min(s) * 1e6 for name, s in samples.items()}
        for name, s in samples.items():
            rows.append((workload, name, min(s) * 1e6, statistics.median(s) * 1e6))
        wrong += [(workload, name) for name in differing(checks)]
    for worker in workers:
        worker.close()
    print_rows(rows)
    summary_table(names, core, python)

    if options.clock == "wall" and load + options.threads > os.cpu_count() + 0.5:
        print("NOTE  the machine was busy: wall times, and marks that rest on them, mean little.")
    for m in marks:
        mark(m["pass"], m["mark"])
    ours = python.get("call_add1_np", {}).get("horngate")
    if ours:
        text = f"x + 1 on one element from Python in {ours:.2f} us (mark: < {CALL_MARK:.0f})"
        mark(ours < CALL_MARK, f"call_add1_np: {text}")
    for workload, name in wrong:
        mark(False, f"{workload}: the result of {name} is not that of numpy")


if __name__ == "__main__":
    main()
