"""Layers of C++ beside those of an unmodified Keras 2.3.1: the same configuration, weights and inputs, the same results.

A case is a Keras model. `check(models)` writes them down, lets tests/models/tools/case_runner.cpp compute outputs, gradients
of sum(output^2), losses, updated weights and the configuration, and compares with what Keras computes.
"""

import copy
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")


def runner(name="case_runner"):
    """A program of the build; HORNGATE_KERAS_RUNNERS names another folder."""
    folder = os.environ.get("HORNGATE_KERAS_RUNNERS")
    return str(Path(folder or Path(__file__).resolve().parents[2] / "build" / "bin") / name)


def described(array):
    array = np.asarray(array)
    data = [float(v) for v in array.astype("float64").ravel()]
    return {"shape": list(array.shape), "dtype": str(array.dtype), "data": data}


def array_of(description):
    data = np.array(description["data"], "float64").reshape(description["shape"])
    return data.astype(description["dtype"])


def plain(value):
    """A configuration as JSON has it: tuples are lists."""
    if hasattr(value, "item"):
        return value.item()
    return json.loads(
        json.dumps(value, default=lambda v: v.item() if hasattr(v, "item") else list(v))
    )


class Batches(list):
    """Inputs of several calls in a row: for layers with states."""


def keras_results(model, batches, training):
    """Outputs, gradients (None where nothing connects), losses of each call, and weights afterwards."""
    from keras import backend as K

    loss = sum(K.sum(K.square(y)) for y in model.outputs)
    wanted = list(model.inputs) + list(model.trainable_weights)
    gradients = K.gradients(loss, wanted)
    there = [g for g in gradients if g is not None]
    losses = list(model.losses)
    updates = list(model.updates) if training else list(model.state_updates)
    made_by = [y._keras_history for y in model.outputs]
    masks = [layer._inbound_nodes[node].output_masks[i] for layer, node, i in made_by]
    given = [K.cast(m, "float32") for m in masks if m is not None]
    fed = list(model.inputs) + [K.learning_phase()]
    f = K.function(fed, list(model.outputs) + there + losses + given, updates=updates)
    outputs, of_gradients, of_losses, of_masks = [], [], [], []
    for inputs in batches:
        results = f(list(inputs) + [1.0 if training else 0.0])
        n = len(model.outputs)
        outputs += results[:n]
        of_gradients += results[n : n + len(there)]
        of_losses += results[n + len(there) : n + len(there) + len(losses)]
        of_masks += results[n + len(there) + len(losses) :]
    return {
        "outputs": outputs,
        "gradients": of_gradients,
        "without": [g is None for g in gradients],
        "losses": of_losses,
        "masks": of_masks,
        "unmasked": [m is None for m in masks],
        "weights": model.get_weights(),
    }


class Seed(int):
    """Instead of True: train with seeds of random numbers that are the same in both languages. Initializers must not
    draw any: zeros."""

    def __bool__(self):
        return True


def mt19937_64(seed):
    """The numbers of std::mt19937_64, of which the library takes the seeds that nobody gave."""
    n, ones = 312, (1 << 64) - 1
    state = [seed]
    for i in range(1, n):
        state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & ones)
    at = n
    while True:
        if at == n:
            for i in range(n):
                x = (state[i] & 0xFFFFFFFF80000000) | (state[(i + 1) % n] & 0x7FFFFFFF)
                state[i] = state[(i + 156) % n] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
            at = 0
        x = state[at]
        at += 1
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000 & ones
        yield x ^ (x >> 43)


def rebuilt(model, seed):
    """The model again, with seeds as C++ draws them."""
    from horngate import _nn, _random

    numbers = mt19937_64(seed)
    with pytest.MonkeyPatch.context() as patch:
        for module in (_nn, _random):
            patch.setattr(module, "_own_seed", lambda s: next(numbers) >> 1 if s is None else s)
        again = type(model).from_config(model.get_config())
    again.set_weights(model.get_weights())
    return again


