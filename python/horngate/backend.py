"""All functions of the backend in one place; what KERAS_BACKEND=horngate gives to Keras."""

from types import FunctionType as _FunctionType

from horngate import (
    _config,
    _control,
    _conv,
    _ctc,
    _elementwise,
    _functional,
    _linalg,
    _nn,
    _random,
    _reductions,
    _shape,
    _values,
    _variables,
)
from horngate import legacy as _legacy

_SECTIONS = (
    _config,
    _control,
    _conv,
    _ctc,
    _elementwise,
    _functional,
    _linalg,
    _nn,
    _random,
    _reductions,
    _shape,
    _values,
    _variables,
)


def _functions_of(section):
    """What a section defines under a name without an underscore: those, and nothing else, are K
    functions."""
    return {
        name: found
        for name, found in vars(section).items()
        if not name.startswith("_")
        and isinstance(found, _FunctionType)
        and found.__module__ == section.__name__
    }


# Here, and nowhere else, functions learn the argument names and orders of older Keras versions.
_FUNCTIONS = {name: getattr(_legacy, name) for name in _legacy.__all__}
for _section in _SECTIONS:
    _FUNCTIONS.update(_functions_of(_section))
globals().update({n: _legacy.accept_old_spellings(f) for n, f in _FUNCTIONS.items()})
__all__ = sorted(_FUNCTIONS)
