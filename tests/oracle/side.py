"""Runs every draw on one side and writes what came out: side.py ours|theirs FILE TIMES
SEED [function ...]."""

import pickle
import sys
import warnings

import numpy as np
from draws import all_draws


def flat(made):
    if isinstance(made, list | tuple):
        return [y for part in made for y in flat(part)]
    return [made]


def arrays(draw, made):
    """Results as arrays, as they are compared."""
    made = [np.asarray(y) for y in made]
    return draw.after(made) if draw.after else made


def weights(y, i):
    """What the sum that is differentiated multiplies result i by."""
    return np.random.default_rng(1000 + i).uniform(-1, 1, y.shape).astype(y.dtype)


def prepare_settings(K, draw):
    K.set_floatx(draw.floatx or draw.dtype)
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    prepare_phase(K, draw)


def prepare_phase(K, draw):
    if draw.phase is not None:
        K.set_learning_phase(draw.phase)


class Ours:
    def __init__(self):
        import horngate as K

        self.K = K

    def prepare(self, draw):
        self.K.clear_session()
        prepare_settings(self.K, draw)

    def raw(self, draw):
        return arrays(draw, flat(draw.call(self.K, *draw.arrays)))

    def build(self, draw, open_dims):
        K = self.K
        xs = []
        for i, a in enumerate(draw.arrays):
            left_open = open_dims and a.ndim and (draw.open is True or i == 0)
            shape = (None, *a.shape[1:]) if left_open else a.shape
            xs.append(K.placeholder(shape, dtype=str(a.dtype)))
        return xs, flat(draw.call(K, *xs))

    def run(self, draw, open_dims=False):
        """The results; and, unless some dimension is open, what the shapes were said to be."""
        K = self.K
        xs, ys = self.build(draw, open_dims)
        tensors = [y for y in ys if K.is_tensor(y) or K.is_variable(y)]
        made = iter(K.function(xs, tensors)(draw.arrays) if tensors else [])
        static = [K.int_shape(y) for y in tensors]
        outs = [next(made) if any(y is t for t in tensors) else y for y in ys]
        outs = [np.asarray(y) for y in outs]
        for shape, out in zip(static, outs, strict=False):
            if open_dims and len(tensors) == len(outs):
                agrees = len(shape) == out.ndim and all(
                    n in (None, m) for n, m in zip(shape, out.shape, strict=True)
                )
                if not agrees:
                    raise AssertionError(f"int_shape is {shape}, the result's shape {out.shape}")
        return arrays(draw, outs), static

    def gradients(self, draw, open_dims=False):
        K = self.K
        xs, ys = self.build(draw, open_dims)
        shapes = [y.shape for y in K.function(xs, ys)(draw.arrays)]
        loss = None
        for i, (y, shape) in enumerate(zip(ys, shapes, strict=True)):
            if not K.dtype(y).startswith("float"):
                continue
            w = weights(np.empty(shape, K.dtype(y)), i)
            part = K.sum(y * K.constant(w, dtype=K.dtype(y)))
            loss = part if loss is None else loss + part
        floats = [i for i, a in enumerate(draw.arrays) if a.dtype.kind == "f"]
        if loss is None:
            return []
        made = K.gradients(loss, [xs[i] for i in floats])
        present = [g for g in made if g is not None]
        values = iter(K.function(xs, present)(draw.arrays) if present else [])
        return [None if g is None else np.asarray(next(values)) for g in made]


