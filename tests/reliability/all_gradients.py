"""Gradients of every function, first and second order, in float64, against differences.

    all_gradients.py [--draws N] [--seed S] [function ...]

Arguments are random: the draws of tests/oracle, in float64, and those below for functions that it
does not have. Of the sum of all results, each times a random weight, K.gradients is compared with
central differences of the K function itself; of the sum of those gradients, each times a weight,
K.gradients once more with central differences of the first gradients. Prints one JSON line; ends
with 1 where a function fails or is missing.
"""

import argparse
import contextlib
import json
import os
import sys
import time
import warnings
import zlib
from pathlib import Path

import horngate as K
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import draws as oracle  # noqa: E402

FIRST_BAR, SECOND_BAR = 1e-6, 1e-4
MOST_ELEMENTS = 24  # of an array that are differentiated one by one; one more step moves all

# Draws by their label, most at points where there is no derivative; what the gradient is there is a
# matter of convention, which tests/cases has.
SKIPPED = (
    "ties",  # of maxima: pooling, max, maximum
    "zeros and ones",  # clipped probabilities
    "std of equal values",
    "nearly zero",  # l2_normalize where 1e-12 takes over
    "of one value",
    "no values",
    "more labels than steps allow",  # infinite loss
    "large",  # takes seconds
    "max_value below min_value",
    "causal, channels_first",  # an error
)
# Where a step of the differences may cross a corner: drawn again until none does.
HAVE_CORNERS = set(
    "abs relu elu max min maximum minimum clip hard_sigmoid sign pool2d pool3d switch"
    " in_train_phase in_test_phase categorical_crossentropy binary_crossentropy sparse_categorical_crossentropy"
    " l2_normalize std cast".split()
)

EXTRA: dict = {}


def extra(*names):
    def register(make):
        for name in names:
            EXTRA.setdefault(name, []).append(make)
        return make

    return register


@extra("asymmetric_temporal_padding")
def temporal(r):
    low, high = r.int(0, 3), r.int(0, 3)
    call = lambda K, x: K.asymmetric_temporal_padding(x, low, high)
    return oracle.Draw([r.normal(*r.shape(3, 3))], call, f"{low} {high}")


@extra("deconv2d")
def deconv2d(r):
    # (rows, cols, in, out), as Keras 1 had it
    x, k = r.normal(2, 4, 3, 2), r.normal(3, 2, 2, 3)
    options = {"strides": (2, 2), "border_mode": "same", "dim_ordering": "tf"}
    call = lambda K, x, k: K.deconv2d(x, k, (2, 8, 6, 3), **options)
    return oracle.Draw([x, k], call, "stride 2")


@extra("normalize_batch")
def normalize_batch(r):
    n = r.int(2, 4)
    arrays = [r.normal(5, n), r.normal(n), r.uniform(0.3, 2, n), r.normal(n), r.normal(n)]
    call = lambda K, x, m, v, b, g: K.normalize_batch(x, m, v, b, g, epsilon=1e-2)
    return oracle.Draw(arrays, call, f"{n}")


@extra("slice")
def slice_(r):
    shape = r.shape(1, 4, low=2)
    start = [r.int(0, n - 1) for n in shape]
    size = [r.int(1, n - s) for n, s in zip(shape, start, strict=True)]
    return oracle.Draw([r.normal(*shape)], lambda K, x: K.slice(x, start, size), f"{start} {size}")


@extra("gradients")
def gradients(r):
    """The gradient of a gradient is the second order of its function."""
    x = r.normal(3, 4)
    call = lambda K, x: K.gradients(K.sum(K.tanh(x) * K.exp(x * 0.3) * K.softmax(x)), [x])
    return oracle.Draw([x], call, "a gradient")


@extra("sin", "cos", "exp", "tanh", "sigmoid")
def between(r):
    """Functions of functions of several arguments."""
    shape = r.shape(1, 3)
    x, y = r.normal(*shape), r.normal(*r.broadcastable(shape))
    call = lambda K, x, y: getattr(K, r.name)(x * y + K.sum(y)) / (1.5 + K.square(x - y))
    return oracle.Draw([x, y], call, f"{shape} {y.shape}")


@extra("cast")
def cast(r):
    x = r.normal(3, 4)
    return oracle.Draw([x], lambda K, x: K.square(K.cast(x, "float64")) * x, "float64")


