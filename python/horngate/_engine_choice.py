"""Which engine runs the graphs of this process. Not part of the Keras backend."""

import os

from horngate import _horngate
from horngate._names import wrong


def set_engine(name):
    """Chooses the engine before its first use, over KERAS_BACKEND and keras.json.

    Args:
        name: of an engine, such as "tensorflow", or of a plug-in. It is opened at once: ValueError for a name
            that does not exist, with those that do; RuntimeError for one that is not installed, with how to get it.

    Example:
        >>> K.set_engine("native")
    """
    if not isinstance(name, str):
        raise wrong("set_engine: name", "a string", name)
    _horngate.set_engine(name)


def say_engine():
    """The line "Using TensorFlow backend." that Keras writes on import. Without KERAS_BACKEND a module such
    as horngate.theano may still choose; then the first use of the engine writes it."""
    if not os.environ.get("KERAS_BACKEND", "horngate").startswith("horngate"):
        try:
            _horngate.announce_chosen_engine()
        except ValueError:
            pass  # a broken keras.json; whoever needs the settings gets the error
