"""The backend on the engine "tensorflow", for Keras: KERAS_BACKEND=horngate.tensorflow. Made by `make generate`; do not edit."""

from horngate import *  # noqa: F403
from horngate import __all__, __version__  # noqa: F401
from horngate._horngate import set_engine as _set_engine

_set_engine("tensorflow")
