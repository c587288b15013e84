"""The examples in the docstrings run and give what they say."""

import doctest
import logging

import declarations
import horngate as K
import numpy as np
import pytest
from horngate import distributed as hvd
from horngate import profile

NOT_FUNCTIONS = {"CommError", "Average", "Sum", "Min", "Max", "Product"}

GLOBALS = {"K": K, "hvd": hvd, "np": np, "logging": logging, "profile": profile}


@pytest.mark.parametrize(
    "module, name",
    [
        *[(K, name) for name in (*sorted(K.__all__), *declarations.of_package())],
        *[(hvd, name) for name in hvd.__all__ if name not in NOT_FUNCTIONS],
        *[(profile, name) for name in profile.__all__],
    ],
)
def test_example(module, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that some write
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
