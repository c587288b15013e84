"""From downloaded files to an engine's folder."""

import os
import shutil
import subprocess
import sys
import zipfile

from .errors import InstallError
from .progress import Progress


def unpack(wheel, names, folder, strip=""):
    """Extracts those files from a wheel, or all below the folder `strip` of it, and returns the paths."""
    paths = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            if names is None:
                names = [n for n in archive.namelist() if n.startswith(strip) and n[-1] != "/"]
            infos = [archive.getinfo(name) for name in names]
            total, done = sum(i.file_size for i in infos), 0
            with Progress(f"unpacking {wheel.name}", total) as progress:
                for info in infos:
                    path = folder / info.filename.removeprefix(strip)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with archive.open(info) as packed, open(path, "wb") as out:
                        while data := packed.read(1 << 20):
                            out.write(data)
                            done += len(data)
                            progress.at(done)
                    path.chmod(0o755)
                    paths.append(path)
    except (zipfile.BadZipFile, KeyError) as e:
        raise InstallError(f"{wheel.name} cannot be unpacked: {e}") from e
    return paths


def find_python(version):
    """A Python of that version that can make virtual environments."""
    wanted = tuple(int(n) for n in version.split("."))
    test = f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != {wanted})"
    seen = []
    for python in (sys.executable, shutil.which(f"python{version}"), f"/usr/bin/python{version}"):
        if python and python not in seen and os.path.exists(python):
            seen.append(python)
            done = subprocess.run([python, "-c", test], capture_output=True)
            if done.returncode == 0:
                return python
    tried = f" (tried {', '.join(seen)})" if seen else ""
    raise InstallError(
        f"Theano needs Python {version} with the module venv{tried}. Install it (on Debian: "
        f"python{version} and python{version}-venv), or set HORNGATE_PYTHON to it."
    )


def make_environment(python, files, folder, target):
    """A virtual environment with those packages, for a folder that will be renamed to `target`."""
    venv = folder / "venv"
    _run([python, "-m", "venv", str(venv)])
    own = str(venv / "bin" / "python3")
    pip = [own, "-m", "pip", "install", "--no-index", "--no-deps", "--no-compile", "--quiet"]
    pip += ["--disable-pip-version-check", "--no-warn-script-location", "--no-cache-dir"]
    wheels = [str(f) for f in files if f.suffix == ".whl"]
    sources = [str(f) for f in files if f.suffix != ".whl"]
    print("installing into its own Python", file=sys.stderr, flush=True)
    _run([*pip, *wheels])
    # Built with what the wheels provide: nothing else is downloaded.
    _run([*pip, "--no-build-isolation", *sources])
    # Compiled for its final place, because messages show paths.
    _run(
        [own, "-m", "compileall", "-q", "-s", str(folder), "-p", str(target), str(venv / "lib")],
        ok=(0, 1),
    )
    for script in (venv / "bin").iterdir():
        if not script.name.startswith("python"):  # they name the folder, which will change
            script.unlink()
    return [p for p in (venv / "lib").rglob("*.so") if p.is_file()]


def _run(words, ok=(0,)):
    # The user's pip and Python settings are meant for other installations.
    strange = ("PIP_", "PYTHON", "__PYVENV")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(strange)}
    clean["PIP_CONFIG_FILE"] = os.devnull
    done = subprocess.run(words, capture_output=True, text=True, env=clean)
    if done.returncode not in ok:
        said = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise InstallError("\n  ".join([f"`{' '.join(words[:4])} ..` failed:", *said]))
