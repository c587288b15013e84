#!/usr/bin/env python3
"""One program on every engine that is ready: start, memory, and the time of four kinds of calls, for docs/which_engine.md.

    .venv/bin/python bench/engines.py [--rounds 3] [--threads 1]

Each engine runs in a process of its own, several rounds in turn; the shortest time of all rounds counts. Start is CPU time
from the start of the process to the end of the first training step of the MLP; memory is the most that was used until then; both
count a process that the engine started.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import engine_names  # noqa: E402

ENGINES = ("native", *engine_names.installable())
COLUMNS = ("start CPU s", "MB", "call us", "mlp ms", "cnn ms", "lstm ms")


def shortest(f, feeds, seconds):
    """The shortest call of those that fit into the time, after some to warm up."""
    end = time.perf_counter() + seconds / 2
    while time.perf_counter() < end:
        f(feeds)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        f(feeds)
        best = min(best, time.perf_counter() - began)
    return best


def training_step(K, inputs, guess, target, weights):
    loss = K.mean(K.categorical_crossentropy(target, guess, from_logits=True))
    updates = [K.update_sub(w, 0.01 * g) for w, g in zip(weights, K.gradients(loss, weights))]
    return K.function([*inputs, target], [loss], updates=updates)


def mlp(K, random):
    x, y = K.placeholder((None, 784)), K.placeholder((None, 10))
    w1, w2 = (
        K.variable(random.normal(size=(784, 256)) * 0.05),
        K.variable(random.normal(size=(256, 10)) * 0.1),
    )
    step = training_step(K, [x], K.dot(K.relu(K.dot(x, w1)), w2), y, [w1, w2])
    return step, random.rand(128, 784)


def cnn(K, random):
    x, y = K.placeholder((None, 28, 28, 1)), K.placeholder((None, 10))
    k1 = K.variable(random.normal(size=(3, 3, 1, 16)) * 0.2)
    k2 = K.variable(random.normal(size=(3, 3, 16, 32)) * 0.1)
    w = K.variable(random.normal(size=(7 * 7 * 32, 10)) * 0.03)
    h = x
    for k in (k1, k2):
        h = K.pool2d(K.relu(K.conv2d(h, k, padding="same")), (2, 2), strides=(2, 2))
    return training_step(K, [x], K.dot(K.batch_flatten(h), w), y, [k1, k2, w]), random.rand(
        32, 28, 28, 1
    )


def lstm(K, random):
    n = 64
    x, y = K.placeholder((None, 20, 16)), K.placeholder((None, 10))
    w, u = (
        K.variable(random.normal(size=(16, 4 * n)) * 0.2),
        K.variable(random.normal(size=(n, 4 * n)) * 0.1),
    )
    v = K.variable(random.normal(size=(n, 10)) * 0.1)

    def step(x, states):
        h, c = states
        z = K.dot(x, w) + K.dot(h, u)
        i, f, o = (K.sigmoid(z[:, j * n : (j + 1) * n]) for j in range(3))
        c = f * c + i * K.tanh(z[:, 3 * n :])
        h = o * K.tanh(c)
        return h, [h, c]

    zeros = K.dot(x[:, 0], K.zeros_like(w[:, :n]))
    last, _, _ = K.rnn(step, x, [zeros, zeros])
    return training_step(K, [x], K.dot(last, v), y, [w, u, v]), random.rand(32, 20, 16)


def processes():
    """This one, and those that the engine started and that still run."""
    with open(f"/proc/self/task/{os.getpid()}/children") as f:
        return [os.getpid(), *map(int, f.read().split())]


def memory():
    """Peak of all of them, in MB."""
    total = 0
    for pid in processes():
        with open(f"/proc/{pid}/status") as f:
            total += next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    return total / 1000


def cpu_seconds():
    """Of all of them, from their start."""
    ticks = 0
    for pid in processes():
        with open(f"/proc/{pid}/stat") as f:
            ticks += sum(map(int, f.read().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def worker(seconds):
    import numpy as np

    import horngate as K

    random = np.random.RandomState(0)

    def labels(n):
        return np.eye(10, dtype="float32")[random.randint(10, size=n)]

    found = {}
    for name, make in (("mlp", mlp), ("cnn", cnn), ("lstm", lstm)):
        step, data = make(K, random)
        feeds = [data.astype("float32"), labels(len(data))]
        step(feeds)
        found.setdefault("start CPU s", cpu_seconds())
        found.setdefault("MB", memory())
        found[f"{name} ms"] = 1e3 * shortest(step, feeds, seconds)
    x = K.placeholder((4,))
    found["call us"] = 1e6 * shortest(K.function([x], [x + 1]), [np.ones(4, "float32")], seconds)
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", default="1")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="for each kind of call and round"
    )
    parser.add_argument("--engines", nargs="*", default=ENGINES)
    options = parser.parse_args()
    best = {}
    for _ in range(options.rounds):
        for engine in options.engines:
            environment = os.environ | {"KERAS_BACKEND": engine, "HORNGATE_QUIET": "1"}
            environment |= {
                "HORNGATE_NUM_THREADS": options.threads,
                "OMP_NUM_THREADS": options.threads,
            }
            command = [sys.executable, __file__, "--worker", str(options.seconds)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"{engine}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                continue
            for key, value in json.loads(done.stdout.splitlines()[-1]).items():
                best.setdefault(engine, {})[key] = min(value, best.get(engine, {}).get(key, value))
    print(f"| engine | {' | '.join(COLUMNS)} |\n|{'---|' * (len(COLUMNS) + 1)}")
    for engine, found in best.items():
        print(f"| `{engine}` | {' | '.join(f'{found[c]:.3g}' for c in COLUMNS)} |")


if __name__ == "__main__":
    if "--worker" in sys.argv:
        worker(float(sys.argv[-1]))
    else:
        main()
