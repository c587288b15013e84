#!/usr/bin/env python3
"""What our own kernels gain over the libraries that would do the same work: bench/by_hand.py [--parts jit] [--seconds 1]

Each part is switched off (HORNGATE_WITHOUT), so that oneDNN or OpenBLAS computes instead; both ways take turns in two
processes of their own, and the fastest call of each counts. AVX2 and AVX-512 are measured where the CPU has them, with the
libraries held to the same.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ISAS = {
    "avx2": {"HORNGATE_SIMD": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OPENBLAS_CORETYPE": "Haswell"},
    "avx512": {
        "HORNGATE_SIMD": "avx512",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "OPENBLAS_CORETYPE": "SkylakeX",
    },
}
PARTS = {
    "winograd": [
        ("conv", (32, 56, 56, 64), 64),
        ("conv", (32, 28, 28, 128), 128),
        ("conv", (32, 14, 14, 256), 256),
        ("conv", (1, 56, 56, 64), 64),
        ("conv_train", (16, 32, 32, 64), 64),
    ],
    "packed_products": [
        ("dense", (1, 784), 512),
        ("dense", (32, 512), 512),
        ("dense", (128, 784), 512),
        ("dense", (256, 1024), 1024),
        ("dense_train", (128, 784), 512),
        ("turned", (64, 512), 512),
        ("turned", (128, 1024), 1024),
        ("turned", (512, 512), 512),
        ("lstm", (32, 50, 128), 128),
    ],
    "jit": [
        ("gelu", (1024, 1024), 0),
        ("normalize", (512, 4096), 0),
        ("adam", (1 << 20,), 0),
    ],
}


def make(kind, shape, width):
    """A function without arguments that runs the workload once."""
    import horngate as K
    import numpy as np

    numbers = np.random.default_rng(0)

    def random(*dims):
        return numbers.normal(size=dims).astype("float32")

    x = K.placeholder(shape)
    updates = []
    if kind.startswith("conv"):
        w = K.variable(random(3, 3, shape[3], width) / 24)
        y = K.conv2d(x, w, padding="same", data_format="channels_last")
    elif (
        kind == "turned"
    ):  # the gradient of a layer's input: its weights are read across, and packed in each call
        before, w = K.placeholder((shape[0], width)), K.placeholder((width, shape[1]))
        product = K.gradients(K.sum(K.dot(before, w) * x), [before])
        run, fed = K.function([x, w], product), [random(*shape), random(width, shape[1])]
        return lambda: run(fed)
    elif kind.startswith("dense"):
        w = K.variable(random(shape[1], width) / 30)
        y = K.dot(x, w)
    elif kind == "lstm":
        kernel, recurrent = (K.variable(random(n, 4 * width) / 12) for n in (shape[2], width))

        def step(inputs, states):
            h, c = states
            z = K.dot(inputs, kernel) + K.dot(h, recurrent)
            i, f, g, o = (z[:, k * width : (k + 1) * width] for k in range(4))
            c = K.sigmoid(f) * c + K.sigmoid(i) * K.tanh(g)
            h = K.sigmoid(o) * K.tanh(c)
            return h, [h, c]

        zeros = K.zeros((shape[0], width))
        y = K.rnn(step, x, [zeros, zeros])[0]
    elif kind == "gelu":
        y = 0.5 * x * (1 + K.tanh(0.79788456 * (x + 0.044715 * x * x * x)))
    elif kind == "normalize":
        centered = x - K.mean(x, axis=1, keepdims=True)
        y = centered / K.sqrt(K.mean(K.square(centered), axis=1, keepdims=True) + 1e-5)
    else:
        w, m, v = (K.variable(np.abs(random(*shape))) for _ in range(3))
        m_t, v_t = 0.9 * m + 0.1 * x, 0.999 * v + 0.001 * K.square(x)
        updates = [
            K.update(m, m_t),
            K.update(v, v_t),
            K.update(w, w - 0.001 * m_t / (K.sqrt(v_t) + 1e-7)),
        ]
        y = K.zeros((1,))
    if kind.endswith("_train"):
        loss = K.mean(K.square(y))
        updates = [K.update_sub(w, 0.01 * g) for g in K.gradients(loss, [w])]
        y = loss
    run = K.function([x], [y], updates=updates)
    fed = random(*shape)
    return lambda: run([fed])


def serve():
    """Reads a workload and seconds, a line each; answers with the fastest call in microseconds."""
    made = {}
    for line in sys.stdin:
        workload, seconds = json.loads(line)
        key = json.dumps(workload)
        if key not in made:
            made[key] = make(workload[0], tuple(workload[1]), workload[2])
        call = made[key]
        call()
        best, end = float("inf"), time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - began)
        print(json.dumps(best * 1e6), flush=True)


class Child:
    def __init__(self, isa, without):
        own = {"HORNGATE_WITHOUT": without, "KERAS_BACKEND": "native", "HORNGATE_QUIET": "1"}
        environment = {**os.environ, **own, "HORNGATE_NO_CONFIG_WRITE": "1", **ISAS[isa]}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def time(self, workload, seconds):
        print(json.dumps([workload, seconds]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def measure(isa, part, seconds, turns=5):
    ours, theirs = Child(isa, ""), Child(isa, part)
    for workload in PARTS[part]:
        best = [float("inf")] * 2
        for _ in range(turns):
            for i, child in enumerate((ours, theirs)):
                best[i] = min(best[i], child.time(workload, seconds / turns))
        yield workload, *best
    ours.end()
    theirs.end()


def described(kind, shape, width):
    return f"{kind} {'x'.join(map(str, shape))}" + (f" to {width}" if width else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of them, with commas")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each way of each workload")
    options = parser.parse_args()
    if options.serve:
        return serve()
    flags = Path("/proc/cpuinfo").read_text()
    isas = [isa for isa, flag in (("avx2", " avx2 "), ("avx512", " avx512f ")) if flag in flags]
    print("| instructions | part | workload | ours, us | without it, us | ratio |")
    print("|---|---|---|---|---|---|")
    for isa in isas:
        for part in options.parts.split(","):
            for workload, ours, theirs in measure(isa, part, options.seconds):
                cells = (isa, part, described(*workload), f"{ours:.1f}", f"{theirs:.1f}")
                print(f"| {' | '.join(cells)} | {ours / theirs:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
