"""python -m fuzz: hunts for some time or over some seeds, prints what it finds as small programs."""

import argparse
import json
import multiprocessing
import os
import secrets
import sys
import time
from pathlib import Path

from fuzz import hunt, reduce, source


def arguments():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long (default 600 without --seeds)")
    parser.add_argument("--seeds", help="first-last, or a list: 1,5,9")
    parser.add_argument("--engine", default="native")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--only", help="beside the default, only configurations with this in the name")
    parser.add_argument("--most", type=int, default=5, help="findings after which to end")
    parser.add_argument("--keep", help="folder for the reduced programs")
    parser.add_argument("--ignore", action="append", default=[], help="text of findings to pass over")
    parser.add_argument("--no-reduce", action="store_true")
    return parser.parse_args()


def seeds_of(text):
    if "-" in text.lstrip("-"):
        first, last = text.split("-")
        return range(int(first), int(last) + 1)
    return [int(s) for s in text.split(",")]


def job(options, seeds, number, queue):
    hunter = hunt.Hunt(options.engine, seed=secrets.randbits(32), only=options.only)
    for seed in seeds:
        finding = hunter.one(seed)
        if finding is None:
            if hunter.counts["graphs"] % 50 == 0:
                queue.put(("count", dict(hunter.counts), number))
            continue
        if any(text in str(finding["fault"]) for text in options.ignore):
            continue
        if not options.no_reduce:
            finding = reduce.smallest(finding, seconds=60)
        queue.put(("finding", finding, number))
    hunter.stop()
    queue.put(("end", dict(hunter.counts), number))


def text_of(finding):
    try:
        place = {"environment": finding["environment"], "place": finding["fault"]}
        return source.standalone(finding["program"], place)
    except Exception as error:  # noqa: BLE001: the finding counts more than its looks
        lines = source.graph(finding["program"], literal=True)
        return "\n".join([f"# {type(error).__name__}: {error}", *lines])


def report(finding):
    program, fault = finding["program"], finding["fault"]
    environment = " ".join(f"{k}={v}" for k, v in finding["environment"].items())
    lines = [
        f"== seed {program['seed']}, configuration {finding['configuration']}: {environment}",
        f"   {fault}",
        text_of(finding),
    ]
    return "\n".join(lines)


def main():
    options = arguments()
    first = secrets.randbelow(2**40)
    if options.seeds:
        chosen = seeds_of(options.seeds)
        parts = [chosen[i :: options.jobs] for i in range(options.jobs)]
        print(f"fuzz: {len(chosen)} seeds on {options.engine}", flush=True)
    else:
        seconds = options.seconds or 600
        parts = [hunt.seeds_until(seconds, first + i, options.jobs) for i in range(options.jobs)]
        print(f"fuzz: {seconds:g} s on {options.engine}, first seed {first}", flush=True)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    began = told = time.monotonic()
    processes = [
        context.Process(target=job, args=(options, parts[i], i, queue), daemon=False)
        for i in range(options.jobs)
    ]
    for process in processes:
        process.start()
    counts, findings, running = {}, 0, len(processes)
    while running:
        kind, thing, number = queue.get()
        if kind == "finding":
            findings += 1
            print(report(thing), flush=True)
            if options.keep:
                path = Path(options.keep) / f"{thing['program']['seed']}.json"
                path.write_text(json.dumps(thing["program"], indent=1))
            if findings >= options.most:
                break
        else:
            counts[number] = thing
            running -= kind == "end"
            if time.monotonic() - told > 60:
                told = time.monotonic()
                total = sum(c["graphs"] for c in counts.values())
                print(f"fuzz: {total} graphs after {told - began:.0f} s", flush=True)
    for process in processes:
        if running:
            process.terminate()
        process.join()
    seconds = time.monotonic() - began
    total = sum(c["graphs"] for c in counts.values())
    print(
        f"fuzz: {total} graphs in {seconds:.0f} s ({total / seconds:.1f} per second), "
        f"{sum(c['refused'] for c in counts.values())} refused, {findings} findings"
    )
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
