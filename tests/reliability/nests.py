"""Loops, branches and gradients inside of each other, at random, beside NumPy.

    nests.py [--count N] [--seed S] [--only K]

Each program is a tree of operations on matrices of one shape: values against the same tree in NumPy, derivatives along a
direction against differences of it, in float64, with fixed and with open sizes. Prints the seed and one JSON line; ends with 1
after a difference, with the numbers that bring it back (--seed S --only K).
"""

import random
import sys

import horngate as K
import numpy as np
import random_programs

PLAIN = ["add", "multiply", "tanh", "dot", "reverse", "mean"]
NESTED = ["switch", "choose", "map", "foldl", "foldr", "rnn", "gradient", "late", "late_in_loop"]
DEEPEST = 3


class InK:
    """What the trees need, by K."""

    tanh, sum, mean, dot = map(staticmethod, (K.tanh, K.sum, K.mean, K.dot))
    transpose, map_fn, foldl, foldr = map(staticmethod, (K.transpose, K.map_fn, K.foldl, K.foldr))

    def first(self, x):
        return x[0:1]

    def reverse(self, x):
        return K.reverse(x, 0)

    def switch(self, condition, yes, no):
        return K.switch(condition, yes, no)

    def choose(self, condition, yes, no):
        return K.switch(condition, yes, no)

    def rnn(self, step, x, states, backwards):
        last, outputs, after = K.rnn(step, K.stack(x, axis=1), states, go_backwards=backwards)
        return last + K.sum(outputs, axis=1) + after[-1]

    def gradient(self, f, x):
        """Of sum(f(x)) with respect to x, to be asked for later."""
        fresh = x * 1.0
        loss = K.sum(f(fresh))

        def ask():
            made = K.gradients(loss, [fresh])[0]
            return K.zeros_like(fresh) if made is None else made

        return ask


class InNumPy:
    def __init__(self, step=1e-4):
        self.step = step  # of differences

    tanh, sum, mean, dot = map(staticmethod, (np.tanh, np.sum, np.mean, np.dot))
    transpose = staticmethod(np.transpose)

    def first(self, x):
        return x[0:1]

    def reverse(self, x):
        return x[::-1]

    def switch(self, condition, yes, no):
        return yes() if condition else no()

    def choose(self, condition, yes, no):
        return np.where(condition, yes, no)

    def map_fn(self, f, x):
        return np.stack([f(row) for row in x])

    def foldl(self, f, x, initializer):
        for row in x:
            initializer = f(initializer, row)
        return initializer

    def foldr(self, f, x, initializer):
        return self.foldl(f, x[::-1], initializer)

    def rnn(self, step, x, states, backwards):
        outputs = []
        for now in x[::-1] if backwards else x:
            output, states = step(now, states)
            outputs.append(output)
        return outputs[-1] + sum(outputs) + states[-1]

    def gradient(self, f, x):
        def ask():
            out = np.zeros_like(x)
            for at in np.ndindex(x.shape):
                ends = []
                for k in (-1, 1, -2, 2):
                    moved = x.copy()
                    moved[at] += k * self.step
                    ends.append(np.sum(f(moved)))
                out[at] = (8 * (ends[1] - ends[0]) - (ends[3] - ends[2])) / (12 * self.step)
            return out

        return ask


def draw(r, size, depth=0, may_differentiate=True):
    """A tree over a list of `size` matrices. Differences of differences would not be exact: one gradient a path."""
    kinds = PLAIN + (NESTED if depth < DEEPEST else [])
    kind = r.choice(kinds)
    differentiates = kind in ("gradient", "late", "late_in_loop")
    if differentiates and not may_differentiate:
        kind, differentiates = "tanh", False
    node = {"kind": kind, "of": [r.randrange(size) for _ in range(3)]}
    if kind not in PLAIN:
        inner = size + {"map": 0, "foldl": 0, "foldr": 0, "rnn": 3}.get(kind, 0)
        further = may_differentiate and not differentiates
        node["body"] = draw(r, inner, depth + 1, further)
        node["other"] = draw(r, size, depth + 1, further) if kind == "switch" else None
        node["limit"], node["backwards"] = r.choice([-50.0, 0.0, 50.0]), r.random() < 0.3
    return node


