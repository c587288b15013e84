"""The examples in the docstrings run and give what they say."""

import doctest
import logging

import horngate as K
import numpy as np
import pytest
from horngate import distributed as hvd

# Beside the functions of the backend; their examples need no file.
OTHERS = ["explain_gradient", "set_log_handler"]

NOT_FUNCTIONS = {"CommError", "Average", "Sum", "Min", "Max", "Product"}

GLOBALS = {"K": K, "hvd": hvd, "np": np, "logging": logging}


@pytest.mark.parametrize(
    "module, name",
    [
        *[(K, name) for name in (*sorted(K.__all__), *OTHERS)],
        *[(hvd, name) for name in hvd.__all__ if name not in NOT_FUNCTIONS],
    ],
)
def test_example(module, name):
    function = getattr(module, name)
    examples = doctest.DocTestFinder(recurse=False).find(function, name, globs=GLOBALS)
    assert examples and examples[0].examples, f"{name} has no example"
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    report = []
    runner.run(examples[0], out=report.append)
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize("name", sorted(K.__all__))
def test_docstring_names_every_parameter(name):
    import inspect

    function = getattr(K, name)
    text = inspect.getdoc(function)
    first = text.splitlines()[0]
    assert first.endswith("."), "a sentence first"
    for parameter in inspect.signature(function).parameters:
        assert f"{parameter}" in text.split("Args:")[1], parameter
