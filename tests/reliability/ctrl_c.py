"""Ctrl-C in a long call: how long until the exception is there, and whether variables are as they were.

    ctrl_c.py [--times 100] [--limit 0.2]

A child per kind of call; the parent interrupts it at a random moment. Counted is the time from the signal to the
exception, less the longest step of that call, which is what may be running. Prints one JSON line; the status is 1 when
an interrupted call took longer than the limit, changed a variable, or ended in any other way.
"""

import argparse
import json
import os
import random
import select
import signal
import subprocess
import sys
import time

import numpy as np

KINDS = ("products", "loop", "elementwise", "convolutions", "planning", "many_steps")


def make(kind):
    """A call of many seconds, and the longest time that one kernel of it takes."""
    import horngate as K

    count = K.variable(np.zeros(3))
    updates = [K.update_add(count, K.ones_like(count))]
    if kind == "products":
        x = K.placeholder((None, None))
        y = x
        for _ in range(400):
            y = K.dot(y, x)
        # Products keep these numbers: some CPUs take a hundred times as long for subnormal ones.
        data = np.full((1100, 1100), 1 / 1100, "float32")
        one = K.function([x], [K.dot(x, x)])
    elif kind == "loop":
        x = K.placeholder((None, None, 64))
        w = K.variable(np.eye(64))
        first = K.sum(x, axis=1) * 0
        y = K.rnn(
            lambda i, s: (K.tanh(K.dot(s[0], w) + i),) + ([K.tanh(K.dot(s[0], w) + i)],), x, [first]
        )[0]
        data = np.full((32, 60000, 64), 0.01, "float32")
        one = None
    elif kind == "elementwise":
        x = K.placeholder((None,))
        y = x
        for i in range(120):  # sums keep them apart
            y = K.exp(K.sin(y) * 0.1) * K.log(K.abs(y) + 1.5) + K.sum(y) * 1e-9
        data = np.full((4_000_000,), 0.5, "float32")
        one = K.function([x], [K.exp(K.sin(x) * 0.1) * K.log(K.abs(x) + 1.5) + K.sum(x)])
    elif kind == "convolutions":
        x = K.placeholder((None, 64, 64, 32))
        w = K.variable(np.full((3, 3, 32, 32), 0.01))
        y = x
        for _ in range(60):
            y = K.conv2d(y, w, padding="same")
        data = np.full((16, 64, 64, 32), 0.01, "float32")
        one = K.function([x], [K.conv2d(x, w, padding="same")])
    elif kind == "planning":
        x = K.placeholder((None, 4))
        y = x
        for i in range(60_000):
            y = K.tanh(y) * 0.5 + x if i % 3 else y * x
        g = K.gradients(K.sum(y), [x])[0]
        y = y + g
        data = np.full((8, 4), 0.1, "float32")
        one = None
    else:
        x = K.placeholder((None, 16))
        ws = [K.variable(np.eye(16)) for _ in range(20)]
        y = x
        for i in range(2000):
            y = K.tanh(K.dot(y, ws[i % 20]))
        data = np.full((20000, 16), 0.1, "float32")
        one = None
    f = K.function([x], [K.sum(y)], updates=updates)
    kernel = 0.0
    if one is not None:
        for _ in range(3):
            begin = time.monotonic()
            one([data])
            kernel = max(kernel, time.monotonic() - begin)
    return K, f, data, count, kernel


def child(kind):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    K, f, data, count, kernel = make(kind)
    rows = len(data)
    while True:
        line = sys.stdin.readline()
        if not line:
            return
        if kind == "planning":  # another size each time: each call plans
            rows += 1
            data = np.resize(data, (rows, 4))
        how = "finished"
        try:
            print(json.dumps({"kernel": kernel}), flush=True)
            f([data])
        except KeyboardInterrupt:
            how = "interrupted"
        at = time.monotonic()
        unchanged = how == "finished" or not K.get_value(count).any()
        if how == "finished":
            K.set_value(count, np.zeros(3))
        print(json.dumps({"how": how, "at": at, "unchanged": bool(unchanged)}), flush=True)


def read_line(process, seconds):
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return json.loads(process.stdout.readline()) if ready else None


def interrupt_once(process, longest):
    process.stdin.write("go\n")
    process.stdin.flush()
    started = read_line(process, 300)
    if started is None:
        return None
    time.sleep(random.uniform(0.02, longest))
    sent = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    ended = read_line(process, 60)
    if ended is None:
        return None
    ended["late"] = ended["at"] - sent - started["kernel"]
    return ended


def start(kind):
    return subprocess.Popen(
        [sys.executable, __file__, "--child", kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--limit", type=float, default=0.2)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        return child(options.child)
    begin = time.monotonic()
    kinds = options.kinds.split(",")
    figures = {"soak": "ctrl_c", "times": options.times, "finished": 0, "changed": 0, "failed": 0}
    worst = dict.fromkeys(kinds, 0.0)
    for i, kind in enumerate(kinds):
        times = options.times // len(kinds) + (i < options.times % len(kinds))
        if not times:
            continue
        process = start(kind)
        # A signal that comes when the call is done says nothing: as many more are tried.
        caught, tries, longest = 0, 0, 1.0
        while caught < times and tries < 2 * times + 4:
            tries += 1
            ended = interrupt_once(process, longest)
            if ended is None or process.poll() is not None:
                figures["failed"] += 1
                break
            figures["changed"] += not ended["unchanged"]
            if ended["how"] == "finished":
                figures["finished"] += 1
                longest = max(0.05, longest / 2)
                process.kill()  # the signal may still come, and would end it
                process.wait()
                process = start(kind)
            else:
                caught += 1
                worst[kind] = max(worst[kind], ended["late"])
        figures["failed"] += caught < times
        process.kill()
        process.wait()
    figures["worst_s"] = {kind: round(late, 3) for kind, late in worst.items()}
    figures["seconds"] = round(time.monotonic() - begin, 1)
    is_well = not (figures["changed"] or figures["failed"])
    is_well = is_well and max(worst.values()) <= options.limit
    figures["ok"] = is_well
    print(json.dumps(figures), flush=True)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
