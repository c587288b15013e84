"""Wheels for old systems, without building one: what is built here is linked as they are (cmake/HorngatePortable.cmake)."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import horngate as K

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(K.__file__).parents[2]
GLIBC = re.search(r"^glibc=(.*)", (ROOT / "tools/wheel.sh").read_text(), re.M)[1]
# What is asked of the system: the names of glibc and the C++ library carry versions, those of Python and ours do not.
NAME = re.compile(r"(\w+) +\w+ +\w+ +UND (\w+)@(?:GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+")


def run(*words, **variables):
    done = subprocess.run(
        words, capture_output=True, text=True, env={**os.environ, **variables}, cwd=ROOT
    )
    return done.returncode, done.stdout + done.stderr


def asked_for():
    """name -> (kind, the files of a wheel that ask the system for it)."""
    files = [*BUILD.glob("lib/horngate/**/*.so*"), *BUILD.glob("lib/libhorngate*.so")]
    files += [*BUILD.glob("python/horngate/_horngate*.so"), BUILD / "bin/horngate"]
    found = {}
    for file in files:
        status, said = run("readelf", "-W", "--dyn-syms", file)
        assert status == 0, said
        for kind, name in NAME.findall(said):
            found.setdefault(name, (kind, []))[1].append(file.name)
    return found


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    """Links a target of tests/portable; gives the file, and what the linker does not find."""
    folder = tmp_path_factory.mktemp("portable")
    names = folder / "names.cpp"
    names.touch()
    options = (f"-DHORNGATE_GLIBC={GLIBC}", f"-DPython_EXECUTABLE={sys.executable}")
    status, said = run(
        "cmake", "-S", ROOT / "tests/portable", "-B", folder, "-G", "Ninja", *options
    )
    assert status == 0, said

    def link(target, wanted=()):
        # Variables of threads cannot be asked for by an address.
        lines = [
            f'asm("mov {name}@gottpoff(%rip), %rax");'
            if kind == "TLS"
            else f'asm(".data; .quad {name}; .text");'
            for name, kind in wanted
        ]
        names.write_text("\n".join(lines) + "\n")
        status, said = run("cmake", "--build", folder, "--target", target)
        missing = set(re.findall(r"undefined reference to `(.*?)'", said))
        assert (status == 0) == (not missing), said
        return folder / target, missing

    return link


def test_an_old_system_has_every_name(link):
    """Itself, or what wheels are linked with: compat.cpp and the static half of the C++ library."""
    found = asked_for()
    assert len(found) > 300, found
    _, missing = link("names", [(name, kind) for name, (kind, _) in found.items()])
    wanted_by = {name: found.get(name, ("", ["the C++ library"]))[1] for name in sorted(missing)}
    assert not missing, f"neither glibc {GLIBC} nor cmake/portable/compat.cpp has {wanted_by}"


def test_a_name_that_it_has_not_is_told(link):
    known = [("pthread_cond_timedwait", "FUNC"), ("_ZSt15__once_callable", "TLS")]
    assert link("names", [*known, ("pthread_cond_until_monday", "FUNC")])[1] == {
        "pthread_cond_until_monday"
    }


@pytest.mark.parametrize("system", ["this system", "an old system"])
def test_waits_follow_the_steady_clock(link, system):
    program, missing = link("waits")
    assert not missing
    old = {"OLD_SYSTEM": "1"} if system == "an old system" else {}
    assert run(program, **old) == (0, "ok\n")
