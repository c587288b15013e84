"""Hunts differences between models of Keras 2.3.1 and of the C++ library, with random models (draws_models.py):

    fuzz_models.py                    two minutes, seeds of the clock
    fuzz_models.py --seeds 40:60      these
    fuzz_models.py --seconds 600 --keep FOLDER    longer; what differs stays in FOLDER

Keras makes a model, trains a few steps and saves it. C++ loads the file and predicts, evaluates, trains three steps or fits,
saves; Keras loads that and goes on. All of it is compared with a training in Keras that nobody interrupted.
"""

import argparse
import contextlib
import io
import json
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import numpy as np  # noqa: E402
from draws_models import BATCH, Graph, compiled, feeds, listed, sample_weights, targets, whole  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import metrics, models  # noqa: E402
from keras_cases import agree, all_steps, described, equal, plain, without_seeds  # noqa: E402

TOLERANCE = {"float32": 2e-4, "float64": 1e-8}


def numbers(values):
    return [float(v) for v in np.atleast_1d(values)]


def finite(values):
    return all(np.isfinite(np.asarray(v, "float64")).all() for v in values)


def bare(arrays):
    return arrays if len(arrays) != 1 else arrays[0]


def loaded(path):
    """Keras 2.3.1 writes metrics that are objects, but looks for them by the text of their configuration."""
    find = metrics.get
    try:
        metrics.get = lambda m: metrics.deserialize(m) if isinstance(m, dict) else find(m)
        return models.load_model(path)
    finally:
        metrics.get = find


