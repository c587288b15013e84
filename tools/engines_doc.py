#!/usr/bin/env python3
"""Writes docs/engines.md from api/engine_support.tsv, the installer's list and the cases' skips.

--record first has the plug-ins themselves tell what they support (a built clone; tensorflow only where it is
installed) and writes api/engine_support.tsv.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import engine_names

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "engines.md"
SUPPORT = ROOT / "api" / "engine_support.tsv"
PINNED = ROOT / "python" / "horngate" / "_installer" / "engines.json"
ENGINES = engine_names.installable()

TEXT = """# Engines

What runs the graphs. `native` is built in and the default; the others are plug-ins that drive a library of their own, which is
looked for when the engine is used and never needed to build Horngate. Made by `make generate`; do not edit.

| engine | library | how | download | on disk |
|---|---|---|---|---|
| `native` | Horngate's own kernels, oneDNN, OpenBLAS | part of `libhorngate.so` | | |
{libraries}
| `null` | none | takes every graph and gives zeros, for tests of all that comes before a kernel | | |

## Getting one

```sh
horngate engines install tensorflow     # or {others}; several at once
horngate engines                        # which are installed and ready, and why others are not; --json
horngate engines test tensorflow        # the examples of all functions on it; in a clone also the cases
horngate engines remove tensorflow
```

Each goes into a folder of its own, `$HORNGATE_HOME/engines/<name>` (`HORNGATE_HOME` is `$HOME/.horngate` if it is not set), in the
version above, checked by its sha256 hash. Files come from the index that pip is configured for (`PIP_INDEX_URL`, `pip config`,
`--find-links` folders, ..). A download that was cut goes on where it was, an installation is whole or not there at all, and two at
once do no harm. `python -m horngate engines` is the same command. It runs on x86-64 Linux with Python 3.8 or later and pip; `theano`
needs Python 3.11 with `venv` and, to compile, g++ and Python's headers. `HORNGATE_PYTHON` names the Python to use.

An engine is looked for in the folder that its variable names (`HORNGATE_TENSORFLOW`, ..; nothing else then counts), in
`$HORNGATE_HOME/engines/<name>`, and in the packages of the running Python, so that `pip install tensorflow-cpu` or
`pip install onnxruntime` does as well.

## Choosing one

In order: `K::set_engine("tensorflow")` before the first function runs (`K.set_engine` in Python), which opens it and fails at once where
that is not possible; `KERAS_BACKEND=tensorflow`; `"backend": "tensorflow"` in
`keras.json`; else `native`. In Python also by module: `import horngate.tensorflow as K`, and for an unmodified Keras
`KERAS_BACKEND=horngate.tensorflow` ({modules}; `horngate` itself is `native`). A process has one
engine; `K.backend()` tells its name, and the line `Using TensorFlow backend.` goes to standard error (`HORNGATE_QUIET=1`: no line). A
name that does not exist is an error that lists those that do.

Variables are the same everywhere: `get_value` and `set_value` work as on `native`, and weights that were saved on one engine load on
another.

## Options

| variable | what it does |
|---|---|
{options}

## Limits

{limits}
- NaN and infinities are the same on `tensorflow` and `onnx` as on `native`. Zeros may have the other sign, and numbers below the
  normal ones may be 0 (`tensorflow` takes them for 0) or have fewer digits ([special_values.md](special_values.md)).

## What runs where

How each primitive runs on an engine, for float32: **direct** (by operators of the engine), **decomposed** (Horngate hands it over in
simpler primitives), **in parts** (decomposed, and some of it on `native`), **native** (that part of the graph runs on `native`, which is
said once per primitive; `HORNGATE_STRICT=1` makes it an error). Where two stand, it depends on attributes and types. Random numbers
come from `native` on purpose: the same seed gives the same numbers on every engine. What the primitives mean: [primitives.md](primitives.md).

{summary}

{table}

## Cases that are skipped

The cases of `tests/cases/` (values, gradients, errors) run on every engine.

