"""Whoever is largest gets the gradient, however many steps of a plan compute the values anew.

    largest.py [--count N] [--seed S] [--only K]

Each program takes maxima of values whose parts are used elsewhere too, alone, in pools and in loops, in every float type.

    rows, columns, all, pool, map, rnn   of y + b: of each maximum b gets 1 in all, so that its gradient adds up to the number
                                         of maxima, exactly, whatever y is; and each maximum is equal to an element
    product                              of x w + b, with the product in another loss too: so does x, row by row
    cell                                 in cells of rnn, float64: beside differences along a direction

Prints the seed and one JSON line; ends with 1 after a
difference, with the numbers that bring it back (--seed S --only K).
"""

import random
import sys

import horngate as K
import numpy as np
import random_programs

KINDS = ["rows", "columns", "all", "pool", "map", "rnn", "product", "cell", "cell"]
DTYPES = ["float16", "bfloat16", "float32", "float64"]


class Program:
    def __init__(self, rng):
        self.rng = rng
        self.dtype = rng.choice(DTYPES)
        self.kind = rng.choice(KINDS)
        self.waste = []  # what is used elsewhere too
        self.seed = rng.getrandbits(32)  # of the chain: a step may be traced twice
        self.largest = rng.choice([K.max, K.min])
        self.sum_of = rng.choice([lambda y, b: y + b, lambda y, b: b - y])

    def one_of(self, *choices):
        return self.rng.choice(choices)

    def chain(self, seed, *starts):
        """Cheap operations, which passes like to repeat; some of their results get other readers."""
        rng, values = random.Random(seed), list(starts)
        for _ in range(rng.randint(1, 5)):
            a, c = rng.choice(values), rng.choice(values)
            values.append(
                rng.choice(
                    [
                        lambda: a + c,
                        lambda: a - c * 0.3,
                        lambda: a * starts[-1],
                        lambda: a * 0.7 + c,
                        lambda: 1.5 - a,
                        lambda: K.relu(a) + c * 0.1,
                        lambda: K.tanh(a),
                        lambda: K.sigmoid(a) * K.tanh(c),
                        lambda: a / 3.0,
                        lambda: a - K.max(c, axis=-1, keepdims=True),
                    ]
                )()
            )
            if rng.random() < 0.5:
                self.waste.append(values[-1])
        product = starts[0] * starts[-1]
        y = rng.choice([values[-1] + product, product, (values[-1] + starts[0]) * starts[-1]])
        self.waste += rng.choice([[], [y], [product]])
        return y

    def plain(self):
        rows, columns = self.one_of((4, 6), (60, 40), (100, 300), (7, 2000), (2000, 8))
        x = self.data(rows, columns)
        w, b = self.data(columns), self.data(columns)
        axis = {"rows": 1, "columns": 0, "all": None}[self.kind]
        y = self.chain(self.seed, x[0], w[0])
        p = self.sum_of(y, b[0])
        maxima = self.largest(p, axis=axis)
        # Also as values: one element at least is equal.
        same = K.cast(K.equal(p, self.largest(p, axis=axis, keepdims=True)), "float32")
        count = K.sum(K.cast(K.sum(same, axis=axis) > 0, "float32"))
        number = {"rows": rows, "columns": columns, "all": 1}[self.kind]
        return [x, w, b], K.sum(K.cast(maxima, "float32")), number, count

    def pool(self):
        n, side, c = self.one_of((2, 4, 3), (3, 12, 16), (8, 20, 8))
        x, w, b = self.data(n, side, side, c), self.data(c), self.data(c)
        y = K.pool2d(self.chain(self.seed, x[0], w[0]) + b[0], (2, 2), strides=(2, 2), pool_mode="max")
        return [x, w, b], K.sum(K.cast(y, "float32")), n * (side // 2) ** 2 * c, None

    def loop(self):
        n, steps, d = self.one_of((3, 4, 6), (8, 5, 40), (5, 9, 130))
        x, w, b, s = self.data(n, steps, d), self.data(d), self.data(d), self.data(n, d)

        def step(now, states):
            y = self.chain(self.seed, now, states[0] * 0.5, w[0])
            m = self.largest(self.sum_of(y, b[0]), axis=-1)
            # What comes after depends on the maximum, but not its gradient.
            state = K.tanh(y) + K.expand_dims(K.stop_gradient(m), -1) * 0.1
            return (m if self.kind == "map" else K.expand_dims(m, -1)), [state]

        if self.kind == "map":
            maxima = K.map_fn(lambda row: step(row, [row])[0], x[0])
        else:
            backwards, unroll = self.one_of(True, False), self.one_of(False, False, True)
            maxima = K.rnn(step, x[0], [s[0]], go_backwards=backwards, unroll=unroll)[1]
        self.waste = []  # values of a step stay there
        # Through the state b would get more, were it not stopped at the maximum.
        return [x, w, b, s], K.sum(K.cast(maxima, "float32")), n * steps, None

    def data(self, *shape, low=None):
        draw = np.random.default_rng(self.rng.getrandbits(32))
        value = draw.standard_normal(shape) if low is None else draw.uniform(low, low + 1, shape)
        return K.placeholder(shape, dtype=self.dtype), value

    def product(self):
        """Rows in which no x gets what the maximum gives. Of the other loss each gets x w w."""
        rows, columns = self.one_of((4, 6), (60, 40), (100, 300), (7, 2000), (2000, 8))
        x, w, b = self.data(rows, columns), self.data(columns, low=0.5), self.data(columns)
        product = x[0] * w[0]
        p = self.rng.choice([lambda: product + b[0], lambda: b[0] - product])()
        other = 0.5 * K.sum(K.square(product))
        loss = K.cast(K.sum(self.largest(p, axis=1)), "float32") + K.cast(other, "float32")
        variables = [x[0], w[0], b[0]]
        wanted = [x[0]] + [v for v in variables[1:] if self.rng.random() < 0.5]
        slopes = [K.cast(g, "float64") for g in K.gradients(loss, wanted)]
        exact = [K.cast(v, "float64") for v in variables]
        g, *_, x, w, _ = K.function(variables, [*slopes, *exact])([x[1], w[1], b[1]])
        share = np.abs(g / w - x * w)
        lost = int((np.where(share > 0.04, share, 0).sum(1) < 0.5).sum())
        return f"product {self.dtype}: {lost} of {rows} maxima reach no x" if lost else None

    def cell(self):
        self.dtype = "float64"
        n, steps, d = self.one_of((3, 2, 6), (8, 5, 10), (16, 9, 40))
        inputs = [self.data(n, steps, d), self.data(d), self.data(d), self.data(n, d), self.data(d, d)]
        (x, w, b, s, u), values = zip(*inputs)

        def step(now, states):
            rng, parts = random.Random(self.seed), [now, states[0], states[0] * w, now * b]
            for _ in range(rng.randint(1, 4)):
                a, c = rng.choice(parts), rng.choice(parts)
                makers = [
                    lambda: a + c,
                    lambda: a - c,
                    lambda: a * w,
                    lambda: a + b,
                    lambda: a * 0.3,
                    lambda: K.tanh(a),
                    lambda: K.sigmoid(a) * K.tanh(c),
                    lambda: K.dot(a, u) * 0.2,
                    lambda: K.max(a, axis=1, keepdims=True) + c * 0.1,
                    lambda: K.min(a + b, axis=1, keepdims=True) + c * 0.1,
                    lambda: K.max(a + b, axis=0, keepdims=True) + c * 0.1,
                    lambda: K.dot(K.relu(now * w + b), u) * 0.2 + K.max(now * w + b, axis=1, keepdims=True),
                ]
                parts.append(rng.choice(makers)())
            y = K.tanh(parts[-1]) * 0.5 + rng.choice(parts) * 0.1 + states[0] * 0.2
            y = y + 0.1 * self.largest(parts[-1] + b, axis=1, keepdims=True)
            return y, [y]

        last, outputs, _ = K.rnn(step, x, [s])
        spread = K.constant(np.linspace(-1, 2, d), dtype="float64")
        loss = K.sum(last * spread) + K.mean(outputs)
        variables = [x, w, b, s, u]
        made = [(i, g) for i, g in enumerate(K.gradients(loss, variables)) if g is not None]
        f = K.function(variables, [loss])
        got = K.function(variables, [g for _, g in made])(list(values))
        way = [np.random.default_rng(self.seed + i).standard_normal(v.shape) for i, v in enumerate(values)]
        slope = sum((g * way[i]).sum() for (i, _), g in zip(made, got))

        def moved(h):
            return f([v + h * t for v, t in zip(values, way)])[0]

        seen = [(moved(h) - moved(-h)) / (2 * h) for h in (1e-6, 3e-7, 1e-7)]
        scale = 1 + abs(slope)
        if max(seen) - min(seen) > 1e-5 * scale:  # a corner, where another element becomes the largest
            return None
        far = min(abs(slope - e) for e in seen)
        return f"cell: {slope} along a direction, {seen} by differences" if far > 1e-4 * scale else None

    def fault(self):
        if self.kind in ("product", "cell"):
            return getattr(self, self.kind)()
        part = {"pool": self.pool, "map": self.loop, "rnn": self.loop}
        inputs, loss, number, count = part.get(self.kind, self.plain)()
        for value in self.waste:
            loss = loss + 0.5 * K.sum(K.square(K.cast(value, "float32")))
        variables = [p for p, _ in inputs]
        wanted = [g for g in K.gradients(loss, variables) if g is not None]
        b = K.cast(K.gradients(loss, [variables[2]])[0], "float64")
        outputs = [K.sum(b), *wanted] + ([count] if count is not None else [])
        got = K.function(variables, outputs)([v for _, v in inputs])
        sign = -1 if got[0] < 0 else 1
        near = {"float16": 1e-2, "bfloat16": 3e-2, "float32": 1e-4, "float64": 1e-9}[self.dtype]
        if not abs(sign * got[0] - number) <= near * number:
            return f"{self.kind} {self.dtype}: the gradient adds up to {got[0]}, not {number}"
        if count is not None and got[-1] != number:
            return f"{self.kind} {self.dtype}: {got[-1]:.0f} of {number} maxima are equal to an element"
        return None


def fault_of(seed, index):
    return Program(random.Random(f"{seed} {index}")).fault()


def run(count, seed, only=None):
    return random_programs.run(fault_of, count, seed, only)


if __name__ == "__main__":
    sys.exit(random_programs.main(__doc__, run))