@extra("sparse_categorical_crossentropy")
def sparse_far(r):
    x, t = r.normal(4, 6), r.ints(0, 6, 4)
    call = lambda K, x: K.sparse_categorical_crossentropy(K.constant(t), x, from_logits=True)
    return oracle.Draw([x], call, "logits")


def documented():
    """Name -> "yes", "none" or "-", as docs/functions.md says."""
    sys.path.insert(0, str(ROOT / "tools"))
    import functions_doc as page
    from catalogue import catalogue_names

    return {name: page.gradient(name) for name in catalogue_names()}


class Rand(oracle.Rand):
    def __init__(self, name, index, seed):
        super().__init__(name, index, seed)
        self.dtype = "float64"
        self.name = name.rsplit(".", 1)[-1]


def usable(name, draw):
    if name == "local_conv1d" and draw.label.endswith("channels_first"):
        return False  # Keras 2.3.1 does not look at data_format there; neither do we
    floats = [a for a in draw.arrays if a.dtype.kind == "f" and a.size]
    return (
        draw.grad
        and not draw.raw
        and not draw.statistics
        and floats
        and not any(word in draw.label for word in SKIPPED)
        and sum(a.size for a in draw.arrays) < 3000
    )


def draws_of(name, count, seed):
    """Draws of a function that can be differentiated, each maker's in turn."""
    if not oracle.makers:
        oracle.load()
    makers = [m for m, _ in oracle.makers.get(name, [])] + EXTRA.get(name, [])
    made, index, tries = 0, 0, 0
    while made < count and tries < 40 * count and makers:
        make = makers[index % len(makers)]
        r = Rand(f"{make.__module__}.{make.__name__}.{name}", index, seed)
        index += 1
        tries += 1
        draw = make(r)
        draw.arrays = [a.astype("float64") if a.dtype.kind == "f" else a for a in draw.arrays]
        if usable(name, draw):
            draw.index = index
            made += 1
            yield draw


def flat(made):
    if isinstance(made, (list, tuple)):
        return [y for part in made for y in flat(part)]
    return [made]


def weighted_sum(parts, rng):
    """A number that depends on all elements: the sum of each times a random weight."""
    total = None
    for y in parts:
        if not K.is_tensor(y) or K.dtype(y) != "float64":
            continue
        # Weights of the right shape, whatever that is.
        a, b = rng.uniform(0.5, 1.5), rng.uniform(0.3, 0.9)
        n = K.reshape(K.cast(K.arange(0, K.size(y)), "float64"), K.shape(y))
        part = K.sum(y * (K.cos(n * a + b) + 0.1))
        total = part if total is None else total + part
    return total


def difference(f, arrays, which, direction):
    """d/dt of f at arrays[which] + t direction, and how sure that is: central differences at several
    steps, extrapolated to none."""
    scale = max(1.0, float(np.max(np.abs(arrays[which]), initial=0.0)))

    def central(h):
        moved = list(arrays)
        moved[which] = arrays[which] + h * direction
        up = f(moved)
        moved[which] = arrays[which] - h * direction
        return (up - f(moved)) / (2 * h)

    unit = scale / max(1.0, float(np.max(np.abs(direction))))
    best = (0.0, np.inf)
    # Large steps have small rounding errors, small ones stay clear of poles and corners: what moves
    # least from one order to the next counts.
    for first in (2.0**-7, 2.0**-10, 2.0**-13, 2.0**-16):
        d = [central(unit * first / 2**i) for i in range(4)]
        table = [d]
        for k in range(1, 4):
            last = table[-1]
            table.append([(4**k * b - a) / (4**k - 1) for a, b in zip(last, last[1:])])
        found = table[3][0], abs(table[3][0] - table[2][1])
        if found[1] < best[1] or not np.isfinite(best[0]):
            best = found
        if best[1] <= 1e-10 * max(1.0, abs(best[0])):
            break
    return best


class Corner(Exception):
    """The differences do not settle."""


