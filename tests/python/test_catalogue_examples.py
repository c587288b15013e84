"""Every example of the catalogue runs and gives what the catalogue says."""

import ast
import pathlib
import types
import warnings

import horngate as K
import numpy as np
import pytest
import yaml
from functions_catalogue import FUNCTIONS

HERE = pathlib.Path(__file__).parent
# YAML makes numbers of some values; all of ours are Python code.
INSTEAD = yaml.load((HERE / "catalogue_examples.yaml").read_text(), Loader=yaml.BaseLoader)
EXAMPLES = {
    f"{entry['name']}/{number}": example
    for entry in FUNCTIONS.values()
    for number, example in enumerate(entry["examples"])
}
WORDS = {"K": K, "np": np, "numpy": np, "keras": types.SimpleNamespace(backend=K)}


def value_of(code, words):
    """What the last expression of some statements gives."""
    tree = ast.parse(code)
    last = tree.body.pop()
    exec(compile(tree, "<example>", "exec"), words)
    return eval(compile(ast.Expression(last.value), "<example>", "eval"), words)


def check(code, expected):
    words = dict(WORDS)
    if expected == "ValueError":
        with pytest.raises(ValueError):
            value_of(code, words)
        return
    got = value_of(code, words)
    wanted = eval(expected, {"array": np.array, "float32": np.float32, "int32": np.int32})
    assert type(got) is type(wanted)
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    else:
        assert got == wanted


@pytest.mark.parametrize("which", EXAMPLES)
def test_example(which):
    example = INSTEAD.get(which)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if example:
            check(example["code"], example["gives"])
        else:
            check(EXAMPLES[which]["code"], str(EXAMPLES[which]["expected"]))


def test_replacements_have_reasons():
    """What runs as it stands needs none, and none is for an example that is not there."""
    assert len(EXAMPLES) == 64
    assert set(INSTEAD) <= set(EXAMPLES)
    for which, example in INSTEAD.items():
        assert example["why"], which
        literal = EXAMPLES[which]
        same = literal["code"] == example["code"] and str(literal["expected"]) == example["gives"]
        assert not same, f"{which} runs as it stands"
