"""What Python removed."""

import collections
import collections.abc
import functools
import importlib.util
import inspect
import re
import sys
import types

from horngate.keras_compat import _hooks
from horngate.keras_compat._items import item, set_missing

_ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def _getargspec(function):
    """The four parts of a signature that Python 2 knew."""
    spec = inspect.getfullargspec(function)
    return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


@item(
    "collections",
    "Python 3.10 left `Iterable`, `Mapping`, `Sequence` and the like in `collections.abc` alone;"
    " Keras takes them from `collections`.",
)
def abstract_collections():
    set_missing(
        collections, **{name: getattr(collections.abc, name) for name in collections.abc.__all__}
    )


@item(
    "inspect",
    "Python 3.11 removed `inspect.getargspec` and `inspect.ArgSpec`, with which Keras reads"
    " signatures.",
)
def argument_lists():
    set_missing(inspect, getargspec=_getargspec, ArgSpec=_ArgSpec)


@item(
    "pkg_resources",
    "Setuptools 82 removed `pkg_resources`, and Python 3.12 leaves setuptools out; Keras 1 takes"
    " `parse_version` from there, to ask for that of TensorFlow. While `keras.callbacks` is loaded there is one.",
)
def versions_of_packages():
    if importlib.util.find_spec("pkg_resources") is not None:
        return
    stand_in = types.ModuleType("pkg_resources")
    stand_in.parse_version = lambda text: tuple(map(int, re.findall(r"\d+", text)))
    sys.modules["pkg_resources"] = stand_in
    _hooks.after_import("keras.callbacks", lambda module: _forget(stand_in))


def _forget(module):
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]


class _Queue:
    """A generator that may end with a StopIteration of its own."""

    def __init__(self, generator):
        self._generator = generator

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._generator)
        except RuntimeError as e:
            if isinstance(e.__cause__, StopIteration):
                raise e.__cause__ from e.__cause__.__cause__
            raise

    def __getattr__(self, name):
        return getattr(self._generator, name)


@item(
    "generators",
    "Python 3.7 made a RuntimeError of a StopIteration that is raised inside of a generator; the queues"
    " of Keras before 2.2 end so.",
    "keras.utils.data_utils",
)
def ends_of_queues(data_utils):
    for name in ("OrderedEnqueuer", "GeneratorEnqueuer"):
        queue = getattr(data_utils, name, None)
        get = getattr(queue, "get", None)
        if get is not None and "StopIteration" in get.__code__.co_names:
            queue.get = _ending(get)


def _ending(get):
    @functools.wraps(get)
    def get_batches(self):
        return _Queue(get(self))

    return get_batches