{skips}
"""

# What all of them read; their own options are in the installer's list.
OPTIONS = {
    "HORNGATE_NUM_THREADS": "threads of `onnx` and `tensorflow` too, and of `cntk`'s matrix products (default: the CPUs that the process may use, or fewer where a control group has a quota)",
    "HORNGATE_HOME": "Horngate's folder (default `$HOME/.horngate`)",
    "HORNGATE_ENGINE_PATH": "more folders with plug-ins, separated by colons",
    "HORNGATE_QUIET": "`1`: neither the line that names the engine nor the one about long compilations of `theano`",
    "HORNGATE_PYTHON_PATHS": "folders of Python packages in which engines are looked for; the Python module sets it",
}


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def pinned():
    """The installer's list."""
    return json.loads(PINNED.read_text())


def libraries(engines):
    rows = []
    for name in ENGINES:
        engine = engines[name]
        title, how = engine["about"]["library"], engine["about"]["how"]
        size = sum(f["size"] for f in engine["files"]) / 1e6
        room = f"{engine['needs'] / 1e6:.0f} MB"
        rows.append(f"| `{name}` | {title} {engine['version']} | {how} | {size:.0f} MB | {room} |")
    return "\n".join(rows)


def options(engines):
    """{variable: what it does}, those of the engines first."""
    return {
        k: v for name in ENGINES for k, v in engines[name]["about"]["options"].items()
    } | OPTIONS


def limits(engines):
    lines = []
    for name in ENGINES:
        text = f"- `{name}`: {engines[name]['about']['limits']}"
        lines += textwrap.wrap(
            text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def support():
    """(names of the engines, rows) of the recorded table."""
    lines = [line.split("\t") for line in SUPPORT.read_text().splitlines()]
    return lines[0][1:], lines[1:]


def table():
    engines, rows = support()
    head = f"| primitive | {' | '.join(engines)} |\n|{'---|' * (len(engines) + 1)}"
    return "\n".join([head, *(f"| `{row[0]}` | {' | '.join(row[1:])} |" for row in rows)])


def summary():
    engines, rows = support()
    counts = (
        f"`{e}` {sum(r[i + 1].startswith('direct') for r in rows)}" for i, e in enumerate(engines)
    )
    return f"Of {len(rows)} primitives run directly: {', '.join(counts)}."


def skips():
    """The reasons of tests/cases/engines.py, for each engine that computes."""
    cases = load(ROOT / "tests" / "cases" / "engines.py", "engines_of_the_cases")
    lines = []
    for name in ("native", *ENGINES):
        engine = cases.find(name)
        lacks = [f"  - `{pattern}`: {why}" for pattern, why in engine.lacks.items()]
        lines.append(f"- `{name}`: {'' if lacks else 'none.'}".rstrip())
        lines += lacks
    lines.append(
        "- `null` computes no numbers: only shapes, types and errors that need no kernel are compared."
    )
    wider = [f"`{n}` {cases.find(n).tolerance:g}" for n in ENGINES if cases.find(n).tolerance != 1]
    if wider:
        lines.append("")
        lines.append(f"Errors may be larger than on `native` by a factor: {', '.join(wider)}.")
    return "\n".join(lines)


def render():
    engines = pinned()
    others = [name for name in ENGINES if name != "tensorflow"]
    modules = [f"`.{name}`" for name in others]
    return TEXT.format(
        libraries=libraries(engines),
        others=", ".join(others),
        modules=", ".join(["`horngate.native`", *modules]),
        options="\n".join(f"| `{name}` | {text} |" for name, text in options(engines).items()),
        limits=limits(engines),
        summary=summary(),
        table=table(),
        skips=skips(),
    )


def files():
    return {PAGE: render()}


def record():
    tests = ROOT / "build" / "bin" / "horngate_tests"
    words = [str(tests), "--gtest_filter=EngineSupport.*"]
    subprocess.run(words, env={**os.environ, "HORNGATE_WRITE_SUPPORT": "1"}, check=True)


if __name__ == "__main__":
    if "--record" in sys.argv:
        record()
    for path, text in files().items():
        path.write_text(text)
