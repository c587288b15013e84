"""The backend on the engine "native", for Keras: KERAS_BACKEND=horngate.native. Made by `make generate`; do not edit."""

from horngate import *  # noqa: F403
from horngate import __all__, __version__  # noqa: F401
from horngate._horngate import set_engine as _set_engine

_set_engine("native")
