"""What a user waits for before the work: python bench/compare/startup.py [--peers] [--json FILE]

From the start of a process to the first finished training step of the MLP (time, peak memory); the
CNN's training step at a batch size that it has not seen; a call of x + 1; channels first against last.
Needs the program bench_startup (cmake --build build --target bench_startup).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build" / "bin" / "bench_startup"
PEERS = {"torch": "eager", "jax": "jit", "tf": "graph"}
MARKS = {  # at most
    "python_start_s": 0.3,
    "python_rss_mb": 120,
    "cpp_start_s": 0.05,
    "cpp_rss_mb": 120,
    "specialise_ms": 20,
    "call_cpp_us": 1,
    "call_python_us": 4,
    "first_over_last": 1.1,
}


def process(command, environment):
    """Wall seconds, CPU seconds and peak megabytes of a process from start to end."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [str(c) for c in command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))}: failed with {child.returncode}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def shortest(command, environment, turns):
    """Of so many turns: least wall time, least CPU time, most memory."""
    found = [process(command, environment) for _ in range(turns)]
    return min(f[0] for f in found), min(f[1] for f in found), max(f[2] for f in found)


def one_step(runner, variant):
    """In a process of its own: builds mlp_sgd and takes one step."""
    code = f"import {runner}_runner, common; common.BUILDERS['{variant}', 'mlp_sgd']('{variant}')()"
    return ["-c", code]


def python_of(name, options):
    if name in ("horngate", "fdeep"):
        return options.python
    return Path(options.venvs) / name / "bin" / "python"


def environment_of(name, home):
    """Keras writes keras.json into a folder of its own; nobody reads another's."""
    own = str(ROOT / "build" / "python") if name == "horngate" else ""
    folder = Path(home) / name
    folder.mkdir(parents=True, exist_ok=True)
    return {"PYTHONPATH": f"{HERE}:{own}", "KERAS_HOME": str(folder)}


def specialise(turns=8):
    """Milliseconds that the CNN's training step needs more at a batch size that is new to it."""
    import data
    from common import BUILDERS

    import horngate_runner  # noqa: F401  (registers)

    batches = iter(range(100, 100 + turns))
    whole = data.net_data("cnn_adam")
    size = [128]
    kept, data.net_data = data.net_data, lambda name: [a[: size[0]] for a in whole]
    horngate_runner.net_data = data.net_data
    feeds = []
    append_feeds(horngate_runner, feeds)
    BUILDERS["cpu", "cnn_adam"]("cpu")()
    data.net_data = kept
    function = feeds[0]
    more = []
    for n in batches:
        arrays = [a[:n] for a in whole]
        times = []
        for _ in range(4):
            t = time.process_time()
            function(arrays)
            times.append(time.process_time() - t)
        more.append((times[0] - min(times[1:])) * 1e3)
    return statistics.median(more)


def append_feeds(runner, feeds):
    """Notes the functions that the runner makes."""
    make = runner.K.function

    def noted(*a, **k):
        feeds.append(make(*a, **k))
        return feeds[-1]

    runner.K.function = noted


def call_and_layouts():
    """Microseconds of a call, and the time of channels first over that of channels last."""
    from common import BUILDERS, measure

    import horngate_runner  # noqa: F401

    def least(name, seconds):
        run = BUILDERS["cpu", name]("cpu")
        run()
        key = "min_us" if name.startswith("call") else "cpu_min_us"
        return min(measure(run, seconds)[key] for _ in range(3))

    call = least("call_add1", 0.3)
    return call, least("conv3x3_nchw", 0.5) / least("conv3x3_nhwc", 0.5)


def ours(turns, home):
    environment = environment_of("horngate", home)
    found = {}
    wall, cpu, rss = shortest([sys.executable, *one_step("horngate", "cpu")], environment, turns)
    found |= {"python_start_s": wall, "python_cpu_s": cpu, "python_rss_mb": rss}
    wall, cpu, rss = shortest([PROGRAM, "step"], environment, turns)
    found |= {"cpp_start_s": wall, "cpp_cpu_s": cpu, "cpp_rss_mb": rss}
    said = subprocess.run([PROGRAM, "call"], env={**os.environ, **environment}, capture_output=True)
    found["call_cpp_us"] = float(said.stdout)
    found["specialise_ms"] = specialise()
    found["call_python_us"], found["first_over_last"] = call_and_layouts()
    return found


def table(found, peers):
    lines = ["| what | ours | mark |", "|---|---|---|"]
    for key, value in found.items():
        mark = MARKS.get(key)
        said = "" if mark is None else f"{mark:g}: {'reached' if value <= mark else 'MISSED'}"
        lines.append(f"| {key} | {value:.3g} | {said} |")
    if peers:
        lines += [
            "",
            "| process start to first MLP step | wall s | CPU s | peak MB |",
            "|---" * 4 + "|",
        ]
        mine = [found[k] for k in ("python_start_s", "python_cpu_s", "python_rss_mb")]
        for name, values in {"horngate": mine, **peers}.items():
            lines.append(f"| {name} | " + " | ".join(f"{v:.3g}" for v in values) + " |")
    return "\n".join(lines)


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--peers", action="store_true", help="how long the peers take, too")
    a.add_argument("--venvs", default=os.environ.get("HORNGATE_PEERS", ROOT / "build/peers/venv"))
    a.add_argument("--turns", type=int, default=7)
    a.add_argument("--out", default=str(ROOT / "build" / "peers"))
    options = a.parse_args()
    home = Path(options.out) / "keras"
    os.environ.update(environment_of("horngate", home))
    os.environ.update(PEER_THREADS="1", HORNGATE_NO_CONFIG_WRITE="1")
    sys.path.insert(0, str(ROOT / "build" / "python"))
    found = ours(options.turns, home)
    peers = {}
    for name, variant in PEERS.items() if options.peers else ():
        step = [python_of(name, options), *one_step(name, variant)]
        peers[name] = shortest(step, environment_of(name, home), 3)
    (Path(options.out) / "startup.json").write_text(json.dumps({"ours": found, "peers": peers}))
    print(table(found, peers))


if __name__ == "__main__":
    main()
