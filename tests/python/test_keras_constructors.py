"""Names, order and defaults of all constructors of the C++ model library against `inspect` of Keras 2.3.1."""

import inspect
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "models"), str(ROOT / "tools")]
import headers  # noqa: E402
import keras_cases  # noqa: E402, F401  (Keras on our module)
from keras import (  # noqa: E402
    callbacks,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    optimizers,
    regularizers,
)

FOLDER = ROOT / "include" / "horngate" / "keras"


STRUCTS = {}


def chosen(default, axes):
    found = re.match(r"N_is_2 \? (\w+) : (\w+)$", default or "")
    return found[1 if axes == "2" else 2] if found else default


def declared(space=None):
    """Functions of the headers, and structs, with macros of common fields written out and templates once."""
    functions, structs = {}, {}
    for path in sorted(FOLDER.glob("*.h")):
        text = path.read_text()
        inside = "\n".join(
            re.findall(
                r"^namespace (?:losses|metrics) \{(.*?)^\}  // namespace (?:losses|metrics)$",
                text,
                re.S | re.M,
            )
        )
        text = inside if space == path.stem else text.replace(inside, "") if inside else text
        text = re.sub(r"^template <size_t N>\n", "", text, flags=re.M)
        text = re.sub(r"^  HORNGATE_KERAS_\w+\n", "", text, flags=re.M)
        # Types with brackets, and defaults that depend on the number of axes.
        text = re.sub(r"^  std::function<[^;]*?> (\w+) =", r"  Function \1 =", text, flags=re.M)
        text = text.replace("= N == 2 ?", "= N_is_2 ?")
        text = headers._without_macros(re.sub(r"#define (?:.*\\\n)*.*\n", "", text))
        for kind, name, body in headers._blocks(text):
            if kind == "struct":
                structs[name] = headers._fields(body)
        for found in re.finditer(r"^using (\w+) = (\w+)(?:<(\d+)>)?;", text, re.M):
            fields = structs.get(found[2]) or STRUCTS.get(found[2], [])
            structs[found[1]] = [
                headers.Argument(f.type, f.name, chosen(f.default, found[3])) for f in fields
            ]
        for comment, declaration in headers._declarations(text):
            function = headers._function(declaration, comment, path.name)
            if function:
                functions[function.name] = function
    return functions, structs


FUNCTIONS, STRUCTS = declared()
OF_LOSSES, LOSS_STRUCTS = declared("losses")
OF_METRICS, METRIC_STRUCTS = declared("metrics")


def flat(function, structs):
    found = []
    for argument in function.arguments:
        kind = re.sub(r"<.*>", "", argument.type)
        if argument.name == "options" or kind.endswith("Options"):
            found += structs.get(kind, STRUCTS.get(kind, METRIC_STRUCTS.get(kind, [])))
        elif argument.name:
            found.append(argument)
    return [(ALIASES.get((function.name, a.name), a.name), a.default) for a in found]


def classes(module, base):
    return sorted(
        n
        for n, c in vars(module).items()
        if inspect.isclass(c)
        and issubclass(c, base)
        and c.__name__ == n
        and c.__module__.startswith("keras.")
        and not n.startswith("_")
    )


ABSTRACT = {
    "Layer",
    "InputSpec",
    "Wrapper",
    "Recurrent",
    "ConvRecurrent2D",
    "Merge",
    "MaxoutDense",
    "Highway",
}
LAYERS = [n for n in classes(layers, layers.Layer) if n not in ABSTRACT]
OPTIMIZERS = [
    n for n in classes(optimizers, optimizers.Optimizer) if n not in ("Optimizer", "TFOptimizer")
]
LOSSES = [n for n in classes(losses, losses.Loss) if n not in ("Loss", "LossFunctionWrapper")]
METRICS = [
    n
    for n in classes(metrics, metrics.Metric)
    if n not in ("Metric", "Reduce", "SensitivitySpecificityBase", "Layer")
]
CALLBACKS = [
    "ModelCheckpoint",
    "EarlyStopping",
    "ReduceLROnPlateau",
    "LearningRateScheduler",
    "TerminateOnNaN",
    "CSVLogger",
    "TensorBoard",
    "LambdaCallback",
    "BaseLogger",
    "ProgbarLogger",
]
INITIALIZERS = [
    n for n in classes(initializers, initializers.Initializer) if n != "Initializer"
] + ["lecun_uniform", "lecun_normal", "glorot_uniform", "glorot_normal", "he_uniform", "he_normal"]
CONSTRAINTS = [n for n in classes(constraints, constraints.Constraint) if n != "Constraint"]
REGULARIZERS = ["L1L2", "l1", "l2", "l1_l2"]

