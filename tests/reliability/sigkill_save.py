#!/usr/bin/env python3
"""Kills a process (SIGKILL) while it saves a Keras model, over and over: is the file always a whole model?

usage: sigkill_save.py [--kills 200] [--seed N] [--folder F]

Prints one line of figures as JSON and exits with 0 when nothing was lost, 1 otherwise.
"""

import argparse
import json
import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time

# For each request it starts a process that saves models whose weights all have one number: `first`, `first` + 1, ..
# in a tight loop. The number that is safe on the disk goes to standard output.
SERVER = """
import json, os, sys
import numpy as np
from keras import layers, models
model = models.Sequential([layers.Dense(64, input_shape=(128,)), layers.Dense(64)])
model.compile("adam", "mse")

def save(path, first, kind, count):
    for value in range(first, first + count):
        model.set_weights([np.full(w.shape, value, w.dtype) for w in model.get_weights()])
        if kind == "weights":
            model.save_weights(path)
        else:
            model.save(path)
        print(value, flush=True)

for line in sys.stdin:
    request = json.loads(line)
    pid = os.fork()
    if pid == 0:
        print("begin", os.getpid(), flush=True)
        save(*request)
        os._exit(0)
    os.waitpid(pid, 0)
    print("end", flush=True)
"""


def environment(**variables):
    known = {"KERAS_BACKEND": "horngate", "HORNGATE_NO_CONFIG_WRITE": "1", **variables}
    return {**os.environ, "KERAS_HOME": tempfile.gettempdir() + "/no-such-keras", **known}


def python(arguments, **options):
    """Runs Python with Keras on Horngate; names in capitals are environment variables."""
    variables = {name: options.pop(name) for name in [*options] if name.isupper()}
    return subprocess.run([sys.executable, *arguments], env=environment(**variables), **options)


def number_in(path):
    """The number of the model in the file; None when it is not one whole model."""
    import h5py

    values = set()

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and "optimizer" not in name:
            values.update(float(v) for v in item[()].flat)

    try:
        with h5py.File(path, "r") as file:
            file.visititems(visit)
    except OSError:
        return None
    return int(values.pop()) if len(values) == 1 else None


class Server:
    """The process that starts those that save."""

    def __init__(self):
        command = [sys.executable, "-c", SERVER]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(command, env=environment(), text=True, **pipes)

    def saves(self, path, first, kind, count, delay=None):
        """Has it save; kills it after `delay` seconds. Gives the last number that was said to be saved, or None."""
        print(json.dumps([path, first, kind, count]), file=self.process.stdin, flush=True)
        said = None
        for line in self.process.stdout:
            if line.startswith("begin") and delay is not None:
                time.sleep(delay)
                os.kill(int(line.split()[1]), signal.SIGKILL)
            elif line.startswith("end"):
                return said
            elif line.strip().isdigit():
                said = int(line)
        raise RuntimeError("the process that saves ended by itself")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def run(folder, kills, seed):
    """Figures of that many kills."""
    rng = random.Random(seed)
    path = os.path.join(folder, "model.h5")
    figures = {"test": "sigkill_save", "seed": seed, "done": 0, "saves": 0, "lost": 0, "old": 0}
    figures.update({"mode_changed": 0, "left_behind": 0, "left_after_next_save": 0})
    server = Server()
    server.saves(path, 1, "model", 1)  # after that it is ready
    start = time.perf_counter()
    server.saves(path, 2, "model", 4)
    at_most = time.perf_counter() - start  # a kill may come at any moment of the first four saves
    number = 6
    while figures["done"] < kills:
        kind = rng.choice(["model", "weights"])
        existed = os.path.exists(path)
        if existed:
            os.chmod(path, 0o640)
        said = server.saves(path, number, kind, 10**6, rng.uniform(0, at_most))
        figures["done"] += 1
        figures["saves"] += 0 if said is None else said - number + 1
        litter = [n for n in os.listdir(folder) if n != "model.h5"]
        figures["left_behind"] += bool(litter)
        found = number_in(path) if existed or os.path.exists(path) else 0
        if found is None:
            figures["lost"] += 1
        elif said is not None and found < said:
            figures["old"] += 1  # it said that a newer one was on the disk
        if existed and os.path.exists(path):
            figures["mode_changed"] += stat.S_IMODE(os.stat(path).st_mode) != 0o640
        number = max(number, said or 0, found or 0) + 1
        if rng.random() < 0.1 and os.path.exists(path):
            os.unlink(path)  # the next one makes a new file
    # The next save of the same file tidies up.
    server.saves(path, number, "model", 1)
    server.close()
    figures["left_after_next_save"] = len([n for n in os.listdir(folder) if n != "model.h5"])
    bad = ("lost", "old", "mode_changed", "left_after_next_save")
    figures["passed"] = number_in(path) == number and not any(figures[name] for name in bad)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--folder", help="where to save; a new folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        figures = run(folder, options.kills, options.seed)
    print(json.dumps(figures))
    return 0 if figures["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
