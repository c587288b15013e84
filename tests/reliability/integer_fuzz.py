#!/usr/bin/env python3
"""Calls functions of K with huge, negative and odd integers in the place of right ones: only clean exceptions.

usage: integer_fuzz.py [--calls 20000] [--seed N] [--verbose]

Right calls come from tests/cases. One to three of their integers (axes, sizes, strides, paddings, shapes, entries of
integer arrays) are replaced; the function is built, sometimes with its gradient, and run. All that in a child with
little memory, which is watched. Prints one line of figures as JSON; exits with 1 if a call crashed, hung or failed with
an error that no user should see.
"""

import argparse
import json
import math
import os
import pathlib
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = (ValueError, TypeError, IndexError, OverflowError, MemoryError, NotImplementedError)
MEMORY = 1 << 30  # more than the child has at its start
PATIENCE = 60  # seconds for one call

BITS = (7, 8, 15, 16, 31, 32, 48, 52, 53, 61, 62, 63, 64)
EDGES = [2**n + d for n in BITS for d in (-2, -1, 0, 1)]
EDGES = [*range(-3, 6), *EDGES, *(-n for n in EDGES), 10**30, -(10**30)]


def hostile(rng):
    if rng.random() < 0.7:
        return rng.choice(EDGES)
    return rng.choice((-1, 1)) * rng.getrandbits(rng.randint(1, 66))