def compare(run, arrays, floats, analytic, rng, bar, corners):
    """The largest error of the gradients, relative to the largest of them (or to 0.01)."""
    worst = 0.0
    for i, g in zip(floats, analytic, strict=True):
        size = arrays[i].size
        g = np.zeros(arrays[i].shape) if g is None else g
        directions = [rng.uniform(-1, 1, arrays[i].shape)]
        some = rng.permutation(size)[:MOST_ELEMENTS]
        for k in some:
            one = np.zeros(size)
            one[k] = 1
            directions.append(one.reshape(arrays[i].shape))
        found = [difference(run, arrays, i, d) for d in directions]
        numbers, unsure = np.array([v for v, _ in found]), np.array([u for _, u in found])
        ours = np.array([np.sum(g * d) for d in directions])
        scale = max(1e-2, float(np.max(np.abs(ours))), float(np.max(np.abs(numbers))))
        error = np.abs(numbers - ours) / scale
        if corners and np.any((unsure > bar / 10 * scale) & (error > bar)):
            raise Corner
        worst = max(worst, float(np.max(error)))
    return worst


def check(draw, seed, corners):
    """(first, second): the largest relative errors; second is None without one."""
    K.clear_session()
    K.set_floatx("float64")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    if draw.phase is not None:
        K.set_learning_phase(draw.phase)
    rng = np.random.default_rng([seed, draw.index, zlib.crc32(draw.label.encode())])
    xs = [K.placeholder(a.shape, dtype=str(a.dtype)) for a in draw.arrays]
    loss = weighted_sum(flat(draw.call(K, *xs)), rng)
    if loss is None:
        return None
    floats = [i for i, a in enumerate(draw.arrays) if a.dtype.kind == "f" and a.size]

    def level(loss, bar):
        symbolic = K.gradients(loss, [xs[i] for i in floats])
        there = [g for g in symbolic if g is not None]
        values = iter(K.function(xs, there)(draw.arrays) if there else [])
        analytic = [None if g is None else np.asarray(next(values)) for g in symbolic]
        value = K.function(xs, [loss])
        run = lambda arrays: float(value(arrays)[0])
        return there, compare(run, draw.arrays, floats, analytic, rng, bar, corners)

    first_gradients, first = level(loss, FIRST_BAR)
    second_loss = weighted_sum(first_gradients, rng)
    second = level(second_loss, SECOND_BAR)[1] if second_loss is not None else None
    return first, second