def differences(ours, theirs, place=""):
    """Where two configurations differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            yield from differences(
                ours.get(key, "nothing"), theirs.get(key, "nothing"), f"{place}.{key}"
            )
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (a, b) in enumerate(zip(ours, theirs)):
            yield from differences(a, b, f"{place}[{i}]")
    elif ours != theirs:
        yield f"{place}: {json.dumps(ours)[:200]}, Keras {json.dumps(theirs)[:200]}"


def same_config(ours, theirs, said):
    ours, theirs = (json.loads(without_seeds(c)) for c in (ours, theirs))
    found = list(differences(ours, theirs))
    assert not found, f"{said}: " + "; ".join(found[:4])


class Unfit(Exception):
    """Keras itself cannot do it, or its numbers are not numbers."""


class Case:
    """One model with its data. `steps` is what C++ does."""

    def __init__(self, seed, folder):
        self.seed, self.folder = seed, folder
        rng = np.random.default_rng(seed)
        self.floatx = "float64" if rng.random() < 0.5 else "float32"
        K.set_floatx(self.floatx)
        d = self.draw = Graph(rng, stateful=rng.random() < 0.2)
        self.stateful = d.stateful
        self.count = 2 * BATCH if d.stateful else 10
        self.model, self.kinds = whole(d)
        self.randomise(rng)
        wanted, modes = compiled(d, self.model, self.kinds)
        if not any(wanted):
            raise Unfit("no loss")
        self.x = feeds(d, d, self.count)
        self.y = targets(d, self.model, wanted, self.count)
        if sum(a.size for a in [*self.x, *self.y]) > 20_000:
            raise Unfit("much data")
        self.weights = sample_weights(d, self.y, wanted, modes) if d.chance() else None
        self.classes = None
        if len(wanted) == 1 and self.y[0].ndim == 2 and wanted[0] in ("softmax", "sparse"):
            n = self.model.output_shape[-1]
            self.classes = (
                {i: float(d.rng.random() + 0.1) for i in range(n)} if d.chance() else None
            )
        self.pretrained = 0 if d.frozen else int(d.pick(0, 2))
        self.fits = not self.stateful and d.chance(0.3)
        # Metrics of some kinds make no number of a batch that they do not fit.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.before()

    def read_back(self):
        """Keras does not read every file that it writes."""
        try:
            again = loaded(self.path("first.h5"))
        except Exception as e:
            raise Unfit(f"Keras cannot load it: {e}") from e
        self.names = again.metrics_names
        lines = []
        with np.printoptions(legacy="1.25"):  # 12, not np.int64(12)
            again.summary(print_fn=lines.append)
        self.summary = "\n".join(lines).split("\n")
        if any((a != b).any() for a, b in zip(self.start, again.get_weights())):
            raise Unfit("Keras loads other weights")
        if not np.allclose(self.test(again), self.tested, rtol=1e-4):
            raise Unfit("Keras's own copy evaluates otherwise")

    def whole_config(self):
        return {"class_name": type(self.model).__name__, "config": self.config}

    def path(self, name):
        return str(self.folder / f"{self.seed}.{name}")

    def randomise(self, rng):
        """Weights that differ from their first values; those of a variance stay positive."""
        weights = self.model.get_weights()
        positive = [w.ndim == 1 and (w == 1).all() for w in weights]
        drawn = [0.4 * rng.normal(size=w.shape) for w in weights]
        self.model.set_weights(
            [
                (np.abs(v) + 0.3 if p else v).astype(w.dtype)
                for v, w, p in zip(drawn, weights, positive)
            ]
        )

    def batch(self, arrays, begin=0):
        end = begin + BATCH if self.stateful else None
        return None if arrays is None else [a[begin:end] for a in arrays]

    def train(self, model):
        options = {"class_weight": self.classes} if self.classes else {}
        if self.weights:
            options["sample_weight"] = bare(self.batch(self.weights))
        return numbers(
            model.train_on_batch(bare(self.batch(self.x)), bare(self.batch(self.y)), **options)
        )

    def reset(self, model=None):
        if self.stateful:
            (model or self.model).reset_states()

    def test(self, model):
        weights = bare(self.weights) if self.weights else None
        size = BATCH if self.stateful else 3
        x, y = bare(self.x), bare(self.y)
        return numbers(model.evaluate(x, y, batch_size=size, sample_weight=weights, verbose=0))

    def before(self):
        """What Keras does before it saves, and what it then computes."""
        model, size = self.model, BATCH if self.stateful else 3
        for _ in range(self.pretrained):
            self.train(model)
        self.reset()
        model.save(self.path("first.h5"))
        self.config = plain(model.get_config())
        self.start = model.get_weights()
        self.predicted = listed(model.predict(bare(self.x), batch_size=size))
        self.reset()
        self.tested = self.test(model)
        self.reset()
        self.history, self.losses = {}, []
        if self.fits:
            self.history = model.fit(
                bare(self.x),
                bare(self.y),
                batch_size=4,
                epochs=2,
                verbose=0,
                validation_split=0.3,
                shuffle=False,
                sample_weight=bare(self.weights) if self.weights else None,
                class_weight=self.classes,
            ).history
        else:
            self.losses = [self.train(model) for _ in range(3)]
        self.after = model.get_weights()
        self.state = model.optimizer.get_weights()
        if not finite(
            [*self.predicted, *self.losses, *self.after, *self.state, *self.history.values()]
        ):
            raise Unfit("not finite")

    def steps(self):
        size = BATCH if self.stateful else 3
        more = {}
        if self.weights:
            more["sample_weight"] = [described(w) for w in self.weights]
        if self.classes:
            more["class_weight"] = [[k, v] for k, v in self.classes.items()]
        x, y = ([described(a) for a in arrays] for arrays in (self.x, self.y))
        all_of_it = {"x": x, "y": y, **more}
        small = dict(more)
        if self.weights:
            small["sample_weight"] = [described(w) for w in self.batch(self.weights)]
        small.update(
            x=[described(a) for a in self.batch(self.x)],
            y=[described(a) for a in self.batch(self.y)],
        )
        test = {k: v for k, v in all_of_it.items() if k != "class_weight"}
        steps = {
            "floatx": {"do": "floatx", "dtype": self.floatx},
            "load": {"do": "load", "path": self.path("first.h5")},
            "config": {"do": "to_json"},
            "names": {"do": "names"},
            "summary": {"do": "summary"},
            "start": {"do": "weights"},
        }
        for i, name in enumerate(m.name for m in self.draw.frozen):
            steps[f"freeze {i}"] = {"do": "freeze", "layer": name}
        steps["predicted"] = {"do": "predict", "x": x, "batch_size": size}
        steps["reset"] = {"do": "reset_states"}
        steps["tested"] = {"do": "evaluate", **test, "batch_size": size}
        steps["reset again"] = {"do": "reset_states"}
        if self.fits:
            steps["fit"] = {
                "do": "fit",
                **all_of_it,
                "batch_size": 4,
                "epochs": 2,
                "validation_split": 0.3,
            }
        else:
            for i in range(3):
                steps[f"train {i}"] = {"do": "train", **small}
        steps["after"] = {"do": "weights"}
        steps["state"] = {"do": "optimizer_weights"}
        steps["save"] = {"do": "save", "path": self.path("back.h5")}
        for suffix in ("h5", "safetensors"):
            steps[f"save {suffix}"] = {"do": "save_weights", "path": self.path(f"weights.{suffix}")}
        for suffix, by_name in (("h5", True), ("safetensors", False), ("h5", False)):
            again = f"{suffix}{' by name' if by_name else ''}"
            steps[f"make for {again}"] = {
                "do": "from_json",
                "text": json.dumps(self.whole_config()),
            }
            steps[f"load {again}"] = {
                "do": "load_weights",
                "path": self.path(f"weights.{suffix}"),
                "by_name": by_name,
            }
            steps[f"weights of {again}"] = {"do": "weights"}
        self.order = list(steps)
        return list(steps.values())

    def compare(self, got):
        if isinstance(got, dict):
            raise AssertionError(got["error"])
        got = dict(zip(self.order, got))
        K.set_floatx(self.floatx)
        tolerance = TOLERANCE[self.floatx]
        config = json.loads(got["config"])["config"]
        same_config(config, self.config, "configuration")
        assert got["names"] == self.names, (got["names"], self.names)
        if not self.stateful:  # Keras forgets the number of samples here and there
            ours = got["summary"].rstrip("\n").split("\n")
            other = [pair for pair in zip(ours, self.summary) if pair[0] != pair[1]]
            assert not other and len(ours) == len(self.summary), f"summary: {other}"
        equal(got["start"], self.start, "weights")
        agree(got["predicted"], self.predicted, "predictions", tolerance)
        agree(got["tested"], self.tested, "evaluate", tolerance)
        if self.fits:
            # Names of metrics that are objects get longer with each load.
            now = dict(zip(self.model.metrics_names, self.names))
            now.update({f"val_{k}": f"val_{v}" for k, v in now.items()})
            assert set(got["fit"]) == {now[k] for k in self.history}
            for name, values in self.history.items():
                agree(got["fit"][now[name]], values, f"history of {name}", tolerance)
        for i, losses in enumerate(self.losses):
            agree(got[f"train {i}"], losses, f"losses of step {i}", tolerance)
        agree(got["after"], self.after, "weights after training", tolerance)
        agree(got["state"], self.state, "state of the optimizer", tolerance)
        for name in ("h5", "safetensors", "h5 by name"):
            assert got[f"weights of {name}"] == got["after"], f"weights of {name}"
        self.goes_on(got, tolerance)

    def goes_on(self, got, tolerance):
        """In Python, from what C++ saved."""
        self.reset()
        self.model.reset_metrics()
        again = loaded(self.path("back.h5"))
        frozen = self.draw.frozen  # C++ writes it down, and weights in the order of such layers
        if not frozen:
            same_config(plain(again.get_config()), self.config, "configuration of what C++ saved")
            equal(got["after"], again.get_weights(), "weights that C++ saved")
        equal(got["state"], again.optimizer.get_weights(), "state that C++ saved")
        for i in range(2):
            agree(
                self.train(again),
                self.train(self.model),
                f"losses of step {i} after C++",
                tolerance,
            )
        ends = [listed(m.predict(bare(self.batch(self.x)))) for m in (again, self.model)]
        agree(*ends, "predictions at the end", tolerance)
        if frozen:
            return
        agree(again.get_weights(), self.model.get_weights(), "weights at the end", tolerance)
        other = models.model_from_json(self.model.to_json())
        other.load_weights(self.path("weights.h5"))
        equal(got["after"], other.get_weights(), "weights alone that C++ saved")


def play(seeds, folder):
    """The cases of these seeds: how many there were, and for each that differs its seed, what was said and the model."""
    cases, failed = [], []
    K.clear_session()
    floatx = K.floatx()
    try:
        for seed in seeds:
            try:
                with contextlib.redirect_stderr(io.StringIO()):
                    case = Case(seed, folder)
                    case.read_back()
                cases.append(case)
            except Exception as e:
                print(f"seed {seed} left out: {type(e).__name__}: {str(e)[:200]}", file=sys.stderr)
        results = all_steps([case.steps() for case in cases], folder)
        for case, got in zip(cases, results):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    case.compare(got)
            except Exception:  # also what Keras says about files
                failed.append((case.seed, traceback.format_exc(), case))
    finally:
        K.set_floatx(floatx)
    return len(cases), failed


def briefly(said):
    lines = [
        line
        for line in said.splitlines()
        if line.strip() and not line.startswith((" ", "Traceback"))
    ]
    return " ".join(lines)[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", help="first:last, these alone")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--batch", type=int, default=10, help="models of one process of C++")
    parser.add_argument("--verbose", action="store_true", help="with the places in the program")
    parser.add_argument("--keep", type=Path, help="a folder for what differs")
    options = parser.parse_args()
    first, last = 0, None
    if options.seeds:
        first, _, last = options.seeds.partition(":")
        first, last = int(first), int(last or int(first) + 1)
    else:
        first = int(time.time()) * 1000
    begin, played, found = time.time(), 0, 0
    while (first < last) if last else (time.time() - begin < options.seconds):
        seeds = range(first, min(first + options.batch, last or first + options.batch))
        first = seeds.stop
        with tempfile.TemporaryDirectory() as folder:
            count, failed = play(seeds, Path(folder))
            played += count
            found += len(failed)
            for seed, said, case in failed:
                print(f"seed {seed}: {said if options.verbose else briefly(said)}", flush=True)
                if options.keep:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{seed}.json").write_text(json.dumps(case.config, indent=1))
                    for file in Path(folder).glob(f"{seed}.*"):
                        shutil.copy(file, options.keep)
    print(f"{played} models, {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
