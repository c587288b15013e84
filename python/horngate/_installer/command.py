"""The commands install and remove."""

import json
import os
import platform
import shutil
import signal
import sys
from pathlib import Path

from . import build, place
from .download import fetch
from .errors import InstallError
from .index import Index

ENGINES = json.loads((Path(__file__).parent / "engines.json").read_text())

USAGE = f"""usage: horngate engines install NAME.. [--force]
       horngate engines remove NAME..
Engines: {", ".join(ENGINES)}. They are put into HORNGATE_HOME/engines (HORNGATE_HOME is $HOME/.horngate
if it is not set), in the versions that Horngate was tested with. Files come from the index that pip is
configured for. --force installs again what is there already."""


def install(name, force=False):
    """Installs an engine. Whatever happens, its folder is complete or as it was before."""
    engine = ENGINES[name]
    machine, system = platform.machine(), platform.system()
    if machine not in engine["machines"] or system != "Linux":
        known = ", ".join(engine["machines"])
        raise InstallError(
            f"{name} can be installed on Linux on {known}; this is {system} on {machine}."
        )
    with place.locked(name):
        target = place.folder_of(name)
        if not force and place.is_whole(name, engine["version"]):
            print(f"{name} {engine['version']} is already in {target}.")
            return
        if (
            not force
            and target.exists()
            and not (target / place.RECORD).exists()
            and any(target.iterdir())
        ):
            raise InstallError(
                f"{target} was not made by this command; --force replaces it, "
                f"`horngate engines remove {name}` removes it."
            )
        _install_locked(name, engine, target)
    print(f"{name} {engine['version']} is now in {target}.")
    override = os.environ.get(f"HORNGATE_{name.upper()}")
    if override:
        print(f"HORNGATE_{name.upper()} is set: {override} counts, and not this folder.")


def _install_locked(name, engine, target):
    python = build.find_python(engine["python"]) if "python" in engine else None
    downloads = place.downloads()
    downloads.mkdir(parents=True, exist_ok=True)
    place.check_room(engine["needs"] + sum(f["size"] for f in engine["files"]))
    index = Index()
    files = [fetch(index, f, downloads) for f in engine["files"]]
    with place.made_aside(name) as folder:
        if python:
            paths = build.make_environment(python, files, folder, target)
        else:
            paths = build.unpack(files[0], engine["keep"], folder)
        place.write_record(folder, engine["version"], paths)
    for file in files:
        file.unlink(missing_ok=True)


def remove(name):
    with place.locked(name):
        folder = place.folder_of(name)
        if not place.remove(name):
            raise InstallError(f"there is no {folder}.")
        for file in ENGINES[name]["files"]:
            for left in place.downloads().glob(f"{file['name']}*"):
                left.unlink()
        shutil.rmtree(place.home() / "cache" / name, ignore_errors=True)
    print(f"{folder} is removed.")


def _interrupted(number, frame):
    raise KeyboardInterrupt


def main(arguments):
    command, names = (arguments or [""])[0], arguments[1:]
    force = "--force" in names
    names = [n for n in names if n != "--force"]
    if command not in ("install", "remove") or not names or (force and command == "remove"):
        print(USAGE, file=sys.stderr)
        return 2
    for name in names:
        if name not in ENGINES:
            known = ", ".join(ENGINES)
            print(
                f'horngate engines {command}: there is no "{name}"; it can be {known}.',
                file=sys.stderr,
            )
            return 2
    signal.signal(signal.SIGTERM, _interrupted)
    signal.signal(signal.SIGHUP, _interrupted)
    try:
        for name in names:
            install(name, force) if command == "install" else remove(name)
    except InstallError as e:
        print(f"horngate engines {command}: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"horngate engines {command}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nhorngate engines {command}: interrupted; nothing is half-made.", file=sys.stderr)
        return 130
    return 0
