"""The C++ headers have every function: names, arguments, defaults, examples."""

import os
import pathlib
import re
import shutil
import subprocess

import functions_catalogue
import headers
import pytest
from functions_catalogue import arguments_of, standing_signature

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON_ONLY = {
    "eager": "a decorator",
    "symbolic": "a decorator",
    "is_tensor": "the type says it",
}
NAMES = sorted({*functions_catalogue.NAMES} - set(PYTHON_ONLY))
# C++ keywords, and Python's **kwargs as a field.
NAME = {"switch": "switch_"}
EXTRA = {
    "function": ["name"],  # of kwargs
}


FUNCTIONS, AGGREGATES = headers.read()


def wanted_arguments(name):
    """[(name, default)]; a default that is missing is Ellipsis."""
    found = arguments_of(standing_signature(name), ...)
    return [(argument, default) for argument, default in found if default != "**"]


def flat(function):
    """The arguments with those of the options in their place."""
    found = []
    for argument in function.arguments:
        if argument.name == "options":
            found += AGGREGATES[argument.type]
        else:
            found.append(argument)
    return found


def same_default(python, cpp):
    """Whether a default of Python and one of C++ mean the same."""
    if python is ...:
        return cpp is None or cpp == "{}"  # in an aggregate every field has one
    if cpp is None:
        return False
    if python is None or python == "":
        return cpp in ("{}", "None", '""')
    if isinstance(python, bool):
        return cpp == str(python).lower()
    if isinstance(python, (int, float)):
        return float(cpp) == python
    if isinstance(python, str):
        return cpp.rpartition("::")[2].rstrip("_") == python
    numbers = [int(n) for n in re.findall(r"-?\b\d+\b", re.sub(r"<.*?>", "", cpp))]
    return numbers == list(numbers_in(python))


def numbers_in(value):
    for part in value if isinstance(value, tuple) else [value]:
        yield from numbers_in(part) if isinstance(part, tuple) else [part]


def overloads(name):
    return FUNCTIONS.get(NAME.get(name, name), [])


@pytest.mark.parametrize("name", NAMES)
def test_function(name):
    assert overloads(name), f"{name} is not declared"
    wanted = wanted_arguments(name)
    faults = []
    for function in overloads(name):
        got = flat(function)
        extra = EXTRA.get(name, [])
        names = [a.name for a in got]
        if names != [n for n, _ in wanted] + extra:
            faults.append(f"arguments {names}, wanted {[n for n, _ in wanted] + extra}")
            continue
        for argument, (_, default) in zip(got, wanted):
            if not same_default(default, argument.default):
                faults.append(f"{argument.name} = {argument.default}, wanted {default!r}")
    assert not faults, faults


@pytest.mark.parametrize("name", NAMES)
def test_comment_and_example(name):
    first = overloads(name)[0]
    assert first.comment and not first.comment[0].startswith(("Example", "@")), "a sentence first"
    calls = " ".join(first.examples)
    assert f"K::{NAME.get(name, name)}(" in calls, "an example that calls it"


# What the names in the examples are, where they are not tensors.
TYPES = {
    "step": "K::RnnStepFunction",
    "w": "K::Variable",
    "b": "K::Variable",
    "mean": "K::Variable",
    "total": "K::Variable",
    "ys": "K::Tensors",
}
WORDS = set("auto const bool float double int64_t if return true false std string".split())


def declared(example):
    """Names that the example itself declares."""
    found = set(re.findall(r"(?:auto|[\w:]+&?|[\w:]+>)\s+(\w+)\s*(?:=|\)|,\s*const)", example))
    for group in re.findall(r"auto\s*&?\s*\[([\w, ]+)\]", example):
        found |= {n.strip() for n in group.split(",")}
    return found


def program():
    """Every example of the headers as a function."""
    lines = ['#include "horngate/horngate.h"', "namespace K = horngate;"]
    for name, group in sorted(FUNCTIONS.items()):
        for i, example in enumerate(e for function in group for e in function.examples):
            own = declared(example)
            code = re.sub(r'"[^"]*"', "", example)
            used = re.findall(r"(?<![\w.:])([A-Za-z_]\w*)(?!\w|::)", code)
            used = [n for n in dict.fromkeys(used) if n not in own and n not in WORDS and n != "K"]
            lines.append(f"void example_of_{name}_{i}() {{")
            lines += [f"  {TYPES.get(n, 'K::Tensor')} {n};" for n in used]
            lines.append(f"  {example.rstrip(';')};")
            lines.append("}")
    return "\n".join(lines) + "\n"


def test_examples_compile(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler")
    source = tmp_path / "examples.cpp"
    source.write_text(program())
    flags = ["-std=c++20", "-fsyntax-only", "-w", "-I", str(ROOT / "include")]
    done = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
