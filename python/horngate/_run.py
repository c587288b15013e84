"""`python -m horngate run`: a program whose Keras, of any edition from 1.0 on, runs on Horngate."""

import os
import runpy
import sys

_USAGE = """usage: python -m horngate run PROGRAM.py [ARGUMENTS..]
       python -m horngate run -m MODULE [ARGUMENTS..]"""


def main(arguments):
    """Runs it in this process, as `python PROGRAM.py` would; returns an exit code for wrong usage."""
    is_module = arguments[:1] == ["-m"]
    words = arguments[1:] if is_module else arguments
    if not words or words[0].startswith("-"):
        print(_USAGE, file=sys.stderr)
        return 2
    if not is_module and not os.path.exists(words[0]):
        print(f'horngate run: there is no file "{words[0]}".', file=sys.stderr)
        return 2
    from horngate import keras  # noqa: F401  (from here on Keras takes us)

    sys.argv[:] = words
    if is_module:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")
    return 0
