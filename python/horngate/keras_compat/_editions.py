"""The module `keras.backend` of Keras 1.0 to 2.1, whose own loader knows no third backend."""

import importlib
import importlib.machinery
import os
import sys

from horngate import keras_compat
from horngate.keras_compat import _start

_FORMATS = {"channels_last": "tf", "channels_first": "th"}
_CHOICES = {
    "floatx": ("float16", "float32", "float64"),
    "image_dim_ordering": tuple(_FORMATS.values()),
    "image_data_format": tuple(_FORMATS),
}


class _Loader:
    """Fills the module in place of Keras's own file."""

    def __init__(self, edition, backend):
        self._edition = edition
        self._backend = backend

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        _fill(module, self._edition, self._backend)


def spec(folder, edition, backend):
    """What Python loads as keras.backend; its parts, such as `common`, are those of Keras."""
    package = os.path.join(folder, "backend")
    made = importlib.machinery.ModuleSpec(
        "keras.backend",
        _Loader(edition, backend),
        origin=os.path.join(package, "__init__.py"),
        is_package=True,
    )
    made.has_location = True  # so that the module has a __file__
    made.submodule_search_locations.append(package)
    return made


def _fill(module, edition, backend):
    common = importlib.import_module("keras.backend.common")
    _apply_settings(common)
    # 1.0 and 1.1 also ask for `_backend`, a variable of Keras's own loader.
    vars(module).update(_BACKEND=backend, _backend=backend, backend=lambda: backend)
    keras_compat.check_module()
    ours = importlib.import_module(backend)
    sys.modules["horngate._horngate"].set_quiet(True)
    sys.stderr.write(f"Using {backend} backend.\n")
    names = {name: getattr(ours, name) for name in ours.__all__}
    names.update(_functions_of(edition, common))
    # What Keras keeps itself: settings, and in 1.x the uids.
    names.update((n, v) for n, v in vars(common).items() if not n.startswith("_") and callable(v))
    names.pop("defaultdict", None)
    for name, value in names.items():
        vars(module).setdefault(name, value)
    keras_compat.install()


def _functions_of(edition, common):
    from horngate.keras_compat import _keras_1, _keras_2_0

    if edition[0] == 1:
        return _keras_1.functions(edition, common)
    found = _keras_2_0.functions()
    if edition < (2, 0, 7):  # until then the targets came last
        found.update((f.__name__, f) for f in _keras_1.CROSSENTROPIES)
    return found


def _apply_settings(common):
    """Hands keras.json to Keras, in the words of its edition."""
    fields = _start.settings()
    for name in ("floatx", "epsilon", "image_data_format", "image_dim_ordering"):
        setter = getattr(common, "set_" + name, None)
        value = fields.get(name)
        if setter is None or value is None:
            continue
        if value not in _CHOICES.get(name, [value]) or (
            name == "epsilon" and not isinstance(value, float)
        ):
            raise ValueError(f"{_start.settings_path()}: {name} cannot be {value!r}.")
        setter(value)
