#!/usr/bin/env python3
"""Forks while the threads of a fresh process make their first calls, where much is made once: fork_at_start.py [--runs 2000].

Prints a JSON line; ends with 1 when a child hung or was wrong.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "bin" / "reliability_concurrent_calls"
WORDS = ["--threads", "8", "--calls", "64", "--forks", "1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    hung = wrong = 0
    for _ in range(runs):
        try:
            # A run takes a tenth of a second; a child that hangs ends itself after a minute.
            done = subprocess.run(
                [PROGRAM, *WORDS],
                env={**os.environ, "HORNGATE_QUIET": "1"},
                stdout=subprocess.DEVNULL,
                timeout=30,
            )
            wrong += done.returncode != 0
        except subprocess.TimeoutExpired:
            hung += 1
    ok = not hung and not wrong
    print(json.dumps({"starts": runs, "hung": hung, "wrong": wrong, "ok": ok}))
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
