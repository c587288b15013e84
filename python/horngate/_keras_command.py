"""`python -m horngate keras`: lets Keras before 2.2 take Horngate in every program of an environment."""

import pathlib
import sys
import sysconfig

from horngate.keras_compat import _start

_USAGE = "usage: horngate keras [enable|disable]"
_NAME = "horngate_keras.pth"


def _file():
    return pathlib.Path(sysconfig.get_path("purelib")) / _NAME


def _line():
    """What Python runs when it starts."""
    return _start.line_for(str(pathlib.Path(_start.__file__).resolve())) + "\n"


def enable():
    """Adds one file to the site-packages of this Python."""
    file = _file()
    file.write_text(_line())
    print(
        f"enabled: {file}. Keras before 2.2 now takes KERAS_BACKEND=horngate in this environment."
    )


def disable():
    """Removes it."""
    file = _file()
    if not file.exists():
        print(f"not enabled: there is no {file}.")
        return
    file.unlink()
    print(f"disabled: {file} is removed.")


def show():
    file = _file()
    print(f"enabled: {file}" if file.exists() else "not enabled")


def main(arguments):
    """The command; returns an exit code."""
    commands = {(): show, ("enable",): enable, ("disable",): disable}
    command = commands.get(tuple(arguments))
    if command is None:
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        command()
    except OSError as e:
        print(f"horngate keras: {e}", file=sys.stderr)
        return 1
    return 0
