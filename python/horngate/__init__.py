"""Horngate: the Keras backend as one fast library.

`import horngate as K`, or KERAS_BACKEND=horngate. The names of this module are the functions of the
Keras backend and nothing else, because Keras copies them all.
"""

from horngate import _engine_paths  # noqa: F401  (where engines may be found)

try:
    from horngate import _tensor  # noqa: F401  (methods of tensors)
    from horngate._horngate import set_quiet as _set_quiet
    from horngate._horngate import version as __version__  # noqa: F401
    from horngate.backend import *  # noqa: F403
    from horngate.backend import __all__  # noqa: F401
except ImportError as _cause:
    import sys as _sys

    if "keras.backend" not in _sys.modules:
        raise
    # Keras hides an ImportError behind "Unable to import backend"; this one gets through.
    raise RuntimeError(f"horngate cannot be imported: {_cause}") from _cause

from horngate import keras_compat as _keras_compat

if _keras_compat.keras_takes_us():
    _keras_compat.check_module()
    _set_quiet(True)  # Keras says "Using horngate backend." itself
else:
    from horngate import _engine_choice

    _engine_choice.say_engine()
_keras_compat.watch()


def __getattr__(name):
    # Not one of the backend's functions, and therefore not among the names that Keras copies.
    places = {
        "explain_gradient": "look",
        "export_onnx": "export",
        "load": "files",
        "plot_function": "look",
        "save": "files",
        "set_engine": "_engine_choice",
        "set_log_handler": "_log",
    }
    if name not in places:
        raise AttributeError(f"module 'horngate' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"horngate.{places[name]}"), name)


# Importing a part of the package makes it an attribute; remove it, as it can still be imported by
# name.
for _name in [*globals()]:
    if _name not in __all__ and not _name.startswith("__"):
        del globals()[_name]
del _name
