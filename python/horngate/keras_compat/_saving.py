"""Models are saved whole or not at all, whatever ends the process meanwhile."""

import contextlib
import errno
import fcntl
import functools
import io
import os
import secrets
import stat
import struct
import threading
import warnings

from horngate.keras_compat._items import item

# The suffix of a complete new file, beside the old one, just before it gets its real name.
_SUFFIX = ".horngate-save"

_current = threading.local()  # .save: the save that is under way on this thread


class _File(io.FileIO):
    """What h5py writes to. HDF5 does not survive errors: it may leave the file open for good, or report
    nothing. So it sees none; the first is kept in `failure`, and nothing is written after it."""

    failure = None

    def write(self, data):
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while len(rest) and not self.failure:
                rest = rest[super().write(rest) :]
        except OSError as e:
            self.failure = e
        return size

    def truncate(self, size=None):
        try:
            return size if self.failure else super().truncate(size)
        except OSError as e:
            self.failure = e
            return size

    def flush(self):
        """Nothing is buffered; h5py requires the method."""


class _Save:
    """A file before it has its name. The data goes to an unnamed file, if the file system has such, so that a
    process that is killed leaves nothing behind."""

    def __init__(self, path):
        self.path = os.path.realpath(path)  # follows symbolic links, even dangling ones
        self.folder = os.path.dirname(self.path)
        self.draft = None  # its temporary name, if it has one
        _remove_drafts(self.path)
        # h5py gets a Python file, not a path: HDF5 would look for a name that does not exist.
        self.file = _File(self._open(), "r+b")

    def _open(self):
        flags = os.O_RDWR | os.O_CLOEXEC
        with contextlib.suppress(OSError):  # NFS and others have no unnamed files
            fd = os.open(self.folder, flags | os.O_TMPFILE, 0o666)
            if os.path.exists(f"/proc/self/fd/{fd}"):
                return fd
            os.close(fd)
        while True:
            draft = _draft_of(self.path)
            fd = os.open(draft, flags | os.O_CREAT | os.O_EXCL, 0o666)
            _hold(fd)
            if os.fstat(fd).st_nlink:
                self.draft = draft
                return fd
            os.close(fd)  # another save took it for a dead one's before we locked it

    def check(self):
        """Raises the error that was kept from HDF5."""
        if self.file.failure:
            number = self.file.failure.errno
            raise OSError(number, os.strerror(number), self.path) from self.file.failure

    def finish(self):
        """Puts the file in place. It is on disk before it gets the name, and in the end so is the name."""
        self.check()
        _check_hdf5(self.file)
        fd = self.file.fileno()
        with contextlib.suppress(FileNotFoundError):
            old, new = os.stat(self.path), os.fstat(fd)
            if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
                with contextlib.suppress(PermissionError):
                    os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, stat.S_IMODE(old.st_mode))  # after chown, which may clear bits
        os.fsync(fd)
        if self.draft:
            os.rename(self.draft, self.path)
        elif not self._link(self.path):  # there is an old file, and linking does not replace it
            _hold(fd)
            draft = _draft_of(self.path)
            if not self._link(draft):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), draft)
            self.draft = draft
            os.rename(self.draft, self.path)
        self.draft = None
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _link(self, name):
        fd = self.file.fileno()
        try:
            # With a folder, since otherwise Python would link the symbolic link in /proc itself.
            os.link(f"/proc/self/fd/{fd}", name, src_dir_fd=fd, follow_symlinks=True)
        except FileExistsError:
            return False
        return True

    def close(self):
        if self.draft:
            with contextlib.suppress(OSError):
                os.unlink(self.draft)
        self.file.close()


def _draft_of(path):
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:200]}.{secrets.token_hex(4)}{_SUFFIX}")


def _lock(fd):
    """Locks the file, or raises OSError."""
    # type, whence, start, length, pid of struct flock: the whole file, for writing
    everything = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, everything)


