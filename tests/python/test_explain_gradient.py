"""K.explain_gradient: why a gradient is None or zero, and what to do; strict gradients and Keras say the same."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import horngate as K
import numpy as np
import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from fuzz import data, generate, source  # noqa: E402

NONE = "The gradient is None because "
ZERO = "The gradient is zero everywhere because "
PROGRAMS = 250


def explained(loss, x):
    """The text; it says None exactly when gradients does."""
    text = K.explain_gradient(loss, x)
    assert text.startswith(NONE) == (K.gradients(loss, [x])[0] is None), text
    return text


def build(program):
    """The tensors of a program of the fuzzer, by name."""
    scope = {"K": K, "np": np, "data": {}}
    for leaf in program["leaves"]:
        if leaf["kind"] != "placeholder":
            scope["data"][leaf["name"]] = data.make(leaf["data"], leaf["dims"], leaf["dtype"])
    lines = source.graph({**program, "gradients": [], "updates": []})
    exec("\n".join(lines), scope)
    names = [x["name"] for x in program["leaves"]]
    names += [name for op in program["ops"] for name in op["out"]]
    return {name: scope[name] for name in names if K.is_tensor(scope.get(name))}


def test_random_graphs():
    """Any tensor of a random graph by any other: hundreds of None, with and without a path."""
    kinds = {"none": 0, "no path": 0, "zero": 0, "flows": 0}
    for seed in range(PROGRAMS):
        program = generate.program_of(seed)
        if program is None:
            continue
        tensors = list(build(program).values())
        rng = np.random.default_rng(seed)
        for _ in range(6):
            x, loss = (tensors[i] for i in sorted(rng.integers(0, len(tensors), 2)))
            text = explained(loss, x)
            if text.startswith(ZERO):
                kinds["zero"] += 1
            elif not text.startswith(NONE):
                kinds["flows"] += 1
            else:
                kinds["no path" if "does not depend on" in text else "none"] += 1
        K.clear_session()
    print(kinds)
    assert min(kinds["none"], kinds["no path"], kinds["flows"]) > 30, kinds


def test_what_is_called_zero_is_zero():
    """In random sums of terms with and without a derivative."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        x = K.variable(rng.normal(size=(2, 3)))
        terms = [
            K.sign(x) * 2,
            K.exp(K.sign(x)),
            K.concatenate([K.sign(x), K.round(x)])[:, 2:5],
            K.dot(K.sign(x), K.constant(rng.normal(size=(3, 3)))),
            x * K.zeros_like(x),
            K.round(x),
            K.stop_gradient(x),
            K.tanh(x),
            K.relu(x) - x,
        ]
        chosen = rng.choice(len(terms), size=rng.integers(1, 4), replace=False)
        loss = sum(K.sum(terms[i]) for i in chosen)
        text, [gradient] = explained(loss, x), K.gradients(loss, [x])
        if gradient is not None:
            is_zero = not K.eval(gradient).any()
            assert text.startswith(ZERO) == is_zero == (max(chosen) < 7), (text, chosen)
        seen.add(text.split()[3])
    assert seen == {"None", "zero", "not"}


def test_python_names_of_operators_and_the_remedy():
    w = K.variable([1.0, 2.0], name="w")
    text = explained(K.mean(K.cast(w > 1, "float32")), w)
    assert "because greater has no gradient (node " in text
    assert text.endswith("which passes gradients to the tensors that it chooses from.")
    assert "sign passes on zero" in explained(K.sum(K.sign(w)), w)


def test_strict():
    w = K.variable([1.0, 2.0], name="w")
    loss = K.sum(K.round(w))
    with pytest.raises(ValueError) as error:
        K.gradients(loss, [w], strict=True)
    assert str(error.value) == "gradients (strict): " + K.explain_gradient(loss, w)[len(NONE) :]
    assert K.gradients(loss, [w]) == [None]
    assert K.gradients(K.sum(w), [w], strict=True)[0] is not None


def test_it_says_nothing_by_itself(recwarn):
    w = K.variable([1.0])
    K.gradients(K.sum(K.round(w)), w)
    assert not list(recwarn)


def test_wrong_arguments():
    w = K.variable([1.0])
    with pytest.raises(TypeError, match="explain_gradient: x must be a tensor; got int."):
        K.explain_gradient(w, 3)
    with pytest.raises(TypeError, match="explain_gradient: loss must be a tensor; got NoneType."):
        K.explain_gradient(None, w)


PROGRAM = """
import numpy as np
from keras import backend as K, layers, models
model = models.Sequential([layers.Dense(2, input_shape=(3,), name="cut"), layers.Lambda(K.round)])
model.compile("sgd", "mse")
try:
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
except ValueError as e:
    print(e)
"""


@pytest.mark.skipif(
    not importlib.util.find_spec("keras"), reason="Keras is not installed (make build does it)"
)
@pytest.mark.parametrize("without", ["", "None gradients"])
def test_keras_optimizers(without, tmp_path):
    env = {**os.environ, "KERAS_BACKEND": "horngate", "KERAS_HOME": str(tmp_path)}
    env["HORNGATE_KERAS_COMPAT_WITHOUT"] = without
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=True
    )
    assert done.stdout.startswith("An operation has `None` for gradient."), done.stderr
    if without:
        assert len(done.stdout.splitlines()) == 1
        return
    _, *lines = done.stdout.splitlines()
    assert lines[0].startswith('cut/kernel: round has no gradient (node "')
    assert 'between the loss and variable "cut/kernel"): it is flat between its jumps.' in lines[0]
    assert lines[1].startswith("cut/bias: round has no gradient")
