#!/usr/bin/env python3
"""All cases on native with each pass left out, and with none of them: an optimisation must not be what makes a result right.

Ends with 1 when a case fails. `--only views,jit`: those alone.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import bisect_passes


def run(without, jobs):
    environment = dict(os.environ, HORNGATE_WITHOUT=without, HORNGATE_TEST_ENGINES="native")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(jobs), "tests/cases"]
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    counted = {
        word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|errors?)", done.stdout)
    }
    print(f"without {without}: {done.stdout.splitlines()[-1]}", flush=True)
    if done.returncode:
        print(done.stdout[-4000:], flush=True)
    return counted.get("passed", 0), done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of passes, with commas")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    names = options.only.split(",") if options.only else bisect_passes.passes()
    ways = names if options.only else [*names, ",".join(names)]
    results = [run(way, options.jobs) for way in ways]
    failed = [way for way, (_, ok) in zip(ways, results) if not ok]
    said = {"passes": len(names), "runs": len(ways), "cases passed": sum(n for n, _ in results)}
    print(json.dumps({**said, "runs with failures": len(failed)}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
