"""What h5py 3 changed."""

import functools
import os
import sys

import numpy as np

from horngate.keras_compat._items import item


class Text(str):
    """A string that can be decoded, like the bytes that it replaces."""

    __slots__ = ()

    def decode(self, encoding="utf-8", errors="strict"):
        return str(self)


def _with_decode(value):
    if type(value) is str:
        return Text(value)
    if getattr(value, "dtype", None) == object and value.ndim:  # noqa: E721
        for i, entry in enumerate(value.flat):
            if type(entry) is str:
                value.flat[i] = Text(entry)
    return value


@item(
    "h5py attributes",
    "h5py 3 gives text where h5py 2 gave bytes, and Keras decodes what it reads. The text gets a"
    " `decode` that does nothing.",
    "h5py",
)
def attributes_decode(h5py):
    manager = h5py.AttributeManager
    get, create = manager.__getitem__, manager.create

    @functools.wraps(get)
    def get_text(self, name):
        return _with_decode(get(self, name))

    @functools.wraps(create)
    def create_plain(self, name, data, *args, **options):
        # h5py checks the exact type.
        return create(self, name, str(data) if isinstance(data, Text) else data, *args, **options)

    manager.__getitem__, manager.create = get_text, create_plain


def _as_h5py_2_wrote(value):
    """A list of bytes as an array of strings of equal length."""
    is_list = isinstance(value, (list, tuple)) and len(value) > 0
    return np.asarray(value) if is_list and all(type(v) is bytes for v in value) else value


@item(
    "h5py lists",
    "h5py 3 stores a list of bytes so that it comes back as text; Keras compares and decodes bytes."
    " What Keras writes is stored as h5py 2 did, which old readers of its files expect too.",
    "h5py",
)
def lists_of_bytes(h5py):
    put = h5py.AttributeManager.__setitem__

    @functools.wraps(put)
    def put_bytes(self, name, value):
        if sys._getframe(1).f_globals.get("__name__", "").startswith("keras."):
            value = _as_h5py_2_wrote(value)
        put(self, name, value)

    h5py.AttributeManager.__setitem__ = put_bytes


def _default_mode(name, options):
    """What h5py 2 did without a mode: write if allowed, else read; create what does not exist."""
    if hasattr(name, "writable"):  # an open file
        return "a" if name.writable() else "r"
    if not isinstance(name, (str, bytes, os.PathLike)) or options.get("driver"):
        return "a"
    return "r" if os.path.exists(name) and not os.access(name, os.W_OK) else "a"


@item(
    "h5py.File",
    "h5py 3 opens files read-only unless told, and has no `File.fid`. Keras writes to files that it"
    " opened without a mode, and asks for `fid`.",
    "h5py",
)
def files_open_for_writing(h5py):
    init = h5py.File.__init__

    @functools.wraps(init)
    def open_as_before(self, name, mode=None, *args, **options):
        if mode is None:
            mode = _default_mode(name, options)
        init(self, name, mode, *args, **options)

    h5py.File.__init__ = open_as_before
    if not hasattr(h5py.File, "fid"):
        h5py.File.fid = property(lambda self: self.id)
