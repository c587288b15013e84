"""What all runners share: timing, and the protocol that compare.py speaks.

A runner registers a builder per workload and variant:

    @workload("name", "variant")
    def _(variant): ...; return run     # run() does one call, waits for it and returns the result

`python X_runner.py` lists what it has. With --serve it answers lines of JSON on standard input, one
line each: {"cmd": "time" | "value" | "drop" | "quit", "workload": w, "variant": v, ...}.
"""

import gc
import json
import os
import resource
import sys
import time
import traceback

STARTED = time.time()
THREADS = int(os.environ.get("PEER_THREADS", len(os.sched_getaffinity(0))))
CPUS = os.sched_getaffinity(0)
LEAST = 100e-6  # seconds; shorter calls are timed in groups, so that the clocks cost nothing
if THREADS < len(CPUS):  # libraries size their pools by the CPUs that they see
    os.sched_setaffinity(0, sorted(CPUS)[-THREADS:])
for _name in ("HORNGATE", "OMP", "MKL", "OPENBLAS"):
    os.environ[f"{_name}_NUM_THREADS"] = str(THREADS)

import numpy as np  # noqa: E402  (its pool too)

BUILDERS = {}  # (variant, workload) -> builder


def unpin():
    """Once the pools exist, the scheduler may place their threads anywhere."""
    for task in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(task), CPUS)
        except OSError:
            pass  # ended meanwhile


def workload(name, *variants):
    def register(builder):
        for variant in variants:
            BUILDERS[(variant, name)] = builder
        return builder

    return register


# ---- timing --------------------------------------------------------------------------------------


def machine_seconds():
    """CPU seconds used by the whole machine, and by this process."""
    with open("/proc/stat") as f:
        v = [int(x) for x in f.readline().split()[1:9]]
    busy = (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / os.sysconf("SC_CLK_TCK")
    t = os.times()
    return busy, t.user + t.system + t.children_user + t.children_system


def measure(run, seconds=0.3, least_calls=3):
    """Calls run for about so many seconds: times of a call in microseconds.

    wall is what a user waits; cpu is how long our threads ran, which with one thread is the wall time
    of an idle machine. foreign: CPUs that others used meanwhile. faults: page faults per call."""
    clock, cpu_clock = time.perf_counter, time.process_time
    t = clock()
    run()
    group = max(1, int(LEAST / max(clock() - t, 1e-7)))
    busy, own = machine_seconds()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = clock()
    wall, cpu = [], []
    while clock() < start + seconds or (len(wall) < least_calls and clock() < start + 12 * seconds):
        c, t = cpu_clock(), clock()
        for _ in range(group):
            run()
        t, c = clock() - t, cpu_clock() - c
        wall.append(t / group * 1e6)
        cpu.append(c / group * 1e6)
    spent = clock() - start
    busy_after, own_after = machine_seconds()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    wall.sort()
    cpu.sort()
    middle = cpu[len(cpu) // 2]
    return {
        "calls": len(wall) * group,
        "median_us": wall[len(wall) // 2],
        "min_us": wall[0],
        "cpu_median_us": middle,
        "cpu_min_us": min(c for c in cpu if c >= middle / 2),  # the clock errs at times
        "faults": round(faults / (len(wall) * group), 1),
        "foreign": round(max(0.0, (busy_after - busy - own_after + own) / spent), 3),
    }


# ---- the protocol --------------------------------------------------------------------------------


def flatten(result):
    """The arrays of a result, in order."""
    if isinstance(result, dict):
        return flatten([result[k] for k in result])
    if isinstance(result, (list, tuple)):
        return [a for r in result for a in flatten(r)]
    if result is None:
        return []
    if hasattr(result, "detach"):
        result = result.detach()
    return [np.asarray(result)]


def answer(command, built):
    """built: what was built since the last drop; building anew in each turn would take the time."""
    key = (command["variant"], command["workload"])
    said = {"workload": key[1], "variant": key[0]}
    if command["cmd"] == "value" or key not in built:
        gc.collect()
        t = time.perf_counter()
        run = BUILDERS[key](key[0])
        said["build_s"] = round(time.perf_counter() - t, 4)
        t = time.perf_counter()
        result = run()
        said["first_s"] = round(time.perf_counter() - t, 4)
        if command["cmd"] == "value":
            for _ in range(command.get("calls", 3) - 1):
                result = run()
            np.savez(command["path"], *flatten(result))
            return said
        again = run()
        if "path" in command:  # of two calls, since training goes on
            np.savez(command["path"], *flatten(result), *flatten(again))
        del result, again
        built[key] = run
    said.update(measure(built[key], command.get("seconds", 0.3)))
    return said


def serve():
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print goes to standard error
    built = {}

    def say(o):
        out.write(json.dumps(o) + "\n")

    say({"ready": list(BUILDERS), "import_s": round(time.time() - STARTED, 3)})
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "quit":
            break
        if command["cmd"] == "drop":
            built.clear()
            gc.collect()
            say({"ok": 1})
            continue
        try:
            said = answer(command, built)
        except Exception as e:
            built.clear()
            traceback.print_exc()
            said = {"error": f"{type(e).__name__}: {e}"[:300]}
        say(said)


def main():
    unpin()
    if "--serve" in sys.argv:
        serve()
    else:
        for variant, name in BUILDERS:
            print(variant, name)
