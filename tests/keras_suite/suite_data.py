"""The data files of this folder, as the runner and the plug-in read them."""

import pathlib
import tomllib

HERE = pathlib.Path(__file__).parent


def _load(name):
    return tomllib.loads((HERE / name).read_text())


SUITE = _load("suite.toml")


def covers(entry, test):
    """Whether an entry (file, class or test) holds a test, with or without its parameters."""
    return test == entry or any(test.startswith(entry + end) for end in ("::", "[", "/"))


def not_applicable(version):
    """Pairs (entry, reason)."""
    groups = _load("not_applicable.toml")["group"]
    return [
        (entry, group["reason"])
        for group in groups
        if version in group.get("versions", [version])
        for entry in group["tests"]
    ]


def lifted():
    return SUITE["lifted"]["tests"]


def loads_us(version):
    """Whether a version's own loader knows backends other than Keras's."""
    return tuple(map(int, version.split("."))) >= (2, 2)
