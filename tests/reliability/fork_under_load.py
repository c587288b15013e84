"""Forks while other threads are in calls; pools of processes by fork and by spawn: every child works, none hangs.

    fork_under_load.py [--forks 1000] [--pools 20]

Prints one JSON line; the status is 1 when a child was wrong or hung.
"""

import argparse
import json
import multiprocessing
import os
import signal
import sys
import threading
import time

import horngate as K
import numpy as np

SIZE = 96


class Model:
    def __init__(self):
        rng = np.random.default_rng(1)
        self.data = rng.standard_normal((64, SIZE)).astype("float32")
        self.x = K.placeholder((None, SIZE))
        self.w = K.variable(np.eye(SIZE, dtype="float32"))
        self.count = K.variable(np.zeros(1000))
        hidden = K.dot(self.x, self.w)
        self.predict = K.function([self.x], [hidden, K.sum(K.exp(hidden))])
        self.train = K.function([], [], updates=[K.update_add(self.count, K.ones_like(self.count))])
        self.expected = self.predict([self.data])

    def is_right(self, rows=64):
        hidden, total = self.predict([self.data[:rows]])
        same = np.array_equal(hidden, self.data[:rows])
        counts = K.get_value(self.count)
        return same and np.isfinite(total) and len(set(counts)) == 1

    def everything(self):
        """What a child does: call, plan anew, train, set, build, clear."""
        right = self.is_right() and self.is_right(1 + os.getpid() % 60)
        before = K.get_value(self.count)[0]
        self.train([])
        right &= K.get_value(self.count)[0] == before + 1
        K.set_value(self.count, np.zeros(1000))
        y = K.placeholder((None, 3), name="y")
        right &= (
            K.function([y], K.gradients(K.sum(K.square(y)), [y]))([np.ones((2, 3))])[0][0, 0] == 2
        )
        K.clear_session()
        return bool(right and self.is_right())


MODEL = None


def in_pool(number):
    return MODEL.everything()


def in_spawned(number):
    return Model().everything()


def wait_for(pid, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return "well" if status == 0 else "wrong"
        time.sleep(0.0005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hung"


def load(stop, wrong):
    """Threads that are always in some call."""

    def calls():
        while not stop.is_set():
            if not MODEL.is_right():
                wrong.append("call")

    def trains():
        while not stop.is_set():
            MODEL.train([])

    def builds():
        while not stop.is_set():
            z = K.placeholder((None, 2))
            if K.function([z], [z * 2])([np.ones((1, 2))])[0][0, 0] != 2:
                wrong.append("build")

    threads = [threading.Thread(target=t, daemon=True) for t in (calls, calls, trains, builds)]
    for t in threads:
        t.start()
    return threads


def main():
    global MODEL
    parser = argparse.ArgumentParser()
    parser.add_argument("--forks", type=int, default=1000)
    parser.add_argument("--pools", type=int, default=20)
    options = parser.parse_args()
    begin = time.monotonic()
    MODEL = Model()
    stop, wrong = threading.Event(), []
    threads = load(stop, wrong)
    ended = {"well": 0, "wrong": 0, "hung": 0}
    for _ in range(options.forks):
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            os._exit(0 if MODEL.everything() else 1)
        ended[wait_for(pid, 90)] += 1
        if ended["hung"] > 3:
            break
    pool_tasks = 0
    for kind, pools, task in (
        ("fork", options.pools, in_pool),
        ("spawn", max(1, options.pools // 10), in_spawned),
    ):
        for _ in range(pools):
            with multiprocessing.get_context(kind).Pool(2) as pool:
                try:
                    results = pool.map_async(task, range(8)).get(300)
                except multiprocessing.TimeoutError:
                    ended["hung"] += 1
                    continue
                pool_tasks += len(results)
                ended["wrong"] += results.count(False)
    stop.set()
    for t in threads:
        t.join(60)
    ended["hung"] += sum(t.is_alive() for t in threads)
    is_well = not (wrong or ended["wrong"] or ended["hung"])
    figures = {
        "soak": "fork_under_load",
        "forks": options.forks,
        "pool_tasks": pool_tasks,
        "wrong": ended["wrong"] + len(wrong),
        "hung": ended["hung"],
        "seconds": round(time.monotonic() - begin, 1),
        "ok": is_well,
    }
    print(json.dumps(figures), flush=True)
    sys.stdout.flush()
    os._exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
