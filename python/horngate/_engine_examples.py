"""`python -m horngate._engine_examples`: the examples of all functions on the engine that is chosen.

Results may differ in the last digits from engine to engine, so numbers are compared as numbers.
"""

import contextlib
import doctest
import io
import re
import sys
import warnings

import numpy as np

import horngate as K

_NUMBER = re.compile(r"-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)")
_RELATIVE, _ABSOLUTE = 1e-4, 1e-6


class Checker(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return super().check_output(want, got, optionflags) or _is_close(want, got)


def _is_close(want, got):
    """The same text, apart from spaces and the last digits of numbers."""
    want, got = ("".join(text.split()) for text in (want, got))
    if _NUMBER.sub("#", want) != _NUMBER.sub("#", got):
        return False
    numbers = ([float(n) for n in _NUMBER.findall(text)] for text in (want, got))
    return np.allclose(*numbers, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)


def run(name):
    """What is wrong with a function's example; empty if nothing is."""
    found = doctest.DocTestFinder(recurse=False).find(
        getattr(K, name), name, globs={"K": K, "np": np}
    )
    runner = doctest.DocTestRunner(Checker(), False, doctest.NORMALIZE_WHITESPACE)
    report = []
    for example in found:
        with contextlib.redirect_stdout(io.StringIO()):
            runner.run(example, out=report.append)
    return "".join(report)


def main():
    warnings.simplefilter("ignore", DeprecationWarning)  # old names have examples too
    # The example of `backend` names native.
    names = [n for n in sorted(K.__all__) if n != "backend"]
    wrong = {}
    for name in names:
        text = run(name)
        K.clear_session()
        if text:
            wrong[name] = text
    for text in wrong.values():
        print(text)
    print(f"{K.backend()}: examples of {len(names)} functions, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
