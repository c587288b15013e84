"""What hunts of random programs share: a count, a seed, one JSON line, and the numbers that bring a fault back."""

import argparse
import json
import random
import time


def run(fault_of, count, seed, only=None):
    """fault_of(seed, index) gives None, or what is wrong."""
    faults, began = [], time.monotonic()
    for index in range(count) if only is None else [only]:
        try:
            fault = fault_of(seed, index)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        if fault:
            faults.append(f"--seed {seed} --only {index}: {fault}")
    seconds = round(time.monotonic() - began, 1)
    return {
        "seed": seed,
        "programs": count,
        "faults": faults[:5],
        "failures": len(faults),
        "seconds": seconds,
    }


def main(description, hunt):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--only", type=int)
    o = parser.parse_args()
    figures = hunt(o.count, o.seed, o.only)
    for fault in figures.pop("faults"):
        print(fault)
    print(json.dumps({**figures, "ok": not figures["failures"]}))
    return 1 if figures["failures"] else 0
