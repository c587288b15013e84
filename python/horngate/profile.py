"""Where the time goes: a trace with one bar per step of a plan.

`HORNGATE_PROFILE=trace.json` traces a whole process, `horngate profile python train.py` prints a table.
"""

import contextlib
import os

from horngate import _horngate as _hg

__all__ = ["trace"]


@contextlib.contextmanager
def trace(path):
    """Writes what runs inside of the block to `path`, for ui.perfetto.dev and `horngate profile`.

    Args:
        path: file to write.

    Example:
        >>> from horngate import profile
        >>> x = K.placeholder((None, 2))
        >>> f = K.function([x], [K.softmax(x)])
        >>> with profile.trace("trace.json"):
        ...     y = f([np.ones((3, 2))])
    """
    _hg.profile_start(os.fsencode(path))
    try:
        yield
    finally:
        _hg.profile_stop()
