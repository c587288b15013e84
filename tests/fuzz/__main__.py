"""python -m fuzz: hunts for some time or over some seeds, prints findings as small programs."""

import argparse
import json
import multiprocessing
import os
import secrets
import sys
import time
import traceback
from pathlib import Path
from queue import Empty

from fuzz import hunt, reduce, source
from fuzz.configurations import limit_memory
from fuzz.moods import MOODS


def arguments():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long (default 600 without --seeds)")
    parser.add_argument("--seeds", help="first-last, or a list: 1,5,9")
    parser.add_argument("--engine", default="native")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument(
        "--only", help="beside the default, only configurations with this in the name"
    )
    parser.add_argument("--mood", choices=list(MOODS), help="what all programs lean to")
    parser.add_argument("--most", type=int, default=5, help="findings after which to end")
    parser.add_argument("--keep", help="folder for the reduced programs")
    parser.add_argument(
        "--ignore", action="append", default=[], help="text of findings to pass over"
    )
    parser.add_argument("--slow", type=float, help="tell seeds that take longer, in seconds")
    parser.add_argument("--no-reduce", action="store_true")
    return parser.parse_args()


def seeds_of(text):
    if "-" in text.lstrip("-"):
        first, last = text.split("-")
        return range(int(first), int(last) + 1)
    return [int(s) for s in text.split(",")]


def job(options, seeds, number, queue):
    limit_memory(6 << 30)
    hunter = hunt.Hunt(
        options.engine, seed=secrets.randbits(32), only=options.only, mood=options.mood
    )
    for seed in seeds:
        began = time.monotonic()
        try:
            finding = hunter.one(seed)
            if finding and not any(text in str(finding["fault"]) for text in options.ignore):
                if not options.no_reduce:
                    finding = reduce.smallest(finding, seconds=60)
                queue.put(("finding", finding, number))
        except Exception:  # noqa: BLE001: a fault of the fuzzer itself, which must not stop the hunt
            queue.put(
                ("broken", f"seed {seed}: the fuzzer failed\n{traceback.format_exc()}", number)
            )
        if options.slow and time.monotonic() - began > options.slow:
            queue.put(("slow", f"seed {seed} took {time.monotonic() - began:.0f} s", number))
        if hunter.counts["graphs"] % 50 == 0:
            queue.put(("count", dict(hunter.counts), number))
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
    sys.exit(1 if hunted(options, parts) else 0)


def hunted(options, parts):
    """How many findings there were; prints them as they come."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [
        context.Process(target=job, args=(options, part, number, queue))
        for number, part in enumerate(parts)
    ]
    for process in processes:
        process.start()
    tally = Tally(options)
    while tally.ended < len(processes) and tally.findings < options.most:
        try:
            tally.take(*queue.get(timeout=5))
        except Empty:
            if not any(process.is_alive() for process in processes):
                tally.miss(processes)
                break
    for process in processes:
        if tally.ended < len(processes):
            process.terminate()
        process.join()
    tally.close()
    return tally.findings


class Tally:
    """What all jobs said so far."""

    def __init__(self, options):
        self.options, self.began = options, time.monotonic()
        self.told, self.counts = self.began, {}
        self.findings = self.ended = 0

    def take(self, kind, thing, number):
        if kind == "finding":
            self.findings += 1
            print(report(thing), flush=True)
            self.keep(thing["program"])
        elif kind == "slow":
            print(thing, flush=True)
        elif kind == "broken":
            self.findings += 1
            print(thing, flush=True)
        else:
            self.counts[number] = thing
            self.ended += kind == "end"
            if time.monotonic() - self.told > 60:
                self.told = time.monotonic()
                print(
                    f"fuzz: {self.total('graphs')} graphs after {self.told - self.began:.0f} s",
                    flush=True,
                )

    def miss(self, processes):
        """Jobs that ended before their seeds did: the system killed them, or they crashed."""
        for number, process in enumerate(processes):
            if process.exitcode != 0:
                self.findings += 1
                seen = self.counts.get(number, {"graphs": 0})["graphs"]
                print(
                    f"job {number} ended with status {process.exitcode}, after {seen} graphs or more",
                    flush=True,
                )

    def keep(self, program):
        if self.options.keep:
            path = Path(self.options.keep) / f"{program['seed']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(program, indent=1) + "\n")

    def total(self, what):
        return sum(c[what] for c in self.counts.values())

    def close(self):
        seconds = time.monotonic() - self.began
        print(
            f"fuzz: {self.total('graphs')} graphs in {seconds:.0f} s "
            f"({self.total('graphs') / seconds:.1f} per second), {self.total('refused')} refused, "
            f"{self.findings} findings"
        )


if __name__ == "__main__":
    main()
