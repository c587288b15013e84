"""One contender in a process of its own: times the cases and prints them as JSON."""

import importlib
import json
import sys
import time

import numpy as np

from horngate._bench.cases import data


def fastest(run, seconds):
    """Seconds of the fastest call. Short ones are timed many at once."""
    run()
    begin = time.perf_counter()
    run()
    at_once = max(1, int(1e-3 / max(time.perf_counter() - begin, 1e-7)))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end or best == float("inf"):
        begin = time.perf_counter()
        for _ in range(at_once):
            run()
        best = min(best, (time.perf_counter() - begin) / at_once)
    return best


def main(name, threads, seconds, *cases):
    contender = importlib.import_module(f"horngate._bench.with_{name}")
    contender.threads(int(threads))
    found = {}
    for case in cases:
        if hasattr(contender, case):
            run = getattr(contender, case)(*data(case))
            first = np.asarray(run(), "float64")  # of a training step, the first loss
            found[case] = {
                "seconds": fastest(run, float(seconds)),
                "check": float(np.abs(first).mean()),
            }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
