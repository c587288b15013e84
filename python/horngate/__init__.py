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
    if name == "export_onnx":
        from horngate.export import export_onnx

        return export_onnx
    if name in ("load", "save"):
        from horngate import files

        return getattr(files, name)
    if name == "set_engine":
        from horngate._engine_choice import set_engine

        return set_engine
    raise AttributeError(f"module 'horngate' has no attribute {name!r}")


# Importing a part of the package makes it an attribute; remove it, as it can still be imported by
# name.
for _name in [*globals()]:
    if _name not in __all__ and not _name.startswith("__"):
        del globals()[_name]
del _name
