"""Runs the contenders one after the other and draws the bars."""

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys

from horngate import _horngate as _hg
from horngate._bench.cases import CASES

# What each is imported as; who is not installed does not take part.
CONTENDERS = {
    "horngate": "horngate",
    "numpy": "numpy",
    "torch": "torch",
    "jax": "jax",
    "tensorflow": "tensorflow",
}
START = 4.0  # seconds that a contender may take to start, when time is shared out
THREAD_VARIABLES = (
    "HORNGATE_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def parsed(arguments):
    parser = argparse.ArgumentParser(
        prog="horngate bench",
        description="Times a few computations beside what else is installed; longer bars are faster.",
    )
    parser.add_argument("--json", action="store_true", help="figures for programs")
    parser.add_argument("--only", nargs="+", choices=CASES, metavar="CASE", help="only these cases")
    parser.add_argument(
        "--seconds", type=float, default=60, help="about how long it may take in all (default 60)"
    )
    parser.add_argument("--list", action="store_true", help="the cases and contenders, and no more")
    parser.add_argument("--limits", help=argparse.SUPPRESS)  # what the command measured
    return parser.parse_args(arguments)


def installed():
    return [name for name, module in CONTENDERS.items() if importlib.util.find_spec(module)]


def time_contender(name, threads, seconds, cases):
    """{case: {seconds, check}}, and why not if it fails."""
    env = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    env.update(HORNGATE_QUIET="1", KERAS_BACKEND="native")
    words = [sys.executable, "-m", "horngate._bench.worker", name, str(threads), str(seconds)]
    done = subprocess.run([*words, *cases], capture_output=True, text=True, env=env)
    if done.returncode:
        return {}, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return json.loads(done.stdout.splitlines()[-1]), None


def bar(share, width, blocks):
    """A bar of some of the width, in eighths of a letter where the terminal has them."""
    eighths = max(1, round(share * width * 8))
    if not blocks:
        return "#" * max(1, eighths // 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def time_text(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            return f"{seconds / size:.3g} {unit}"


def draw(case, times, out):
    """The bars of a case: the longest is the fastest."""
    blocks = "utf" in (out.encoding or "").lower()
    width = min(40, max(10, shutil.get_terminal_size().columns - 40))
    print(f"\n{case.title}", file=out)
    best = min(t["seconds"] for t in times.values())
    for name, t in times.items():
        row = f"  {name:<11}{bar(best / t['seconds'], width, blocks):<{width}} {time_text(t['seconds']):>8}"
        if case.flops:
            row += f"  {case.flops / t['seconds'] * 1e-9:6.1f} GFLOP/s"
        if t["differs"]:
            row += "  (its numbers differ)"
        print(row, file=out)


def main(arguments):
    options = parsed(arguments)
    cases, names = options.only or list(CASES), installed()
    if options.list:
        print("cases:", *CASES)
        print("installed:", *names)
        return 0
    limits = _hg.cpu_limits()
    threads = limits["threads"]
    seconds = max(0.02, (options.seconds / len(names) - START) / len(cases))
    results, failures = {}, {}
    show = sys.stderr if options.json else sys.stdout
    if options.limits and not options.json:
        flops, bandwidth = map(float, options.limits.split(","))
        print(
            f"{threads} thread{'s' * (threads != 1)}: at most {flops * 1e-9:.0f} GFLOP/s in registers,"
            f" {bandwidth * 1e-9:.1f} GB/s copied. Fastest call of each; longer bars are faster.",
            flush=True,
        )
    for name in names:
        if show.isatty():
            print(f"\r{name} .. \033[K", end="", file=show, flush=True)
        results[name], why = time_contender(name, threads, seconds, cases)
        if why:
            failures[name] = why
    if show.isatty():
        print("\r\033[K", end="", file=show)
    rows = {}
    for case in cases:
        times = {n: dict(results[n][case]) for n in names if case in results[n]}
        wanted = (times.get("numpy") or times.get("horngate") or {"check": 0})["check"]
        for t in times.values():
            t["differs"] = abs(t.pop("check") - wanted) > 1e-3 * abs(wanted)
        rows[case] = times
        if times and not options.json:
            draw(CASES[case], times, sys.stdout)
    for name, why in failures.items():
        print(f"\n{name} could not run: {why}", file=sys.stderr)
    if options.json:
        json.dump({"threads": threads, "cases": rows, "failed": failures}, sys.stdout, indent=1)
        print()
    return 1 if "horngate" in failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
