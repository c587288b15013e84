"""Horngate: the Keras backend as one fast library.

`import horngate as K`, or KERAS_BACKEND=horngate. The names of this module are the functions of the
Keras backend and nothing else, because Keras copies them all.
"""

import sys as _sys

from horngate import _tensor  # noqa: F401  (methods of tensors)
from horngate._horngate import set_quiet as _set_quiet
from horngate._horngate import version as __version__  # noqa: F401
from horngate.backend import *  # noqa: F403
from horngate.backend import __all__  # noqa: F401

# Importing a part of the package makes it an attribute; it can still be imported by its name.
del legacy  # noqa: F821

if "keras.backend" in _sys.modules:
    _set_quiet(True)  # Keras says "Using horngate backend." itself