class Theirs:
    def __init__(self):
        import tensorflow as tf
        import tf_keras
        from tf_keras.src import backend as whole

        tf.get_logger().setLevel("ERROR")
        self.tf, self.whole = tf, whole
        self.K = _Module(tf_keras.backend, whole, tf)

    def prepare(self, draw):
        self.whole.clear_session()
        self.tf.random.set_seed(1)
        prepare_settings(self.whole, draw)

    def raw(self, draw):
        if draw.graph:
            with self.tf.Graph().as_default():
                prepare_phase(self.whole, draw)
                return arrays(draw, flat(draw.call(self.K, *draw.arrays)))
        return arrays(draw, [self.value(y) for y in flat(draw.call(self.K, *draw.arrays))])

    def value(self, y):
        if isinstance(y, self.tf.Tensor | self.tf.Variable):
            return y.numpy()
        return np.asarray(y)

    def tensors(self, draw):
        wide = draw.their_dtype and draw.dtype != draw.their_dtype
        return [
            self.tf.constant(a.astype(draw.their_dtype) if wide and a.dtype == draw.dtype else a)
            for a in draw.arrays
        ]

    def back(self, draw, made):
        """Results as if they had been computed in the draw's dtype."""
        narrow = draw.their_dtype
        return [y.astype(draw.dtype) if narrow and y.dtype == narrow else y for y in made]

    def call(self, draw, xs):
        return flat((draw.their_call or draw.call)(self.K, *xs))

    def run(self, draw, open_dims=False):
        made = [self.value(y) for y in self.call(draw, self.tensors(draw))]
        return arrays(draw, self.back(draw, made)), None

    def gradients(self, draw, open_dims=False):
        tf = self.tf
        xs = self.tensors(draw)
        floats = [x for x in xs if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            for x in floats:
                tape.watch(x)
            loss = 0.0
            for i, y in enumerate(self.call(draw, xs)):
                if y.dtype.is_floating:
                    part = tf.reduce_sum(y * weights(y.numpy(), i))
                    loss = part if isinstance(loss, float) else loss + part
        if isinstance(loss, float):
            return []
        made = tape.gradient(loss, floats)
        made = [None if g is None else tf.convert_to_tensor(g).numpy() for g in made]
        return [g if g is None else self.back(draw, [g])[0] for g in made]


class _Module:
    """Their public functions, and the few that exist but are not exported."""

    def __init__(self, public, whole, tf):
        self._places = (public, whole)
        self.tf = tf

    def __getattr__(self, name):
        for place in self._places:
            if hasattr(place, name):
                return getattr(place, name)
        raise AttributeError(name)


def attempt(work):
    try:
        return work()
    except Exception as e:  # what a side refuses is a result like others
        return f"{type(e).__name__}: {e}"


def results(side, draw, ours):
    """What one draw gives: outs, static, open, grads; a text instead of a list is an error's."""
    side.prepare(draw)
    made = {"label": draw.label, "dtype": draw.dtype, "checksum": draw.checksum, "tol": draw.tol}
    made |= {"statistics": draw.statistics, "refused": draw.refused}
    made["narrow"] = draw.their_dtype
    if draw.raw:
        made["outs"] = attempt(lambda: side.raw(draw))
        return made
    run = attempt(lambda: side.run(draw))
    made["outs"], static = (run, None) if isinstance(run, str) else run
    if ours and draw.static:
        made["static"] = static
    if ours and draw.open and not isinstance(run, str):
        opened = attempt(lambda: side.run(draw, open_dims=True))
        made["open"] = opened if isinstance(opened, str) else opened[0]
    if draw.grad and not isinstance(run, str):
        made["grads"] = attempt(lambda: side.gradients(draw))
        if ours and draw.open:
            made["open_grads"] = attempt(lambda: side.gradients(draw, open_dims=True))
    return made


def main(which, path, times, seed, *only):
    warnings.simplefilter("ignore")
    ours = which == "ours"
    side = Ours() if ours else Theirs()
    found = {d.key: results(side, d, ours) for d in all_draws(only, int(times), int(seed))}
    has = {name: hasattr(side.K, name) for name in names()}
    with open(path, "wb") as f:
        pickle.dump({"draws": found, "has": has}, f)


def names():
    """All that the compared module offers; their side is asked whether it has them too."""
    from catalogue import catalogue_names

    return catalogue_names()


if __name__ == "__main__":
    main(*sys.argv[1:])
