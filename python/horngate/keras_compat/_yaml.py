"""What PyYAML 6 changed."""

import functools
import sys

from horngate.keras_compat._items import item

# What is needed to build the arrays in a model's configuration.
_OF_ARRAYS = {
    "numpy.ndarray",
    "numpy.dtype",
    "numpy.core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.multiarray.scalar",
}


def _loader(yaml):
    class Loader(yaml.UnsafeLoader):
        """Builds Python's own types and NumPy arrays, no other objects."""

        def find_python_name(self, name, mark):
            if name not in _OF_ARRAYS:
                raise yaml.constructor.ConstructorError(
                    "while making an object", mark, f"{name} is not allowed in a model", mark
                )
            return super().find_python_name(name, mark)

        def find_python_module(self, name, mark):
            raise yaml.constructor.ConstructorError(
                "while finding a module", mark, f"{name} is not allowed in a model", mark
            )

    return Loader


def _is_keras(frame):
    return frame.f_globals.get("__name__", "").startswith("keras.")


@item(
    "yaml.load",
    "PyYAML 6 wants to be told a loader, and its own ones make no arrays or any object. Keras before"
    " 2.3 does not say one, and its models may hold arrays.",
    "yaml",
)
def yaml_loader(yaml):
    original, loader = yaml.load, _loader(yaml)

    @functools.wraps(original)
    def load(stream, Loader=None):
        if Loader is None and _is_keras(sys._getframe(1)):
            Loader = loader
        return original(stream, Loader) if Loader is not None else original(stream)

    yaml.load = load