@contextlib.contextmanager
def quiet():
    """print_tensor writes to the process's own output."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [(n, os.dup(n)) for n in (1, 2)]
    with open(os.devnull, "w") as nowhere:
        for n, _ in kept:
            os.dup2(nowhere.fileno(), n)
        try:
            yield
        finally:
            for n, copy in kept:
                os.dup2(copy, n)
                os.close(copy)


def check_function(name, count, seed):
    """{draws, first, second, failures} of a function."""
    row = {"draws": 0, "first": 0.0, "second": 0.0, "redrawn": 0, "failures": []}
    for attempt in range(6):
        for draw in draws_of(name, count - row["draws"], seed + 1000 * attempt):
            try:
                with quiet() if name == "print_tensor" else contextlib.nullcontext():
                    made = check(draw, seed, name in HAVE_CORNERS)
            except Corner:
                row["redrawn"] += 1
                continue
            except Exception as e:  # noqa: BLE001 - told with the function it came from
                row["failures"].append(f"{name} {draw.label}: {type(e).__name__}: {e}")
                row["draws"] += 1
                continue
            if made is None:
                continue
            first, second = made
            row["draws"] += 1
            row["first"] = max(row["first"], first)
            row["second"] = max(row["second"], second or 0.0)
            if not first <= FIRST_BAR or not (second or 0.0) <= SECOND_BAR:
                row["failures"].append(f"{name} {draw.label}: first {first:.1e}, second {second}")
        if row["draws"] >= count:
            break
    if row["draws"] == 0:
        row["failures"].append(f"{name}: no draw")
    return row


def check_dropout(seed):
    """dropout is linear in x once its mask is drawn: dy/dx is y / x, and the second order is 0."""
    K.clear_session()
    K.set_floatx("float64")
    x = np.random.default_rng(seed).uniform(0.5, 2, (6, 7))
    p = K.placeholder((6, 7))
    y = K.dropout(p, 0.3, seed=seed)
    (g,) = K.gradients(K.sum(y * 2.0), [p])
    (h,) = K.gradients(K.sum(g * g), [p])
    y, g = K.function([p], [y, g])([x])
    first = float(np.max(np.abs(g - 2 * y / x)))
    failures = [] if first <= FIRST_BAR and h is None and 0 < np.mean(y == 0) < 1 else ["dropout"]
    return {"draws": 1, "first": first, "second": 0.0, "redrawn": 0, "failures": failures}


# Functions without a gradient, called on float64 tensors.
NONE = {
    "any": lambda x: K.any(x > 0.5, axis=1),
    "all": lambda x: K.all(x > 0.5, axis=1),
    "argmax": lambda x: K.argmax(x),
    "argmin": lambda x: K.argmin(x),
    "round": lambda x: K.round(x),
    "equal": lambda x: K.equal(x, x * 2),
    "not_equal": lambda x: K.not_equal(x, x * 2),
    "greater": lambda x: K.greater(x, x * 2),
    "greater_equal": lambda x: K.greater_equal(x, x * 2),
    "less": lambda x: K.less(x, x * 2),
    "less_equal": lambda x: K.less_equal(x, x * 2),
    "lesser": lambda x: K.lesser(x, x * 2),
    "lesser_equal": lambda x: K.lesser_equal(x, x * 2),
    "one_hot": lambda x: K.one_hot(K.cast(x, "int32"), 3),
    "stop_gradient": lambda x: K.stop_gradient(x * x),
    "in_top_k": lambda x: K.in_top_k(x, K.argmax(x), 2),
    "shape": lambda x: K.shape(x * x),
    "size": lambda x: K.size(x * x),
    "zeros_like": lambda x: K.zeros_like(x * x),
    "ones_like": lambda x: K.ones_like(x * x),
    "ctc_decode": lambda x: K.ctc_decode(
        K.softmax(K.expand_dims(x, 0)), K.constant([3], dtype="int32")
    )[0][0],
    "ctc_label_dense_to_sparse": lambda x: K.to_dense(
        K.ctc_label_dense_to_sparse(K.cast(x, "int32"), K.constant([1, 2, 2], dtype="int32"))
    ),
}
# Tensors that no other tensor goes into: what would be differentiated?
FROM_NOTHING = "learning_phase zeros ones eye arange random_normal random_uniform".split()
FROM_NOTHING += "random_binomial truncated_normal".split()


def check_none(name):
    """gradients gives None behind it."""
    if name in FROM_NOTHING:
        return []
    K.clear_session()
    K.set_floatx("float64")
    x = K.placeholder((3, 4))
    y = NONE[name](x)
    made = K.gradients(K.sum(K.cast(y, "float64")), [x])
    return [] if made == [None] else [f"{name}: {made} where docs/functions.md says none"]


def check_all(count, seed, only=()):
    """(rows by name, failures). No function of the catalogue is left out."""
    rows, failures = {}, []
    says = documented()
    for name, gradient in says.items():
        if only and name not in only:
            continue
        if gradient == "yes":
            rows[name] = (
                check_dropout(seed) if name == "dropout" else check_function(name, count, seed)
            )
            failures += rows[name]["failures"]
        elif gradient == "none":
            failures += check_none(name)
    return rows, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="a line for each function")
    parser.add_argument("functions", nargs="*")
    options = parser.parse_args()
    start = time.time()
    warnings.simplefilter("ignore", DeprecationWarning)  # of old names
    rows, failures = check_all(options.draws, options.seed, options.functions)
    if options.table:
        for name, row in sorted(rows.items(), key=lambda r: -r[1]["first"]):
            print(
                f"{name:32} {row['draws']:4} {row['first']:.1e} {row['second']:.1e}"
                f" {row['redrawn']}"
            )
    says = list(documented().values())
    print(
        json.dumps(
            {
                "test": "gradients",
                "seed": options.seed,
                "functions": len(rows),
                "without gradient": says.count("none"),
                "nothing to differentiate": says.count("-"),
                "draws": sum(r["draws"] for r in rows.values()),
                "drawn again at corners": sum(r["redrawn"] for r in rows.values()),
                "first order": max((r["first"] for r in rows.values()), default=0),
                "second order": max((r["second"] for r in rows.values()), default=0),
                "failures": failures,
                "seconds": round(time.time() - start, 1),
            }
        )
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
