"""What Python removed."""

import collections
import collections.abc
import inspect

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
