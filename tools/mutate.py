#!/usr/bin/env python3
"""Plants faults into a copy of the sources, one at a time, and looks whether the tests and a minute of
fuzzing see them. All faults are compiled into one build and sleep; the environment wakes one.

    tools/mutate.py                  builds, then tries every fault that has no result yet
    tools/mutate.py --again          tries every fault, whatever is known
    tools/mutate.py --only jit       those whose name or area contains it, again
    tools/mutate.py --escaped        those that got away, again
    tools/mutate.py --quick          only what is near: seconds of fuzzing, and the tests of the area
    tools/mutate.py --check          whether every fault still has its place in the sources
    tools/mutate.py --report         writes docs/mutations.md from the results
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mutate import faults, hunt, report, tree

RESULTS = tree.ROOT / "build" / "mutants" / "results.json"
LOGS = tree.ROOT / "build" / "mutants" / "logs"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--only", help="part of a name, or an area")
    parser.add_argument("--escaped", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--no-baseline", action="store_true", help="trust what has no fault")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def load():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def save(results):
    whole = RESULTS.with_suffix(".new")
    whole.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    os.replace(whole, RESULTS)


def check(chosen):
    """Every fault has its place."""
    by_file = {}
    for fault in chosen:
        by_file.setdefault(fault.file, []).append(fault)
    wrong = []
    for name, here in by_file.items():
        try:
            faults.plant(here, (tree.ROOT / name).read_text())
        except (faults.Rotten, OSError) as error:
            wrong.append(str(error))
    return wrong


def baseline(settings, quick):
    """Nothing may be seen where nothing is planted."""
    nothing = faults.Fault("baseline", "", "", "", "", "")
    for stage in hunt.stages(nothing, settings, quick):
        began = time.monotonic()
        how = hunt.run(stage.command, stage, 0, LOGS / "baseline.log")
        seconds = time.monotonic() - began
        print(f"without a fault: {stage.name} {how or 'passes'}, {seconds:.0f} s", flush=True)
        if how is not None:
            raise SystemExit(f"mutate: see {LOGS / 'baseline.log'}")


def key_of(fault):
    """A result is of a fault as it was written."""
    return [fault.file, fault.find, fault.replace]


def main():
    options = arguments()
    listed, areas = faults.all_faults(), faults.areas()
    wrong = check(listed)
    if wrong:
        raise SystemExit("\n".join(wrong))
    if options.check:
        print(f"mutate: {len(listed)} faults have their places")
        return 0
    results = {} if options.again else load()
    results = {f.id: results[f.id] for f in listed if results.get(f.id, {}).get("key") == key_of(f)}
    if not options.report:
        LOGS.mkdir(parents=True, exist_ok=True)
        if not options.no_build:
            tree.make(listed, options.jobs)
        if not options.no_baseline:
            baseline({}, options.quick)
        chosen = [f for f in listed if f.id not in results]
        if options.only:
            chosen = [f for f in listed if options.only in f.id or options.only == f.area]
        if options.escaped:
            chosen = [f for f in listed if f.id in results and not results[f.id]["caught"]]

        def one(fault):
            result = hunt.hunt(fault, areas[fault.area], LOGS, options.quick)
            results[fault.id] = {**result, "key": key_of(fault)}
            save(results)
            seen = f"{result['caught']} {result['how']}" if result["caught"] else "GOT AWAY"
            print(f"{fault.area} {fault.id}: {seen}, {result['seconds']:.0f} s", flush=True)

        # In no particular order, so that what a run that was cut short has tried is a fair sample.
        chosen.sort(key=lambda fault: fault.number)
        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(one, chosen))
    report.write(listed, results)
    caught = sum(1 for r in results.values() if r["caught"])
    print(f"mutate: {caught} of {len(results)} caught, {len(listed) - len(results)} not tried")
    unexplained = [
        f.id for f in listed if f.id in results and not results[f.id]["caught"] and not f.escape
    ]
    if unexplained:
        print(f"mutate: got away without a reason in tools/mutate/faults: {', '.join(unexplained)}")
    return 0 if len(results) >= 200 and caught >= 0.95 * len(results) and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main())
