"""The scratch copy of the tree: all faults in it, built once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from mutate import faults

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "mutants" / "tree"


def write_if_new(path, content, mode):
    """Ninja compiles what is newer: a file that stays the same is not written."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def copy(chosen):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = {n for n in listed.split("\0") if n and (ROOT / n).is_file()}
    by_file = {}
    for fault in chosen:
        by_file.setdefault(fault.file, []).append(fault)
    for name in sorted(names):
        content = (ROOT / name).read_bytes()
        if name in by_file:
            content = faults.plant(by_file[name], content.decode()).encode()
        write_if_new(TREE / name, content, (ROOT / name).stat().st_mode)
    for folder in ("src", "include", "tests", "python"):
        for path in (TREE / folder).rglob("*"):
            name = path.relative_to(TREE).as_posix()
            if path.is_file() and name not in names and "__pycache__" not in name:
                path.unlink()


def make_venv():
    """A Python like the clone's, whose `import horngate` is that of the scratch tree. Hard links: its
    headers have paths like those of the clone, which lets ccache know what has no fault."""
    ours, venv = ROOT / ".venv", TREE / ".venv"
    if venv.exists():
        return
    shutil.copytree(ours, venv, symlinks=True, copy_function=os.link)
    build = next(venv.glob("lib/python*/site-packages/horngate-build.pth"))
    build.unlink()  # it is the clone's file too
    build.write_text(f"{TREE / 'build' / 'python'}\n")


def build(jobs):
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment.setdefault("CMAKE_CXX_COMPILER_LAUNCHER", "ccache")
    configure = [
        "cmake",
        "--preset",
        "release",
        "-DHORNGATE_BUILD_EXAMPLES=OFF",
        "-DHORNGATE_BUILD_BENCH=OFF",
    ]
    if not (TREE / "build" / "build.ninja").exists():
        subprocess.run(configure, cwd=TREE, check=True, env=environment, stdout=subprocess.DEVNULL)
    done = subprocess.run(
        ["cmake", "--build", "build", "-j", str(jobs), "--", "-k", "0"],
        cwd=TREE,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        print(done.stdout[-20000:], done.stderr, file=sys.stderr)
        raise SystemExit("mutate: the tree with the faults does not compile")


def make(chosen, jobs):
    copy(chosen)
    make_venv()
    build(jobs)
