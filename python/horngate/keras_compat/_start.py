"""Gives Keras before 2.2 a backend of ours: its own loader knows no third one.

Stands alone: after `horngate keras enable` each Python of an environment runs this file when it
starts, so it imports nothing, and Horngate only once Keras asks for it.
"""

import sys

_OLDEST, _FIRST_THAT_LOADS_US = (1, 0), (2, 2)


class Finder:
    """Finds `keras.backend` of these editions, if Horngate is its backend."""

    horngate_finder = True  # how `watch` knows one of another copy of this file

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "keras.backend" or not path:
            return None
        folder = next(iter(path))
        edition = edition_in(folder)
        if edition is None or not _OLDEST <= edition[:2] < _FIRST_THAT_LOADS_US:
            return None
        backend = wanted_backend()
        if backend.split(".")[0] != "horngate":
            return None
        try:
            from horngate.keras_compat import _editions, is_wanted
        except ImportError as e:
            raise RuntimeError(f"horngate cannot be imported: {e}") from e
        return _editions.spec(folder, edition, backend) if is_wanted() else None


def edition_in(folder):
    """The version of the Keras in a folder, as numbers; None if it does not say one."""
    import os
    import re

    try:
        with open(os.path.join(folder, "__init__.py"), encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeError):
        return None
    found = re.search(r"^__version__ = ['\"](\d+)\.(\d+)\.(\d+)", text, re.MULTILINE)
    return tuple(map(int, found.groups())) if found else None


def settings_path():
    """Where keras.json is. KERAS_HOME counts for these editions too, as it does since 2.2."""
    import os

    home = os.environ.get("KERAS_HOME")
    return os.path.join(home or os.path.join(os.path.expanduser("~"), ".keras"), "keras.json")


def settings():
    """The fields of keras.json; none if there is no such file, or it is broken."""
    import json

    try:
        with open(settings_path(), encoding="utf-8") as file:
            fields = json.load(file)
    except (OSError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}


def wanted_backend():
    """The name in KERAS_BACKEND, or else in keras.json."""
    import os

    return os.environ.get("KERAS_BACKEND") or str(settings().get("backend", ""))


def line_for(file):
    """What another Python has to run to have the finder too. Without the file, as after Horngate was
    removed, it does nothing. The path is bytes, which every locale can open."""
    import os

    name = "{'__name__': 'horngate_start'}"
    run = f"exec(compile(open(p).read(), p, 'exec'), {name})"
    return f"import os; p = {os.fsencode(file)!r}; os.path.exists(p) and {run}"


def watch():
    """Puts the finder first, once."""
    if not any(getattr(finder, "horngate_finder", False) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder)


watch()
