"""What NumPy removed."""

import math

import numpy as np

from horngate.keras_compat._items import Overlay, item, set_missing

# The builtin types, in NumPy until 1.23; in NumPy 2 `bool` came back as NumPy's own type.
_BUILTINS = {"bool": bool, "int": int, "float": float, "complex": complex, "object": object}

# Second names, in NumPy until 1.26.
_SECOND_NAMES = {
    "Inf": math.inf,
    "Infinity": math.inf,
    "infty": math.inf,
    "NINF": -math.inf,
    "PINF": math.inf,
    "NaN": math.nan,
    "float_": np.float64,
    "complex_": np.complex128,
    "string_": np.bytes_,
    "unicode_": np.str_,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "alltrue": np.all,
    "sometrue": np.any,
    "round_": np.round,
    "row_stack": np.vstack,
}


@item(
    "numpy",
    "NumPy 1.24 and 2.0 removed second names: `np.Inf`, `np.bool`, `np.int`, `np.float`,"
    " `np.object`, `np.string_` and others. Keras and programs of its time use them.",
)
def second_names():
    set_missing(np, str=str, **_BUILTINS)
    set_missing(np, **_SECOND_NAMES)


@item(
    "np.load",
    "NumPy 1.16.3 stopped loading pickled objects unless asked; the data sets of Keras before 2.2.5"
    " hold some and do not ask.",
    "keras.datasets.boston_housing",
    "keras.datasets.imdb",
    "keras.datasets.mnist",
    "keras.datasets.reuters",
)
def load_objects(dataset):
    def load(file, mmap_mode=None, allow_pickle=True, **options):
        return np.load(file, mmap_mode, allow_pickle, **options)

    dataset.np = Overlay(np, load=load)


@item(
    "np.array",
    "NumPy 1.24 stopped making an array of lists of unequal length unless asked for objects; the data"
    " sets of texts are such lists.",
    "keras.datasets.imdb",
    "keras.datasets.reuters",
)
def arrays_of_lists(dataset):
    def array(values, *args, **options):
        try:
            return np.array(values, *args, **options)
        except ValueError:
            return np.array(values, dtype=object)

    dataset.np = Overlay(dataset.np, array=array)
