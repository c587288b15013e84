"""Where warnings of the library go. Not part of the Keras backend."""

import logging

from horngate import _horngate as _hg
from horngate._names import wrong

__all__ = ["set_log_handler"]


def set_log_handler(handler):
    """Chooses who gets the warnings of the library.

    Args:
        handler: a `logging.Logger`; or a function of a level, "warning", and a text; None: Python's
            `warnings`, as in the beginning, with their filters.

    Example:
        >>> K.set_log_handler(logging.getLogger("horngate"))
        >>> K.set_log_handler(None)
    """
    if isinstance(handler, logging.Logger):
        logger = handler

        def handler(level, text):
            logger.log(logging.getLevelName(level.upper()), "%s", text)

    elif handler is not None and not callable(handler):
        raise wrong("set_log_handler: handler", "a logging.Logger, callable or None", handler)
    _hg.set_log_handler(handler)
