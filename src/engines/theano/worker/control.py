"""Loops and branches."""

import numpy as np
import theano
import theano.tensor as T
from theano.ifelse import ifelse

from graph import constant_of, lower

LONGEST_UNROLLED = 8
LARGEST_UNROLLED = 64  # nodes of all steps


class Loop:
    def __init__(self, c, operands):
        self.c, self.body = c, c.bodies[0]
        n_x, n_c = c.int("xs"), c.int("carries")
        self.n_y = c.int("ys")
        self.xs, self.inits = operands[:n_x], operands[n_x : n_x + n_c]
        self.captures = operands[n_x + n_c :]
        self.length = c.ins[0][1][c.int("x_axes")] if n_x else c.int("length")
        self.sequences = [
            self.in_order(x, axis, back)
            for x, axis, back in zip(self.xs, c.ints("x_axes"), c.ints("x_reversed"))
        ]

    def in_order(self, x, axis, backwards):
        """Time first, in order of the iterations."""
        x = x.dimshuffle(axis, *[i for i in range(x.ndim) if i != axis])
        return x[::-1] if backwards else x

    def stacked(self, y, i):
        """The way back, for result i."""
        axis = self.c.ints("y_axes")[i]
        y = y[::-1] if self.c.ints("y_reversed")[i] else y
        return y.dimshuffle(*range(1, axis + 1), 0, *range(axis + 1, y.ndim))

    def step(self, slices, carries, index, captures):
        """Body parameters: slices, carries, captures, index."""
        types = [self.body["values"][v] for v in self.body["in"]]
        given = [*slices, *carries, *captures, index]
        given = [self.c.builder.fit(x, t, "scan") for x, t in zip(given, types)]
        return self.c.builder.apply(self.body, given)

    def unrolled(self):
        carries, rows = list(self.inits), []
        for i in range(self.length):
            index = T.constant(np.asarray(i, "int64"))
            made = self.step([s[i] for s in self.sequences], carries, index, self.captures)
            carries = made[: len(carries)]
            rows.append(made[len(carries) :])
        return carries, [T.stack([r[k] for r in rows], axis=0) for k in range(self.n_y)]

    def looped(self):
        n_s, n_c = len(self.sequences), len(self.inits)

        def step(index, *given):
            return self.step(given[:n_s], given[n_s : n_s + n_c], index, given[n_s + n_c :])

        # Theano refuses a step that is broadcastable in other axes than the initial value; fit makes them
        # equal.
        made, _ = theano.scan(
            step,
            sequences=[T.arange(self.length, dtype="int64"), *self.sequences],
            outputs_info=[*self.inits, *[None] * self.n_y],
            non_sequences=list(self.captures),
            n_steps=self.length,
            mode=self.c.builder.mode,
            return_list=True,
        )
        return [y[-1] for y in made[:n_c]], made[n_c:]


@lower("scan", moves=True)
def scan(c, *operands):
    loop = Loop(c, operands)
    n_c = len(loop.inits)
    if loop.length == 0:
        return [*loop.inits, *[constant_of(t) for t in c.outs[n_c:]]]
    nodes = len(loop.body["nodes"]) * loop.length
    short = loop.length <= LONGEST_UNROLLED and nodes <= LARGEST_UNROLLED
    finals, ys = loop.unrolled() if short else loop.looped()
    return [*finals, *[loop.stacked(y, i) for i, y in enumerate(ys)]]


@lower("cond", moves=True)
def cond(c, condition, *captures):
    then, other = c.bodies
    n = len(then["in"])
    made = []
    for body, given in ((then, captures[:n]), (other, captures[n:])):
        results = c.builder.apply(body, list(given))
        made.append([c.builder.fit(y, t, "cond") for y, t in zip(results, c.outs)])
    return ifelse(T.reshape(condition, (), ndim=0), *made) if c.outs else []
