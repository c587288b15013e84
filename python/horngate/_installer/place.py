"""Folders of engines: made aside, then moved into place at once, one install per engine at a time."""

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from .errors import InstallError

RECORD = "installed.json"


def home():
    """The same folder as src/engines/common/folders.h finds."""
    if os.environ.get("HORNGATE_HOME"):
        return Path(os.environ["HORNGATE_HOME"]).absolute()
    if os.environ.get("HOME"):
        return Path(os.environ["HOME"]) / ".horngate"
    raise InstallError(
        "neither HORNGATE_HOME nor HOME is set; set one of them to say where engines go."
    )


_kind = "engines"


def use(kind):
    """From now on folders of that kind: "engines" or "comm"."""
    global _kind
    _kind = kind


def kind():
    return _kind


def folder_of(name):
    return home() / _kind / name


def downloads():
    return home() / "downloads"


@contextlib.contextmanager
def locked(name):
    """Others wait, in this process or another. The lock ends with the process in any case."""
    folder = home() / _kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / f".{name}.lock", "w")
    except OSError as e:
        raise InstallError(f"{folder} cannot be written: {e.strerror}. Set HORNGATE_HOME.") from e
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"{name}: another process is at it; waiting.", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_whole(name, version):
    """Whether the engine is there, as this command leaves it and in that version."""
    folder = folder_of(name)
    try:
        record = json.loads((folder / RECORD).read_text())
        sizes = record["files"]
        return record["version"] == version and all(
            (folder / path).stat().st_size == size for path, size in sizes.items()
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def check_room(bytes_needed):
    free = shutil.disk_usage(home()).free
    if free < bytes_needed:
        raise InstallError(
            f"{home()} has {free / 1e6:.0f} MB left and {bytes_needed / 1e6:.0f} MB are needed. "
            "Make room, or set HORNGATE_HOME to a folder elsewhere."
        )


@contextlib.contextmanager
def made_aside(name):
    """A new folder beside the engine's. It takes that one's place if all goes well, and is removed
    if not."""
    target = folder_of(name)
    _clean(name)
    fresh = Path(tempfile.mkdtemp(prefix=f".{name}.new.", dir=target.parent))
    try:
        fresh.chmod(0o777 & ~_umask())
        yield fresh
        _put(fresh, target)
    finally:
        # What is here now is unfinished, or the folder that was replaced.
        shutil.rmtree(fresh, ignore_errors=True)


def _clean(name):
    """Removes what a killed install left behind. Engines are not looked for there."""
    for left in folder_of(name).parent.glob(f".{name}.new.*"):
        shutil.rmtree(left, ignore_errors=True)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _put(fresh, target):
    """Renames; an older folder swaps places at the same moment, so that one always exists."""
    if not target.exists():
        fresh.rename(target)
        return
    exchange, here = 2, -100  # RENAME_EXCHANGE, AT_FDCWD
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call and call(here, os.fsencode(fresh), here, os.fsencode(target), exchange) == 0:
        return
    aside = fresh.with_name(fresh.name + ".old")
    target.rename(aside)
    fresh.rename(target)
    shutil.rmtree(aside, ignore_errors=True)


def write_record(folder, version, paths):
    """Writes what is_whole looks at."""
    files = {str(p.relative_to(folder)): p.stat().st_size for p in paths}
    (folder / RECORD).write_text(json.dumps({"version": version, "files": files}, indent=1) + "\n")


def remove(name):
    """Removes an engine's folder, at once; says whether there was one."""
    target = folder_of(name)
    _clean(name)
    if not target.is_dir():
        return False
    aside = Path(tempfile.mkdtemp(prefix=f".{name}.new.", dir=target.parent))
    target.rename(aside / name)
    shutil.rmtree(aside, ignore_errors=True)
    return True