def run(written):
    """What the program makes of described cases: one result each, which may be {"error": text}."""
    with tempfile.TemporaryDirectory() as folder:
        case, result = os.path.join(folder, "case.json"), os.path.join(folder, "result.json")
        with open(case, "w") as f:
            json.dump(written, f)
        if os.environ.get("HORNGATE_KERAS_KEEP"):
            Path(os.environ["HORNGATE_KERAS_KEEP"]).write_text(json.dumps(written))
        environment = dict(os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1")
        done = subprocess.run(
            [runner(), case, result], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, (done.returncode, done.stderr)
        with open(result) as f:
            return json.load(f)


def all_steps(cases, folder):
    """What C++ does with each list of steps, all in one process."""
    case, result = folder / "cases.json", folder / "results.json"
    case.write_text(json.dumps(cases))
    environment = dict(os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1")
    command = [runner("model_runner"), str(case), str(result)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return json.loads(result.read_text())


def agree(ours, theirs, said, tolerance=2e-5):
    assert len(ours) == len(theirs), said
    for a, b in zip(ours, theirs):
        a = array_of(a) if isinstance(a, dict) else np.asarray(a)
        assert a.shape == np.shape(b), said
        scale = np.max(np.abs(b), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * (1 + scale), err_msg=said)


def equal(ours, theirs, said):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(array_of(a), b, err_msg=said)


def without_seeds(config):
    """Keras counts them up when it initialises."""
    return re.sub(r'"seed": \d+', '"seed": 0', json.dumps(plain(config), sort_keys=True))


def run_steps(steps, folder):
    """What the steps of a program give in C++ (tests/models/tools/model_runner.cpp)."""
    (got,) = all_steps([steps], Path(folder))
    assert not isinstance(got, dict), got["error"]
    return got


def check(cases, rtol=1e-5, atol=1e-5, edit=None):
    """`cases`: triples of a Keras model, its inputs (or Batches of them), and whether to train. Raises AssertionError
    with the case. `edit` may change what C++ gets."""
    written, wanted = [], []
    for model, inputs, training in cases:
        batches = inputs if isinstance(inputs, Batches) else [inputs]
        batches = [list(b) if isinstance(b, (list, tuple)) else [b] for b in batches]
        names = [w.name for layer in model.layers for w in layer.weights]
        seed = None
        if isinstance(training, Seed):
            seed = int(training)
            model = rebuilt(model, seed)
        config = plain({"class_name": type(model).__name__, "config": model.get_config()})
        written.append(
            {
                "model": config,
                "weights": [described(w) for w in model.get_weights()],
                "batches": [[described(x) for x in inputs] for inputs in batches],
                "training": bool(training),
                "seed": seed,
                "floatx": keras.backend.floatx(),
            }
        )
        if edit:
            written[-1] = edit(copy.deepcopy(written[-1]))
        wanted.append((config, dict(keras_results(model, batches, bool(training)), names=names)))
    got = run(written)
    for i, (one, (config, want)) in enumerate(zip(got, wanted)):
        said = f"case {i}: {json.dumps(config)[:2000]}"
        assert "error" not in one, f"{said}: {one['error']}"
        compare(one, config, want, said, rtol, atol)


def compare(got, config, want, said, rtol, atol):
    assert got["config"] == config["config"], (
        f"{said}: another configuration: {json.dumps(got['config'])}"
    )
    assert got["without_gradient"] == want["without"], said
    assert got["unmasked"] == want["unmasked"], f"{said}: other outputs have masks"
    assert len(got["weight_names"]) == len(want["names"]), said
    for ours, theirs in zip(got["weight_names"], want["names"]):
        # A name that was there before in this process gets a number.
        scope, rest = theirs.split("/", 1)
        assert ours in (theirs, re.sub(r"_\d+$", "", scope) + "/" + rest), (
            f"{said}: {ours}, not {theirs}"
        )
    losses = [float(array_of(a)) for a in got["losses"]]
    lists = {
        "outputs": ([array_of(a) for a in got["outputs"]], want["outputs"]),
        "gradients": ([array_of(a) for a in got["gradients"]], want["gradients"]),
        "losses": (sorted(losses), sorted(float(v) for v in want["losses"])),
        "weights": ([array_of(a) for a in got["weights_after"]], want["weights"]),
        "masks": ([array_of(a) for a in got["masks"]], want["masks"]),
    }
    for what, (ours, theirs) in lists.items():
        assert len(ours) == len(theirs), f"{said}: {len(ours)} {what}, not {len(theirs)}"
        for k, (a, b) in enumerate(zip(ours, theirs)):
            assert np.shape(a) == np.shape(b), (
                f"{said}: {what} {k}: shape {np.shape(a)}, not {np.shape(b)}"
            )
            scale = float(np.max(np.abs(b), initial=0.0)) if np.size(b) else 0.0
            np.testing.assert_allclose(
                a, b, rtol=rtol, atol=atol * (1 + scale), err_msg=f"{said}: {what} {k}"
            )
