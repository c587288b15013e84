"""All functions of the backend in one place; what KERAS_BACKEND=horngate gives to Keras."""

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
from horngate._config import *  # noqa: F403
from horngate._control import *  # noqa: F403
from horngate._conv import *  # noqa: F403
from horngate._ctc import *  # noqa: F403
from horngate._elementwise import *  # noqa: F403
from horngate._functional import *  # noqa: F403
from horngate._linalg import *  # noqa: F403
from horngate._nn import *  # noqa: F403
from horngate._random import *  # noqa: F403
from horngate._reductions import *  # noqa: F403
from horngate._shape import *  # noqa: F403
from horngate._values import *  # noqa: F403
from horngate._variables import *  # noqa: F403
from horngate.legacy import *  # noqa: F403

__all__: list[str] = []
__all__ += _config.__all__
__all__ += _control.__all__
__all__ += _conv.__all__
__all__ += _ctc.__all__
__all__ += _elementwise.__all__
__all__ += _functional.__all__
__all__ += _linalg.__all__
__all__ += _nn.__all__
__all__ += _random.__all__
__all__ += _reductions.__all__
__all__ += _shape.__all__
__all__ += _values.__all__
__all__ += _variables.__all__
__all__ += _legacy.__all__

# Here, and nowhere else, functions learn the argument names and orders of older Keras versions.
for _name in __all__:
    globals()[_name] = _legacy.accept_old_spellings(globals()[_name])
