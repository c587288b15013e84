"""Keras 2.3.1 on our module beside tf_keras on TensorFlow: training, memory, import.

    python bench/keras/run.py OUR_PYTHON THEIR_PYTHON [--threads N] [--rounds N] [--seconds S]
                              [--turns N] [--their-turns N] [--only train predict memory import]

`make bench-keras` makes the two environments and calls this. Both run in processes of their own, in
turn, a moment each, so that what else the machine does hurts both alike; ratios are of minima. With one
thread the CPU time of a call is given too, which a busy machine does not inflate.
"""

import argparse
import json
import os
import statistics
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NETS = ["mlp_sgd", "mlp_adam", "cnn_adam", "lstm_train"]
PARTS = ["train", "predict", "import", "memory"]
GROWTH_MARK = 2000  # bytes a turn
IMPORT_MARK = 1.0  # seconds


def environment(which):
    home = ROOT / "build" / "oracle" / f"home-bench-{which}"
    env = {**os.environ, "KERAS_HOME": str(home), "TF_CPP_MIN_LOG_LEVEL": "3"}
    env |= {"CUDA_VISIBLE_DEVICES": "", "HORNGATE_QUIET": "1"}
    env.pop("KERAS_BACKEND", None)
    if which == "ours":
        env["KERAS_BACKEND"] = "horngate"
        env["PYTHONPATH"] = os.environ.get("ORACLE_MODULE", str(ROOT / "build" / "python"))
    return env


class Worker:
    def __init__(self, which, python, threads):
        self.which = which
        self.process = subprocess.Popen(
            [python, HERE / "worker.py", which, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if which == "ours" else subprocess.DEVNULL,
            env=environment(which),
            text=True,
        )

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"bench-keras: the process of {self.which} ended.")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ms(seconds):
    return f"{seconds * 1e3:.3f}"


def measure(workers, kind, options):
    """A line per net: both minima and medians, and the ratio of minima."""
    print(f"\n{kind + '_on_batch, ms':<24}{'ours':>10}{'median':>10}{'theirs':>10}{'median':>10}")
    clocks = ("wall", "cpu") if options.threads == 1 else ("wall",)
    for net in NETS:
        samples = {(w.which, c): [] for w in workers for c in clocks}
        for _ in range(options.rounds):
            for worker in workers:
                made = worker.ask(**{kind: net, "seconds": options.seconds})
                for c in clocks:
                    samples[worker.which, c] += made[c]
        for c in clocks:
            ours, theirs = samples["ours", c], samples["theirs", c]
            numbers = [min(ours), statistics.median(ours), min(theirs), statistics.median(theirs)]
            ratio = numbers[2] / numbers[0]
            mark = "" if kind != "train" else ("  PASS" if ratio > 1 else "  FAIL")
            row = "".join(f"{ms(n):>10}" for n in numbers)
            print(f"{net + ', ' + c:<24}{row}   theirs / ours {ratio:5.2f}{mark}", flush=True)


IMPORT = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import {}
print(time.perf_counter() - wall, time.process_time() - cpu)
"""


def import_times(pythons):
    """In fresh processes; CPU time too, which a busy machine inflates less."""
    print("\nimport of Keras, s")
    for which, python in pythons.items():
        module = "keras" if which == "ours" else "tf_keras"
        wall, cpu = [], []
        for _ in range(5):
            run = [python, "-c", IMPORT.format(module)]
            done = subprocess.run(run, env=environment(which), capture_output=True, text=True)
            w, c = map(float, done.stdout.split()[-2:])
            wall.append(w)
            cpu.append(c)
        mark = "" if which != "ours" else ("  PASS" if min(wall) < IMPORT_MARK else "  FAIL")
        text = f"least {min(wall):.3f}, median {statistics.median(wall):.3f}; CPU {min(cpu):.3f}"
        print(f"{module:<12} {text}{mark}", flush=True)


def growth(pythons, options):
    """Memory that each turn of build, train, predict, clear_session leaves behind."""
    print("\nmemory: growth per turn of build, train, predict, clear_session")
    for which, turns in (("ours", options.turns), ("theirs", options.their_turns)):
        worker = Worker(which, pythons[which], options.threads)
        sizes = worker.ask(turns=turns)["rss"]
        worker.close()
        each = (sizes[-1] - sizes[0]) / max(1, len(sizes) - 1)
        mark = "" if which != "ours" else ("  PASS" if each < GROWTH_MARK else "  FAIL")
        # The first turns fill caches and the allocator's pools.
        start = len(sizes) // 4
        later = (sizes[-1] - sizes[start]) / max(1, len(sizes) - 1 - start)
        print(
            f"{which:<8} {turns} turns: {each:,.0f} bytes a turn, {later:,.0f} after the first quarter; "
            f"at the end {sizes[-1] / 1e6:.0f} MB{mark}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--their-turns", type=int, default=60)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    pythons = {"ours": options.ours, "theirs": options.theirs}
    load = os.getloadavg()[0]
    print(f"{options.threads} thread(s); the machine's load before: {load:.2f}")
    kinds = [k for k in ("train", "predict") if k in options.only]
    if kinds:
        workers = [Worker(which, python, options.threads) for which, python in pythons.items()]
        for kind in kinds:
            measure(workers, kind, options)
        for worker in workers:
            worker.close()
    if "import" in options.only:
        import_times(pythons)
    if "memory" in options.only:
        growth(pythons, options)


if __name__ == "__main__":
    main()