# What is otherwise, and why.
OTHERWISE = {
    "InputLayer": "Input makes it",
    "CuDNNGRU": "files that have one give a GRU",
    "CuDNNLSTM": "files that have one give an LSTM",
    "Lambda": "a C++ function with the name under which it is given again",
}
ALIASES = {("RNN", "cells"): "cell", ("MeanMetricWrapper", "call"): "fn"}
# Python's ways of giving something that C++ has no use for.
LEFT_OUT = {
    "ReLU": set(),
    "TensorBoard": {
        "histogram_freq",
        "batch_size",
        "write_graph",
        "write_grads",
        "write_images",
        "embeddings_freq",
        "embeddings_layer_names",
        "embeddings_metadata",
        "embeddings_data",
    },
    "LambdaCallback": set(),
    "MeanMetricWrapper": {"name", "dtype"},
}


def wanted(constructor):
    """[(name, default)] without *args and **kwargs."""
    found = inspect.signature(constructor).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [(p.name, p.default) for p in found if p.kind not in kinds and p.name != "self"]


def same_default(python, cpp):
    if python is inspect.Parameter.empty:
        return True
    if cpp is None:
        return False
    cpp = cpp.strip()
    if python is None:
        return cpp in ("{}", "None", '""', "default_data_format<N>()")
    if isinstance(python, bool):
        return cpp == str(python).lower()
    if isinstance(python, str):
        return (
            cpp in (f'"{python}"', "{}")
            or cpp.rpartition("::")[2].rstrip("_") == python
            or (python == "channels_last" and "default_data_format" in cpp)
        )
    if isinstance(python, (int, float)):
        return cpp not in ("{}",) and float(cpp.rstrip("f")) == python
    numbers = [int(n) for n in re.findall(r"-?\d+", str(python))]
    got = [int(n) for n in re.findall(r"-?\b\d+\b", re.sub(r"<.*?>", "", cpp))]
    # One number stands for as many as there are axes.
    return bool(got) and (numbers == got or (len(set(got)) == 1 and set(numbers) == set(got)))


CASES = (
    [("layer", n, getattr(layers, n), FUNCTIONS, STRUCTS) for n in LAYERS]
    + [("optimizer", n, getattr(optimizers, n), FUNCTIONS, STRUCTS) for n in OPTIMIZERS]
    + [("loss", n, getattr(losses, n), OF_LOSSES, LOSS_STRUCTS) for n in LOSSES]
    + [("metric", n, getattr(metrics, n), OF_METRICS, METRIC_STRUCTS) for n in METRICS]
    + [("callback", n, getattr(callbacks, n), FUNCTIONS, STRUCTS) for n in CALLBACKS]
    + [("initializer", n, getattr(initializers, n), FUNCTIONS, STRUCTS) for n in INITIALIZERS]
    + [("constraint", n, getattr(constraints, n), FUNCTIONS, STRUCTS) for n in CONSTRAINTS]
    + [("regularizer", n, getattr(regularizers, n), FUNCTIONS, STRUCTS) for n in REGULARIZERS]
)


@pytest.mark.parametrize(
    "kind, name, constructor, functions, structs", CASES, ids=[f"{k}-{n}" for k, n, *_ in CASES]
)
def test_constructor(kind, name, constructor, functions, structs):
    if OTHERWISE.get(name):
        return
    assert name in functions, f"{name} is not declared"
    got = flat(functions[name], structs)
    left_out = LEFT_OUT.get(name, set())
    theirs = [(n, d) for n, d in wanted(constructor) if n not in left_out]
    names = [n for n, _ in theirs]
    ours = [n for n, _ in got if n in names]
    assert ours == names, f"{name}: {[n for n, _ in got]}, not {names}"
    defaults = dict(got)
    wrong = [(n, d, defaults[n]) for n, d in theirs if not same_default(d, defaults[n])]
    assert not wrong, f"{name}: (name, Keras, C++): {wrong}"


def test_all_are_there():
    assert len(LAYERS) >= 76 and len(OPTIMIZERS) == 7 and len(LOSSES) >= 13 and len(METRICS) >= 30
