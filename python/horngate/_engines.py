"""`python -m horngate engines`: lists engines, installs, removes and tests them."""

import json
import os
import subprocess
import sys
from pathlib import Path

from horngate import _horngate as _hg
from horngate._installer.command import main as _installer

_USAGE = """usage: horngate engines [--json]
       horngate engines install|remove NAME..
       horngate engines test NAME [--all] [arguments of pytest]"""


def rows():
    """What is known about every engine, as in `horngate engines --json`."""
    out = []
    for row in _hg.list_engines():
        name, problem = row["name"], row["problem"]
        for words in (f"engine {name}: ", "could not be opened: "):
            problem = problem.removeprefix(words)
        out.append(
            {
                "name": name,
                "chosen": name == _hg.backend(),
                "installed": not row["absent"],
                "ready": not problem,
                "version": row["version"],
                "where": row["where"],
                "plugin": row["plugin"],
                "problem": problem,
            }
        )
    return out


def _state(row):
    if row["ready"]:
        return "ready          " + (row["where"] or row["plugin"] or "built in")
    if not row["installed"]:
        return f"not installed  `horngate engines install {row['name']}` gets it"
    return "not ready      " + row["problem"]


def show(names=None):
    """Prints a line for each; returns whether all are ready."""
    shown = [r for r in rows() if names is None or r["name"] in names]
    for row in shown:
        version = row["version"] if row["ready"] else "-"
        print(f"{'*' if row['chosen'] else ' '} {row['name']:12} {version:8} {_state(row)}")
    return all(r["ready"] for r in shown)


def cases_folder():
    """tests/cases of the clone that this module is part of, or None."""
    folder = Path(__file__).resolve().parents[2] / "tests" / "cases"
    return folder if (folder / "harness.py").is_file() else None


def test(name, arguments):
    """Runs the examples of all functions on an engine and, in a clone, the cases; returns an exit
    code."""
    known = {r["name"]: r["problem"] for r in rows()}
    if known.get(name, "unknown"):
        why = (
            f"it is not ready: {known[name]}" if name in known else f"there are {', '.join(known)}."
        )
        print(f'horngate engines test: "{name}" cannot be tested; {why}', file=sys.stderr)
        return 1 if name in known else 2
    environment = {**os.environ, "KERAS_BACKEND": name, "HORNGATE_NO_CONFIG_WRITE": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    environment.setdefault("HORNGATE_THEANO_MODE", "FAST_COMPILE")
    words = [sys.executable, "-m", "horngate._engine_examples"]
    code = 0 if name == "null" else subprocess.run(words, env=environment).returncode
    cases = cases_folder()
    if code or cases is None:
        if not code:
            print("More cases are in a clone of Horngate: `horngate engines test` runs them there.")
        return code
    environment.update(HORNGATE_TEST_ENGINES=name, KERAS_BACKEND="native", HORNGATE_QUIET="1")
    if "--all" in arguments:
        environment["HORNGATE_TEST_ALL"] = "1"
        arguments = [a for a in arguments if a != "--all"]
    words = [sys.executable, "-m", "pytest", str(cases), "-q", "-rs", *arguments]
    return subprocess.run(words, env=environment, cwd=cases.parents[1]).returncode


def main(arguments):
    """The command; returns an exit code."""
    try:
        return _run(arguments)
    except (ValueError, RuntimeError) as e:  # from keras.json or KERAS_BACKEND
        print(e, file=sys.stderr)
        return 1


def _run(arguments):
    what = arguments[0] if arguments else ""
    if what in ("install", "remove"):
        code = _installer(arguments)
        if code == 0 and what == "install":
            return 0 if show(arguments[1:]) else 1
        return code
    if what == "test" and len(arguments) > 1:
        return test(arguments[1], arguments[2:])
    if what == "--json" and len(arguments) == 1:
        print(json.dumps(rows(), indent=1))
        return 0
    if not arguments:
        show()
        return 0
    print(_USAGE, file=sys.stderr)
    return 2
