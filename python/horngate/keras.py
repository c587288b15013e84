"""`import horngate.keras` before Keras: an unmodified Keras 1.0 to 2.3.1 takes Horngate as its backend.

KERAS_BACKEND is set unless it is set already. Not needed from Keras 2.2 on, where
KERAS_BACKEND=horngate is enough. docs/keras.md has more.
"""

import functools as _functools
import os as _os
import sys as _sys

from horngate.keras_compat import _hooks, _start


def _check_order():
    """Keras keeps the backend that it was imported with."""
    backend = getattr(_sys.modules.get("keras.backend"), "_BACKEND", None)
    if backend is not None and str(backend).split(".")[0] != "horngate":
        raise ImportError(
            f'horngate.keras: must be imported before keras, which already runs on "{backend}".'
        )


def _tell_children(spawn):
    """Processes that multiprocessing starts with a new Python need the finder too."""
    command_line = spawn.get_command_line
    line = _start.line_for(_os.path.abspath(_start.__file__))

    @_functools.wraps(command_line)
    def get_command_line(**options):
        words = command_line(**options)
        if "-c" in words:
            program = words.index("-c") + 1
            words[program] = f"{line}; {words[program]}"
        return words

    spawn.get_command_line = get_command_line


_check_order()
_os.environ.setdefault("KERAS_BACKEND", "horngate")
_start.watch()
_hooks.after_import("multiprocessing.spawn", _tell_children)
