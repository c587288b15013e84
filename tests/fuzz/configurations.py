"""The settings of the library that programs run under, each in a process of its own."""

import contextlib
import os
import re
import resource
import select
import subprocess
import sys
from pathlib import Path

from fuzz import worker

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent


class Configuration:
    """A name, an environment, and whether results have the same bits as those of `default`. With
    `every`, it takes the place of the others for each so many-th seed: for what is slow."""

    def __init__(self, name, environment, same_bits=False, every=None):
        self.name, self.environment, self.same_bits = name, environment, same_bits
        self.every = every

    def in_order(self):
        """Whether sums may add one term after the other: those of other libraries, and ours without SIMD."""
        is_ours = self.environment.get("KERAS_BACKEND", "native") == "native"
        return not is_ours or "HORNGATE_PLAIN" in self.environment


def simd_levels():
    flags = set()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("flags"):
                flags = set(line.split())
                break
    levels = ["sse4"] if "sse4_2" in flags else []
    levels += ["avx2"] if {"avx2", "fma"} <= flags else []
    levels += ["avx512"] if {"avx512f", "avx512bw", "avx512vl"} <= flags else []
    return levels


def passes():
    """Names of the passes that HORNGATE_WITHOUT takes."""
    listed = ROOT / "src" / "ir" / "switches.def"
    text = listed.read_text() if listed.exists() else ""
    return re.findall(r"^HORNGATE_PASS\((\w+)", text, re.MULTILINE)


def of_native(rng):
    """The first one is the default, which the others are compared with; some leave out passes at
    random."""
    made = [
        Configuration("default", {"HORNGATE_NUM_THREADS": "2"}),
        Configuration("one thread", {"HORNGATE_NUM_THREADS": "1"}, same_bits=True),
        Configuration("verified", {}),
        Configuration("verified, one thread", {"HORNGATE_NUM_THREADS": "1"}),
        Configuration("no jit", {"HORNGATE_JIT": "0", "HORNGATE_NUM_THREADS": "2"}),
        Configuration("plain", {"HORNGATE_PLAIN": "1"}),
        Configuration("no winograd", {"HORNGATE_WINOGRAD": "0"}),
        Configuration("small tapes", {"HORNGATE_TAPE_BYTES": "4096"}),
        Configuration("no plans kept", {"HORNGATE_PLAN_BYTES": "1"}),
    ]
    for level in ["scalar", *simd_levels()]:
        made.append(Configuration(level, {"HORNGATE_SIMD": level}))
        made.append(
            Configuration(f"{level}, no jit", {"HORNGATE_SIMD": level, "HORNGATE_JIT": "0"})
        )
    names = passes()
    for name in names:
        made.append(Configuration(f"without {name}", {"HORNGATE_WITHOUT": name}))
    for _ in range(8 if names else 0):
        some = ",".join(sorted(rng.sample(names, rng.randint(2, len(names) // 2))))
        made.append(Configuration(f"without {some}", {"HORNGATE_WITHOUT": some}))
    # The verifier looks at each program: what runs beside the default has it, but where bits are compared.
    for c in made[1:]:
        if not c.same_bits:
            c.environment["HORNGATE_VERIFY"] = "1"
    return made


def of_engine(engine, rng):
    if engine == "native":
        return of_native(rng)
    if engine == "theano":
        return of_theano()
    return [Configuration(engine, {"KERAS_BACKEND": engine})]


def of_theano():
    """A user's first calls run on Theano's Python code, later ones after its simplifications and
    compiled. C takes some ten seconds per program, the simplifications alone a fraction of one."""
    python = {"KERAS_BACKEND": "theano", "HORNGATE_THEANO_MODE": "FAST_COMPILE"}
    later = {"KERAS_BACKEND": "theano", "HORNGATE_THEANO_MODE": "FAST_RUN"}
    return [
        Configuration("theano", python),
        Configuration("theano, simplified", {**later, "HORNGATE_THEANO_FLAGS": "cxx="}),
        Configuration("theano, compiled", later, every=20),
    ]


def limit_memory(bytes):
    """Of this process: a program that takes more than that is a fault of the fuzzer, with a seed."""
    if not worker.may_be_limited():
        return
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (bytes, most))


def without_limit():
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class Worker:
    """A process of a configuration; a new one takes its place when it ends."""

    def __init__(self, configuration, most=1500):
        self.configuration, self.most = configuration, most
        self.process, self.done = None, 0
        # Seconds.
        self.patience = 900 if configuration.name.startswith("theano") else 180

    def start(self):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(TESTS)])),
            "KERAS_BACKEND": "native",
            "HORNGATE_QUIET": "1",
            "HORNGATE_NO_CONFIG_WRITE": "1",
            "PYTHONWARNINGS": "ignore",
            "OPENBLAS_NUM_THREADS": "2",
            **self.configuration.environment,
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            preexec_fn=without_limit,
        )
        self.done = 0

    def send(self, program):
        if self.process is not None and self.done >= self.most:
            self.stop()
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.done += 1
        with contextlib.suppress(BrokenPipeError):
            worker.send(self.process.stdin, program)

    def receive(self):
        """What the worker says; an error "crash" when it died of the program, "hang" when it takes
        far too long."""
        ready, _, _ = select.select([self.process.stdout], [], [], self.patience)
        if not ready:
            self.process.kill()
            self.process.wait()
            self.process = None
            return {"error": "hang", "text": f"no answer in {self.patience} s", "where": "run"}
        result = worker.receive(self.process.stdout)
        if result is not None:
            return result
        code = self.process.wait()
        self.process = None
        return {"error": "crash", "text": f"the process ended with status {code}", "where": "run"}

    def run(self, program):
        self.send(program)
        return self.receive()

    def stop(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