def places(value, path=()):
    """Paths to the integers in nested tuples, lists and dictionaries."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [path]
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in places(v, (*path, k))]
    if isinstance(value, (tuple, list)):
        return [p for i, v in enumerate(value) for p in places(v, (*path, i))]
    return []


def replaced(value, path, new):
    if not path:
        return new
    if isinstance(value, dict):
        return {k: replaced(v, path[1:], new) if k == path[0] else v for k, v in value.items()}
    made = [replaced(v, path[1:], new) if i == path[0] else v for i, v in enumerate(value)]
    return type(value)(made) if type(value) in (list, tuple) else made


def extra_calls():
    """Functions that no case calls with integers: (function, right arguments)."""
    import horngate as K

    def x(shape=(2, 3, 4)):
        return K.placeholder(shape, name="x")

    def open_x(*shape):
        return K.placeholder(shape)

    def rnn(length, size):
        step = lambda a, states: (a + states[0], [a + states[0]])  # noqa: E731
        start = [K.zeros_like(K.placeholder((2, 4)))]
        return K.rnn(step, K.placeholder((2, size, 4)), start, input_length=length)[1]

    def getitem(a, b, c, d):
        return x()[a:b:c, d]

    def getitem_open(a, b, c, d):
        return open_x(None, None, None)[a:b:c, d]

    def of_shape(a, b):
        return K.shape(open_x(None, 3, None))[a:b] + 1

    def by_tensor(a, b, c):
        t = K.constant([a, b], dtype="int64")
        return K.reshape(open_x(None, c), t)

    def tiled(a, b):
        return K.tile(open_x(None, 3), K.constant([a, b], dtype="int64"))

    def sliced(a, b, c, d):
        return K.slice(open_x(None, None), (a, b), (c, d))

    def shape_arithmetic(a, b, c):
        n = K.shape(open_x(None, 4))[0]
        return K.reshape(K.ones_like(open_x(None, 4)), (n * a // b - c, -1))

    def filled(a, b):
        n = K.shape(open_x(None, 4))[0]
        return K.zeros((n * a, b)), K.ones((b, n + a))

    def arange_tensor(a, b, c):
        return K.arange(K.constant(a, dtype="int64"), K.constant(b, dtype="int64"), c)

    def integers(a, b, c):
        t = K.constant([a, b], dtype="int64")
        return t // c, t % c, t * c, t + c, t - c, -t, K.abs(t), K.pow(t, 2)

    return [
        (K.zeros, ((2, 3),)),
        (K.ones, ((2, 3),)),
        (K.eye, (3,)),
        (K.eye, ((3, 2),)),
        (K.arange, (0, 5, 1)),
        (K.arange, (5,)),
        (arange_tensor, (0, 5, 1)),
        (lambda *a: K.constant(1.0, shape=a), (2, 3)),
        (lambda a: K.constant(a, dtype="int64"), (2,)),
        (lambda a: K.constant(a, dtype="uint8"), (2,)),
        (lambda a: K.variable(a, dtype="int32"), (2,)),
        (lambda *a: K.placeholder(a), (2, 3)),
        (lambda a: K.placeholder(ndim=a), (2,)),
        (lambda *a: K.random_normal(a, seed=1), (2, 3)),
        (lambda *a: K.random_uniform(a, seed=1), (2, 3)),
        (lambda *a: K.random_binomial(a, 0.5, seed=1), (2, 3)),
        (lambda *a: K.truncated_normal(a, seed=1), (2, 3)),
        (lambda a: K.random_normal((2,), seed=a), (1,)),
        (lambda *a: K.random_normal_variable(a, 0.0, 1.0), (2, 3)),
        (lambda *a: K.random_uniform_variable(a, 0.0, 1.0), (2, 3)),
        (lambda *a: K.dropout(x((None, 3)), 0.5, noise_shape=a), (2, 3)),
        (lambda a, b: K.random_uniform((2,), a, b, dtype="int64"), (0, 5)),
        (rnn, (3, 3)),
        (getitem, (0, 2, 1, 1)),
        (getitem_open, (0, 2, 1, 1)),
        (of_shape, (0, 2)),
        (by_tensor, (2, 3, 6)),
        (tiled, (2, 3)),
        (sliced, (0, 1, 2, 2)),
        (shape_arithmetic, (2, 1, 0)),
        (filled, (2, 3)),
        (integers, (7, -7, 2)),
        (lambda a: x() + a, (2,)),
        (lambda a: K.cast(x(), "int32") * a, (2,)),
        (lambda a: K.cast(x(), "uint64") - a, (2,)),
        (lambda a, b: K.clip(K.cast(x(), "int64"), a, b), (1, 2)),
        (lambda a: K.pow(x(), a), (2,)),
        (lambda a: K.one_hot(K.placeholder((2,), dtype="int32"), a), (3,)),
        (lambda a: K.in_top_k(x((2, 5)), K.placeholder((2,), dtype="int32"), a), (2,)),
        (lambda a: K.get_uid(str(a)), (1,)),
        (lambda a: K.repeat(x((2, 3)), a), (2,)),
        (lambda a: K.set_learning_phase(a), (0,)),
    ]


class Calls:
    """What the child does: makes random calls."""

    def __init__(self):
        sys.path[:0] = [str(ROOT / "tests")]
        os.environ.setdefault("HORNGATE_TEST_ENGINES", "native")
        import horngate as K
        import numpy as np
        from cases import harness, inputs

        self.K, self.np, self.harness, self.inputs = K, np, harness, inputs
        by_name = {}
        for _, case in harness.all_cases():
            if isinstance(case, harness.Case) and not case.slow:
                by_name.setdefault(harness.name_of(case.function), []).append(case)
        self.by_name = {n: c for n, c in by_name.items() if any(map(self.has_integers, c))}
        self.extra = extra_calls()

    def has_integers(self, case):
        tree = [a for a in case.inputs if not isinstance(a, self.inputs.Input)]
        return places([tree, case.options]) or any(
            x.dtype and "int" in x.dtype for x in self.inputs.leaves(case.inputs)
        )

    def change(self, rng, value):
        paths = places(value)
        for path in rng.sample(paths, min(len(paths), rng.choice((1, 1, 1, 2, 3)))):
            value = replaced(value, path, hostile(rng))
        return value

    def pick(self, seed):
        """(what to print, what to call) for a number."""
        rng = random.Random(seed)
        if rng.random() < 0.25:
            number = rng.randrange(len(self.extra))
            function, arguments = self.extra[number]
            arguments = self.change(rng, arguments)
            name = getattr(function, "__name__", "?")
            return f"extra {number} {name}{arguments}", lambda: self.run_extra(function, arguments)
        cases = self.by_name[rng.choice(sorted(self.by_name))]
        case = rng.choice(cases)
        tree, options = case.inputs, self.change(rng, case.options)
        others = {i: a for i, a in enumerate(tree) if not isinstance(a, self.inputs.Input)}
        if places(others):
            others = self.change(rng, others)
            tree = [others.get(i, a) for i, a in enumerate(tree)]
        open_dims = case.none is not False and rng.random() < 0.4
        spoil = rng.random() < 0.3
        gradient = rng.random() < 0.4
        text = f"{case.label} tree={tree!r:.300} options={options!r:.300} open={open_dims}"
        text += f" spoil={spoil} gradient={gradient}"
        return text, lambda: self.run_case(rng, case, tree, options, open_dims, spoil, gradient)

    def run_extra(self, function, arguments):
        K, made_here = self.K, []
        real = K.placeholder

        def placeholder(*args, **options):
            made_here.append(real(*args, **options))
            return made_here[-1]

        K.placeholder = placeholder
        try:
            made = self.harness.flat(function(*arguments))
        finally:
            K.placeholder = real
        ys = [t for t in made if K.is_tensor(t)]
        arrays = []
        for x in made_here:
            shape = [2 if n is None else n for n in K.int_shape(x)]
            if math.prod(shape) > 10**6:
                return
            arrays.append(self.np.ones(shape, K.dtype(x)))
        K.function(made_here, ys)(arrays)
        K.clear_session()

    def run_case(self, rng, case, tree, options, open_dims, spoil, gradient):
        K, inputs = self.K, self.inputs
        dtype = case.dtypes[0]
        specs = inputs.leaves(tree)
        xs = [K.placeholder(x.placeholder_shape(open_dims), dtype=x.dtype_in(dtype)) for x in specs]
        made = self.harness.flat(case.function(*inputs.fill(tree, iter(xs)), **options))
        ys = [y for y in made if K.is_tensor(y)]
        if gradient and ys and K.dtype(ys[0]).startswith("float"):
            ys += [g for g in K.gradients(K.sum(ys[0]), xs) if g is not None]
        arrays = case.arrays(dtype)
        if spoil:
            for array in arrays:
                if array.dtype.kind in "iu" and array.size:
                    info = self.np.iinfo(array.dtype)
                    value = min(max(hostile(rng), info.min), info.max)
                    array.flat[rng.randrange(array.size)] = value
        K.function(xs, ys)(arrays)


def child(first, last):
    os.environ["HORNGATE_NUM_THREADS"] = "2"
    warnings.simplefilter("ignore")
    said = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # print_tensor prints
    calls = Calls()
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for seed in range(first, last):
        text, call = calls.pick(seed)
        print(json.dumps(["begin", seed, text]), file=said, flush=True)
        try:
            call()
            answer = "result"
        except CLEAN as e:
            bad = "this is a bug" in str(e) or isinstance(e, UnicodeError)
            answer = f"BAD {type(e).__name__}: {e}" if bad else type(e).__name__
        except RuntimeError as e:  # what the library says where Python says MemoryError
            answer = "MemoryError" if "out of memory" in str(e) else f"BAD RuntimeError: {e}"
        except BaseException as e:
            answer = f"BAD {type(e).__name__}: {str(e)[:300]}"
        print(json.dumps(["end", seed, answer]), file=said, flush=True)


def lines_of(process, patience):
    """Lines that the child prints; ends when it ends, or after a silence."""
    buffer = b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], patience)
        data = os.read(process.stdout.fileno(), 65536) if ready else b""
        if not data:
            return
        *lines, buffer = (buffer + data).split(b"\n")
        yield from lines


def fuzz(calls, seed, verbose=False):
    figures = {"test": "integer_fuzz", "seed": seed, "done": 0, "results": 0, "exceptions": {}}
    bad = []
    at, last = seed * 10**7, seed * 10**7 + calls
    while at < last:
        with tempfile.TemporaryFile() as errors:
            command = [sys.executable, __file__, "--child", str(at), str(last)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            started = False
            for line in lines_of(process, PATIENCE):
                kind, at, text = json.loads(line)
                started = True
                if kind == "begin":
                    doing, since = text, time.monotonic()
                    continue
                at += 1
                figures["done"] += 1
                if text == "result":
                    figures["results"] += 1
                elif text.startswith("BAD"):
                    bad.append({"number": at - 1, "call": doing, "answer": text})
                else:
                    figures["exceptions"][text] = figures["exceptions"].get(text, 0) + 1
                if verbose and time.monotonic() - since > 2:
                    print(f"{time.monotonic() - since:.1f} s: {doing}", file=sys.stderr)
                doing = None
            hung = process.poll() is None and at < last
            if hung:
                process.kill()
            code = process.wait()
            process.stdout.close()
            if not started:
                errors.seek(0)
                raise RuntimeError(errors.read().decode()[-2000:])
            if at < last:  # it did not come back from this one
                errors.seek(0)
                said = errors.read().decode("utf-8", "replace")[-300:]
                answer = "hang" if hung else f"exit code {code}: {said}"
                bad.append({"number": at, "call": doing, "answer": answer})
                figures["done"] += 1
                at += 1
    figures["bad"] = len(bad)
    figures["passed"] = not bad
    return figures, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--one", type=int, help="makes the call of this number in this process")
    parser.add_argument("--child", type=int, nargs=2)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return 0
    if options.one is not None:
        text, call = Calls().pick(options.one)
        print(text, flush=True)
        call()
        return 0
    figures, bad = fuzz(options.calls, options.seed, options.verbose)
    for one in bad:
        print(json.dumps(one), file=sys.stderr)
    print(json.dumps(figures))
    return 0 if figures["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
