#!/usr/bin/env python3
"""Runs the rows of docs/reliability.md and writes the page: tools/reliability.py [--list] [row ...]

Without rows all of them run, which takes hours. What a row printed, when and on which commit is kept in
docs/reliability.json; rows that do not run keep what stands there. Ends with 1 when a row that ran is below its bar.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import engine_names

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "docs" / "reliability.json", ROOT / "docs" / "reliability.md"
OUTPUT = ROOT / "build" / "reliability"  # all that rows print
PYTHON = str(ROOT / ".venv" / "bin" / "python")
ENGINES = engine_names.installable()


@dataclass
class Row:
    name: str
    test: str
    bar: str
    commands: list
    environment: dict = field(default_factory=dict)


def script(name, *arguments):
    return [PYTHON, f"tests/reliability/{name}.py", *arguments]


def program(name, *arguments):
    return [f"build/bin/reliability_{name}", *arguments]


def fuzz(engine, seeds):
    return [
        PYTHON,
        "-m",
        "fuzz",
        "--engine",
        engine,
        "--seeds",
        seeds,
        "--jobs",
        "2",
        "--most",
        "20",
    ]


def pytest(*arguments):
    return [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]


ROWS = [
    Row(
        "fuzz",
        "whole graphs fuzzed on native",
        "100,000, nothing unexplained",
        [fuzz("native", "1-100000")],
    ),
    *[
        Row(f"fuzz_{e}", f"the same on {e}", "2,000, nothing unexplained", [fuzz(e, "1-2000")])
        for e in ENGINES
    ],
    Row(
        "mutations",
        "planted faults that tests and a minute of fuzzing catch",
        "95 % of 200",
        [[PYTHON, "tools/mutate.py", "--again"]],
    ),
    Row(
        "metamorphic",
        "channels_first = transposed channels_last, unrolled = loop, batch = stack of singles, old spelling = new",
        "5,000, 0 differ",
        [script("metamorphic", "--draws", "5000")],
    ),
    Row(
        "nests",
        "loops, branches and gradients inside of each other, fixed and open sizes, beside NumPy",
        "20,000, 0 differ",
        [script("nests", "--count", "20000")],
    ),
    Row(
        "largest",
        "gradients of maxima over values that plans compute in several places, float16 to float64, alone and in loops",
        "20,000, 0 lost",
        [script("largest", "--count", "20000")],
    ),
    Row(
        "without",
        "all cases on native with each pass left out (HORNGATE_WITHOUT), and without all of them",
        "all pass",
        [script("without_passes")],
    ),
    Row(
        "gradients",
        "gradients of every function, first and second order, float64",
        "1e-6, 1e-4",
        [script("all_gradients", "--draws", "10")],
    ),
    Row(
        "special_values",
        "NaN, infinities, -0, subnormal numbers in every element-wise function and reduction, each SIMD level",
        "100 %, differences listed with their reason",
        [pytest("tests/python/test_special_values.py")],
    ),
    Row(
        "asan",
        "address and undefined sanitizers: all C++ tests",
        "0 reports",
        [["tools/sanitize.sh", "asan", "2"]],
    ),
    Row(
        "asan_fuzz",
        "address and undefined sanitizers: ten minutes of fuzzing",
        "0 reports",
        [["tools/sanitize.sh", "fuzz", "2"]],
    ),
    Row(
        "tsan",
        "thread sanitizer: all C++ tests but those of plug-ins and of forks, which it cannot follow",
        "0 reports",
        [["tools/sanitize.sh", "tsan", "2"]],
    ),
    Row(
        "concurrent",
        "8 threads x 100,000 calls with setters, builders, clear_session and forks between",
        "0 wrong, 0 hang",
        [program("concurrent_calls", "--threads", "8", "--calls", "100000")],
    ),
    Row(
        "out_of_memory",
        "each allocation, mapping and thread refused once, but for those of oneDNN, OpenBLAS and libgomp, which would end the process",
        "an exception each, nothing lost, state as before",
        [program("out_of_memory")],
    ),
    Row(
        "sigkill",
        "SIGKILL while a Keras model is saved; a full disk",
        "200, 0 lost, mode kept, no litter after the next save",
        [script("sigkill_save", "--kills", "200"), pytest("tests/python/test_safe_save.py")],
    ),
    Row(
        "sigkill_models",
        "SIGKILL while a C++ program saves a model",
        "200, 0 lost, none half-written, no litter",
        [script("sigkill_models", "--kills", "200")],
    ),
    Row(
        "fuzz_files",
        "readers of HDF5, safetensors and JSON on damaged files, address and undefined sanitizers",
        "2 CPU-hours, nothing found",
        [["tools/fuzz_files.sh", "3600", "2"]],
    ),
    Row(
        "applications",
        "architectures of keras.applications, saved by Keras, loaded and run in C++",
        "18 of 18, 1e-5",
        [pytest("tests/python/test_keras_applications.py")],
        {"HORNGATE_TEST_ALL": "1"},
    ),
    Row(
        "ctrl_c",
        "Ctrl-C in a long call",
        "100, at most 0.2 s past the running kernel, variables unchanged",
        [script("ctrl_c", "--times", "100")],
    ),
    Row(
        "large_graphs",
        "a chain of 1,000,000 with its gradient, first call, freed; 300,000 nodes with 2,000 variables",
        "10 s and 1.5 GB; first call 5 s",
        [program("large_graphs")],
    ),
    Row(
        "memory",
        "10,000 x (build, step, predict, clear_session); 20,000 batch sizes; 20,000 odd output sizes",
        "flat after warm-up",
        [program("memory", "--rounds", "10000", "--sizes", "20000")],
    ),
    Row(
        "fork",
        "fork under load, pools of processes, spawn; fork during the first calls of a process",
        "1,000, 0 hang",
        [script("fork_under_load", "--forks", "1000"), script("fork_at_start", "--runs", "1000")],
    ),
    Row(
        "hostile",
        "malformed keras.json, environment, plug-ins",
        "60 kinds, a clear error each, file untouched",
        [pytest("tests/python/test_hostile_config.py", "tests/python/test_hostile_plugins.py")],
    ),
    Row(
        "integers",
        "huge, negative and odd integers for every integer argument",
        "20,000, clean exceptions alone",
        [script("integer_fuzz", "--calls", "20000")],
    ),
    Row(
        "determinism",
        "training with one seed on 1, 2 and 7 threads",
        "100 runs, same bits",
        [program("determinism", "--runs", "100")],
    ),
    Row(
        "coverage",
        "lines and branches of the library that tests reach",
        "90 %, 80 %",
        [["tools/coverage.sh"]],
    ),
]


def environment_of(row):
    own = {
        "KERAS_HOME": str(ROOT / "build" / "keras"),
        "HORNGATE_NO_CONFIG_WRITE": "1",
        "HORNGATE_QUIET": "1",
        "PYTHONPATH": str(ROOT / "tests"),
    }
    taken = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    return {**taken, **own, **row.environment}


# What a program says beside its figures, and parts of what it says in sum.
UNTOLD = re.compile(
    r"ok|passed|fits|test|soak|first|seconds|bar_\w+|pieces|(build|gradients|function|second_call|free|many|few|all)_\w+"
    r"|first_call_(cpu_s|peak_mb)"
)


def told(value):
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return "(" + ", ".join(f"{k} {told(v)}" for k, v in value.items()) + ")"
    return f"{value:,}" if isinstance(value, int) else str(value)


def figures_of(text):
    """What a program says about itself: JSON lines, or the last line of pytest or the fuzzer."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            said = json.loads(line)
            found.append(
                ", ".join(f"{k} {told(v)}" for k, v in said.items() if not UNTOLD.fullmatch(k))
            )
    if found:
        return found
    for line in reversed(text.splitlines()):
        if match := re.search(
            r"(?:fuzz|mutate): (\d+ (?:graphs|of) .*)|(\d+ passed.*) in |\[\s+PASSED\s+\] (\d+ tests)",
            line,
        ):
            return [next(g for g in match.groups() if g)]
    return []