def _hold(fd):
    """Marks a draft as in use, by a lock, which ends with the process."""
    with contextlib.suppress(OSError):  # a file system without locks
        _lock(fd)


def _remove_drafts(path):
    """Removes drafts of this file left by saves whose processes were killed."""
    folder, name = os.path.split(path)
    begin = f".{name[:200]}."
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            if entry.startswith(begin) and entry.endswith(_SUFFIX):
                _remove_if_free(os.path.join(folder, entry))


def _remove_if_free(draft):
    with contextlib.suppress(OSError):
        fd = os.open(draft, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            _lock(fd)
            os.unlink(draft)
        finally:
            os.close(fd)


def _check_hdf5(file):
    """Checks the file: one that HDF5 could not finish does not open."""
    import h5py

    h5py.File(file, "r").close()


def _is_replaced(path):
    """Whether the file at a path can be replaced: a regular one or none, in a folder where files can be
    made. A file that is not writable is left to h5py, which says so."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if os.path.lexists(path) and not (os.path.isfile(path) and os.access(path, os.W_OK)):
        return False
    if not os.path.isdir(folder):
        return False
    if os.access(folder, os.W_OK | os.X_OK):
        return True
    if os.path.isfile(path):
        warnings.warn(
            f"{path}: cannot create a file in its folder, so the old model is overwritten in place. "
            "If the process dies meanwhile, both are lost.",
            RuntimeWarning,
            stacklevel=6,
        )
    return False


def _name_of(path):
    """The path as text or bytes; None for groups, dictionaries and streams."""
    return os.fspath(path) if isinstance(path, (str, bytes, os.PathLike)) else None


def _safely(save):
    """A function that saves to its argument `filepath`, wholly or not at all."""

    @functools.wraps(save)
    def save_safely(*args, **options):
        outer = getattr(_current, "save", None)
        filepath = options.get("filepath", args[1] if len(args) > 1 else None)
        _current.save = this = {"path": _name_of(filepath), "file": None}
        try:
            result = save(*args, **options)
            if this["file"]:
                this["file"].finish()
            return result
        except Exception:
            if this["file"]:
                this["file"].check()  # then that is the cause
            raise
        finally:
            _current.save = outer
            if this["file"]:
                this["file"].close()

    return save_safely


def _redirected(name, mode):
    """The file to open instead of `name`: a different one while Keras saves to that name."""
    this = getattr(_current, "save", None)
    if not this or mode != "w" or this["file"] or this["path"] is None:
        return name
    if _name_of(name) != this["path"] or not _is_replaced(this["path"]):
        return name
    this["file"] = _Save(os.fsdecode(this["path"]))
    return this["file"].file


_REASON = (
    "Keras writes over the old file: a process that ends meanwhile, or a full disk, loses both. What"
    " `save`, `save_weights` and `ModelCheckpoint` write goes to a new file beside it, onto the disk, and then"
    " takes the name; mode and owner stay, symbolic links are followed."
)


@item(
    "saving",
    _REASON,
    "h5py",
    "keras.engine.saving",
    "keras.engine.network",
    "keras.engine.topology",
    "keras.models",
)
def whole_or_not_at_all(module):
    if module.__name__ == "h5py":
        _redirect_files(module)
        return
    # Where they are depends on the edition; other modules only hand them on.
    for owner, name in (
        (module, "save_model"),
        (getattr(module, "Network", None), "save_weights"),
        (getattr(module, "Container", None), "save_weights"),
        (getattr(module, "Sequential", None), "save_weights"),
    ):
        save = vars(owner).get(name) if owner is not None else None
        if getattr(save, "__module__", None) == module.__name__:
            setattr(owner, name, _safely(save))


def _redirect_files(h5py):
    init = h5py.File.__init__

    @functools.wraps(init)
    def open_other(self, name, *args, **options):
        mode = args[0] if args else options.get("mode")
        init(self, _redirected(name, mode), *args, **options)

    h5py.File.__init__ = open_other
