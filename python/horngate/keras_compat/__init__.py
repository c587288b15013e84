"""Makes Keras 1.0 to 2.3.1 work on today's Python, NumPy and h5py, and with a backend of our name.

On when Keras takes horngate as its backend, unless HORNGATE_KERAS_COMPAT=0;
HORNGATE_KERAS_COMPAT_WITHOUT="MeanIoU,np.load" leaves single items out. No file of Keras is changed.
docs/keras.md lists each change with its reason.
"""

import os
import sys

from horngate._engine_names import ENGINES
from horngate.keras_compat import _hooks

__all__ = ["ITEMS", "install", "is_installed", "is_wanted"]

_installed = False


def _changes():
    """All changes. Loaded when Keras takes us, so that programs without Keras do not pay for them."""
    from horngate.keras_compat import (  # noqa: F401
        _cudnn,
        _gradients,
        _h5py,
        _keras,
        _messages,
        _metrics,
        _multi_gpu,
        _numpy,
        _python,
        _saving,
        _tensorboard,
        _yaml,
    )
    from horngate.keras_compat._items import ITEMS

    return ITEMS


def __getattr__(name):
    if name == "ITEMS":
        return _changes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_wanted():
    """Whether the environment leaves the part switched on."""
    value = os.environ.get("HORNGATE_KERAS_COMPAT", "")
    if value not in ("", "0", "1"):
        raise ValueError(f'HORNGATE_KERAS_COMPAT: must be 0 or 1; got "{value}".')
    return value != "0"


def left_out():
    """Names of the items that the environment switches off."""
    text = os.environ.get("HORNGATE_KERAS_COMPAT_WITHOUT", "")
    names = {name.strip() for name in text.split(",")} - {""}
    known = {item.name for item in _changes()}
    if unknown := sorted(names - known):
        raise ValueError(
            "HORNGATE_KERAS_COMPAT_WITHOUT: must be a comma-separated list of items"
            f' ({", ".join(sorted(known))}); got "{unknown[0]}".'
        )
    return names


def is_installed():
    """Whether the changes are in force."""
    return _installed


def install():
    """Makes the changes, once, in this process."""
    global _installed
    if _installed or not is_wanted():
        return
    without = left_out()
    _installed = True
    for item in _changes():
        if item.name not in without:
            item.install()


# These keep the name of the backend, in Keras up to 2.2.4 and later.
_LOADERS = ("keras.backend.load_backend", "keras.backend")


def keras_takes_us():
    """Whether a Keras 2 that is loaded, or being loaded, uses us as its backend."""
    if not hasattr(sys.modules.get("keras.backend.common"), "_FLOATX"):
        return False
    names = (getattr(sys.modules.get(loader), "_BACKEND", None) for loader in _LOADERS)
    return any(str(name).split(".")[0] == "horngate" for name in names)


def check_module():
    """Lists our modules if Keras looks for one that does not exist. Keras would hide an ImportError."""
    for loader in _LOADERS:
        package, _, name = str(getattr(sys.modules.get(loader), "_BACKEND", "")).partition(".")
        if package == "horngate" and name and name not in ENGINES:
            known = ", ".join(f"horngate.{n}" for n in ENGINES)
            raise RuntimeError(
                f'there is no module "horngate.{name}" for KERAS_BACKEND or keras.json. '
                f"There are horngate, {known}."
            )


def watch():
    """Installs when Keras chooses us: now, or later if it is imported after us."""
    if keras_takes_us():
        install()
        return
    for loader in _LOADERS:
        _hooks.after_import(loader, lambda module: install() if keras_takes_us() else None)