def run(row):
    began, said, ok, built_from = time.time(), [], True, commit()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for number, command in enumerate(row.commands):
        print(f"== {row.name}: {' '.join(command)}", flush=True)
        whole = OUTPUT / f"{row.name}{number or ''}.txt"
        with whole.open("w") as file:
            done = subprocess.run(
                command, cwd=ROOT, env=environment_of(row), stdout=file, stderr=subprocess.STDOUT
            )
        text = whole.read_text(errors="replace")
        ok &= done.returncode == 0
        print(text[-4000:], flush=True)
        said += figures_of(text) or [f"ended with status {done.returncode}"]
    return {
        "ok": ok,
        "figures": said,
        "when": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M"),
        "seconds": round(time.time() - began),
        "commit": built_from,
        "machine": machine(),
    }


def commit():
    """With a mark when something but the results has changed since."""

    def git(*words):
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()

    changed = git("status", "--porcelain", "--", ".", ":!docs/reliability.*", ":!docs/mutations.md")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def machine():
    cpus = [
        line.split(":")[1].strip()
        for line in open("/proc/cpuinfo")
        if line.startswith("model name")
    ]
    return f"{len(cpus)} x {cpus[0] if cpus else platform.processor()}"


def page(results):
    lines = [
        "# Reliability",
        "",
        "Written by `make reliability`. Each row says what ran, how long, when and on which commit; `make reliability ROWS=fork`",
        "runs one of them again. What is promised and what is not: [SECURITY.md](../SECURITY.md).",
        "",
        "| | test | bar | seen | ran |",
        "|---|---|---|---|---|",
    ]
    for row in ROWS:
        result = results.get(row.name)
        if result is None:
            lines.append(f"| not run | {row.test} | {row.bar} | | |")
            continue
        mark = "met" if result["ok"] else "**missed**"
        seen = "<br>".join(result["figures"])
        lines.append(
            f"| {mark} | {row.test} | {row.bar} | {seen} | {result['when']}, {result['seconds']:,} s, `{result['commit']}` |"
        )
    machines = sorted({r["machine"] for r in results.values()})
    lines += ["", f"Machines: {'; '.join(machines)}." if machines else "", "", "Commands:", ""]
    lines += [f"- {row.name}: " + ", ".join(f"`{shown(c)}`" for c in row.commands) for row in ROWS]
    return "\n".join(lines) + "\n"


def shown(command):
    return " ".join(command).replace(str(ROOT) + "/", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="names of the rows")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{row.name:15} {row.test}" for row in ROWS))
        return 0
    unknown = set(options.rows) - {row.name for row in ROWS}
    if unknown:
        parser.error(f"there is no row {', '.join(sorted(unknown))}; --list shows them")
    ok = True
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        result = run(row)
        ok &= result["ok"]
        # Another run may have added its rows meanwhile.
        results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        results = {r.name: results[r.name] for r in ROWS if r.name in results} | {row.name: result}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        PAGE.write_text(page(results))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
