"""Tells engines where this Python keeps packages, so that those installed there are found."""

import os
import sys

# What was already set, by hand or by the program that started this one, comes last.
_own = [p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages")]
_set = os.environ.get("HORNGATE_PYTHON_PATHS", "").split(os.pathsep)
os.environ["HORNGATE_PYTHON_PATHS"] = os.pathsep.join(dict.fromkeys(_own + [p for p in _set if p]))
