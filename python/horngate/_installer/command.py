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

# What can be installed: engines, and libraries for communication.
KINDS = {
    kind: json.loads((Path(__file__).parent / f"{kind}.json").read_text())
    for kind in ("engines", "comm")
}
ENGINES = KINDS["engines"]


def usage(kind):
    return f"""usage: horngate {kind} install NAME.. [--force]
       horngate {kind} remove NAME..
Names: {", ".join(KINDS[kind])}. They are put into HORNGATE_HOME/{kind} (HORNGATE_HOME is $HOME/.horngate
if it is not set), in the versions that Horngate was tested with. Files come from the index that pip is
configured for. --force installs even if it is there already."""


def install(name, force=False):
    """Installs an engine. Whatever happens, its folder is complete or as it was before."""
    engine = KINDS[place.kind()][name]
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
                f"`horngate {place.kind()} remove {name}` removes it."
            )
        _install_locked(name, engine, target)
    print(f"{name} {engine['version']} is now in {target}.")
    variable = "HORNGATE_MPI" if place.kind() == "comm" else f"HORNGATE_{name.upper()}"
    if os.environ.get(variable):
        print(f"{variable} is set: {os.environ[variable]} counts, and not this folder.")


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
            paths = build.unpack(files[0], engine.get("keep"), folder, engine.get("strip", ""))
        place.write_record(folder, engine["version"], paths)
    for file in files:
        file.unlink(missing_ok=True)


def remove(name):
    with place.locked(name):
        folder = place.folder_of(name)
        if not place.remove(name):
            raise InstallError(f"there is no {folder}.")
        for file in KINDS[place.kind()][name]["files"]:
            for left in place.downloads().glob(f"{file['name']}*"):
                left.unlink()
        shutil.rmtree(place.home() / "cache" / name, ignore_errors=True)
    print(f"{folder} is removed.")


def _interrupted(number, frame):
    raise KeyboardInterrupt


def main(arguments):
    kind = "comm" if arguments[:1] == ["comm"] else "engines"
    if arguments[:1] == [kind]:
        arguments = arguments[1:]
    place.use(kind)
    command, names = (arguments or [""])[0], arguments[1:]
    force = "--force" in names
    names = [n for n in names if n != "--force"]
    if command not in ("install", "remove") or not names or (force and command == "remove"):
        print(usage(kind), file=sys.stderr)
        return 2
    for name in names:
        if name not in KINDS[kind]:
            known = ", ".join(KINDS[kind])
            print(
                f'horngate {kind} {command}: there is no "{name}"; it can be {known}.',
                file=sys.stderr,
            )
            return 2
    signal.signal(signal.SIGTERM, _interrupted)
    signal.signal(signal.SIGHUP, _interrupted)
    try:
        for name in names:
            install(name, force) if command == "install" else remove(name)
    except InstallError as e:
        print(f"horngate {kind} {command}: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"horngate {kind} {command}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nhorngate {kind} {command}: interrupted; nothing is half-made.", file=sys.stderr)
        return 130
    return 0