def value(node, pool, m):
    """What a tree is, in K or NumPy."""
    a, b, c = (pool[i] for i in node["of"])
    kind = node["kind"]
    if kind == "add":
        return a + b * 0.5
    if kind == "multiply":
        return m.tanh(a) * b
    if kind == "tanh":
        return m.tanh(a + b * b)
    if kind == "dot":
        return m.dot(m.tanh(a), m.dot(m.transpose(b), m.tanh(a))) * 0.3
    if kind == "reverse":
        return m.reverse(a) + m.first(b)
    if kind == "mean":
        return a * m.mean(b) + c
    body = node["body"]

    def of_body(more=()):
        return value(body, [*pool, *more], m)

    def with_fresh(fresh):
        at = node["of"][0]
        return value(body, [*pool[:at], fresh, *pool[at + 1 :]], m) * m.tanh(fresh)

    if kind == "switch":
        other = node["other"]
        return m.switch(m.sum(a) > node["limit"], of_body, lambda: value(other, pool, m) + b)
    if kind == "choose":
        return m.choose(a > b * 0.51 + 0.013, of_body(), b)
    if kind == "map":
        return m.map_fn(lambda row: m.tanh(row) + row * m.sum(of_body()) * 0.1, a)
    if kind in ("foldl", "foldr"):
        fold = getattr(m, kind)
        return a + fold(
            lambda s, row: m.tanh(s * row + m.sum(of_body()) * 0.1), c, m.mean(b) + a[0]
        )
    if kind == "rnn":

        def step(now, states):
            new = m.tanh(of_body((now, *states))) * 0.5 + states[0] * 0.1
            return new, [states[1], new]

        return m.rnn(step, [a, b, a * b], [c, b], node["backwards"]) * 0.3
    slope = m.gradient(with_fresh, a)
    if kind == "gradient":
        return m.tanh(slope()) + a
    if kind == "late":  # in a branch, of what was made outside of it
        return m.switch(m.sum(b) > node["limit"], lambda: m.tanh(slope()) + b, lambda: a + b)
    return m.map_fn(lambda row: m.tanh(row * m.sum(m.tanh(slope()))), b)


def loss_of(trees, matrices, m):
    pool = list(matrices)
    for tree in trees:
        pool.append(value(tree, pool, m))
    return m.sum(m.tanh(pool[-1]))


def along(f, arrays, direction, h):
    ends = [f([a + k * h * d for a, d in zip(arrays, direction)]) for k in (-1, 1)]
    return (ends[1] - ends[0]) / (2 * h)


def fault_of(seed, index):
    """None, or what differs."""
    r, rng = random.Random(f"{seed} {index}"), np.random.default_rng([seed, index])
    shape, count = (r.choice([1, 1, 2, 3]), r.choice([1, 1, 2, 3])), r.randint(2, 3)
    trees = [draw(r, count + i) for i in range(r.randint(1, 3))]
    arrays = [rng.normal(size=shape) * 0.7 for _ in range(count)]
    direction = [rng.normal(size=shape) for _ in range(count)]

    def numpy_loss(xs, step=1e-4):
        return loss_of(trees, xs, InNumPy(step))

    # Differences may lie across a corner of a branch; shorter ones seldom do, but are less exact.
    wanted = [(numpy_loss(arrays), 1e-7), (numpy_loss(arrays, 1e-6), 1e-6)]
    some_open = [tuple(None if r.random() < 0.5 else n for n in shape) for _ in arrays]
    for shapes in ([shape] * count, some_open):
        xs = [K.placeholder(s, dtype="float64") for s in shapes]
        loss = loss_of(trees, xs, InK())
        slopes = K.gradients(loss, xs)
        used = [i for i, g in enumerate(slopes) if g is not None]
        got, *gradients = K.function(xs, [loss, *(slopes[i] for i in used)])(arrays)
        if not any(abs(got - v) <= limit * (1 + abs(v)) for v, limit in wanted):
            return f"{shapes}: {got}, not {wanted[0][0]}"
        slope = sum(np.sum(g * direction[i]) for i, g in zip(used, gradients))
        # Near a corner of a branch one step may lie across it, and inner gradients are differences themselves.
        sizes = (1e-4, 1e-5, 1e-3)
        near = [along(numpy_loss, arrays, direction, h) for h in sizes]
        jumps = [(n - slope) * h for n, h in zip(near, sizes)]
        if max(jumps) - min(jumps) < 0.05 * abs(jumps[1]):  # no step is too short for a jump
            continue
        near.append(along(lambda xs: numpy_loss(xs, 1e-6), arrays, direction, 1e-5))
        if not min(abs(slope - n) for n in near) <= 1e-4 * (1 + abs(slope)):
            return f"{shapes}: derivative {slope}, not {near}"
    return None


def run(count, seed, only=None):
    before = K.floatx()
    K.set_floatx("float64")
    try:
        return random_programs.run(fault_of, count, seed, only)
    finally:
        K.set_floatx(before)


if __name__ == "__main__":
    sys.exit(random_programs.main(__doc__, run))
