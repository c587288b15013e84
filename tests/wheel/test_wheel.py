"""`make test-wheel`: what `make wheel` left in dist/, in fresh environments that have no compiler."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

import docs_code
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEELS = sorted((ROOT / "dist").glob("*.whl"))
VERSION = re.search(r"project\(Horngate VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[
    1
]
LARGEST = 30_000_000  # bytes of a wheel
SYMBOL = re.compile(r"(GLOBAL|WEAK|UNIQUE) +DEFAULT +(\w+) ([\w.@]+)")  # of readelf

assert WHEELS, "no wheels in dist/: run `make wheel` first"


def pythons():
    """version -> interpreter, of those that are here."""
    found = {}
    places = [sys._base_executable] + [shutil.which(f"python3.{n}") for n in range(11, 20)]
    places += glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[1-9]*/bin/python"))
    for place in filter(None, places):
        said = subprocess.run(
            [place, "-c", "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
        )
        if said.returncode == 0:
            found.setdefault(said.stdout.strip(), place)
    return found


def fits(wheel, version):
    tag = wheel.name.split("-")[2:4]
    number = int(version.split(".")[1])
    return number >= 12 if tag == ["cp312", "abi3"] else tag == [f"cp3{number}"] * 2


PAIRS = [(w, v, p) for v, p in sorted(pythons().items()) for w in WHEELS if fits(w, v)]


def variables(environment):
    """Nothing else is on PATH."""
    return {"PATH": f"{environment}/bin", "HOME": str(environment), "HORNGATE_QUIET": "1"}


def run(environment, *words, status=0, **more):
    said = subprocess.run(
        [environment / "bin" / words[0], *map(str, words[1:])],
        env=variables(environment) | more,
        cwd=environment,
        capture_output=True,
        text=True,
    )
    assert said.returncode == status, said.stdout + said.stderr
    return said.stdout if status == 0 else said.stderr


def install(environment, *what):
    # The index of this machine, if it has one of its own.
    index = {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    run(environment, "python", "-m", "pip", "install", "-q", "--disable-pip-version-check",
        "--only-binary", ":all:", *what, **index)  # fmt: skip


@pytest.fixture(
    scope="module", params=PAIRS, ids=lambda pair: f"{pair[1]}-{pair[0].name.split('-')[3]}"
)
def installed(request, tmp_path_factory):
    wheel, version, python = request.param
    environment = tmp_path_factory.mktemp("environment") / f"python{version}"
    subprocess.run([python, "-m", "venv", environment], check=True)
    started = time.monotonic()
    install(environment, wheel)
    return wheel, environment, time.monotonic() - started


def test_every_wheel_has_a_python_here():
    assert {w for w, _, _ in PAIRS} == set(WHEELS), PAIRS


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda w: w.name.split("-")[2])
def test_size_and_name(wheel):
    assert wheel.stat().st_size <= LARGEST, wheel.stat().st_size
    platforms = re.findall(r"manylinux_2_([0-9]+)_x86_64", wheel.name)
    assert platforms and min(map(int, platforms)) <= 28, wheel.name
    assert wheel.name.startswith(f"horngate-{VERSION}-")


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda w: w.name.split("-")[2])
def test_the_wheel_holds_each_library_once(wheel):
    with zipfile.ZipFile(wheel) as archive:
        libraries = [i for i in archive.infolist() if ".so" in i.filename]
    assert len({i.CRC for i in libraries}) == len(libraries), [i.filename for i in libraries]
    # auditwheel puts what it had to add here.
    assert not [i for i in libraries if "horngate.libs" in i.filename]


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda w: w.name.split("-")[2])
def test_nothing_is_left_open(wheel, tmp_path):
    """Names that are asked for without a version are those of Python, or of another file of the wheel.

    The linker lets a Python module have open names, and here a newer system would have them all.
    """
    with zipfile.ZipFile(wheel) as archive:
        files = [archive.extract(n, tmp_path) for n in archive.namelist() if ".so" in n]
    found, asked = set(), {}
    for file in files:
        said = subprocess.run(
            ["readelf", "-W", "--dyn-syms", file], capture_output=True, text=True, check=True
        )
        for binding, section, name in SYMBOL.findall(said.stdout):
            if section != "UND":
                found.add(name.partition("@")[0])
            elif binding == "GLOBAL" and "@" not in name:
                asked.setdefault(name, []).append(os.path.basename(file))
    assert len(found) > 1000, found
    left = {n: f for n, f in asked.items() if n not in found and not re.match("_?Py", n)}
    assert not left, left


def test_the_program_of_the_readme(installed, tmp_path):
    """It prints what the page says, by the same comparison as in `make test`."""
    _, environment, seconds = installed
    started = time.monotonic()
    docs_code.run_python(
        ROOT / "README.md", tmp_path, variables(environment), environment / "bin/python"
    )
    print(f"installed in {seconds:.1f} s, README's program in {time.monotonic() - started:.2f} s")


def test_the_import_is_short(installed):
    """What users were promised, after NumPy; the least of several processes, since other programs run too."""
    _, environment, _ = installed
    program = (
        "import time, numpy; start = time.perf_counter(); import horngate; "
        "print(time.perf_counter() - start)"
    )
    seconds = sorted(float(run(environment, "python", "-c", program)) for _ in range(7))
    print(f"import horngate: {seconds[0]:.4f} to {seconds[-1]:.4f} s")
    assert seconds[0] <= 0.06, seconds


def test_what_users_do(installed):
    _, environment, _ = installed
    said = json.loads(run(environment, "python", ROOT / "tests/wheel/program.py"))
    print(said)
    assert said["version"] == VERSION
    assert said["compilers"] == []
    assert said["openmp"] == []
    assert {"libdnnl.so.3", "libscipy_openblas.so", "libhorngate_gomp.so.1"} <= set(
        said["libraries"]
    )


def test_the_command(installed):
    _, environment, _ = installed
    assert run(environment, "horngate", "--version") == f"horngate {VERSION}\n"
    assert re.search(r"native .* ready", run(environment, "horngate", "engines"))
    # The installer, which is a Python program, is found.
    assert 'there is no "abacus"' in run(
        environment, "horngate", "engines", "install", "abacus", status=2
    )
    assert VERSION in run(environment, "horngate", "info")


def test_the_extra_onnx_is_an_engine(installed):
    wheel, environment, _ = installed
    install(environment, f"{wheel}[onnx]")
    assert re.search(r"onnx .* ready", run(environment, "horngate", "engines"))
    program = (
        "import numpy as np, horngate as K; x = np.arange(6.0).reshape(2, 3)\n"
        "print(K.backend(), K.eval(K.sum(K.exp(K.constant(x)) * 2)) / (np.exp(x).sum() * 2))"
    )
    name, ratio = run(
        environment, "python", "-c", program, KERAS_BACKEND="onnx", HORNGATE_STRICT="1"
    ).split()
    assert name == "onnx" and abs(float(ratio) - 1) < 1e-6


def test_the_source_distribution_has_what_a_build_needs():
    (source,) = (ROOT / "dist").glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    # `make wheel` built the wheels from it; here that nothing else is in it.
    assert {"CMakeLists.txt", "LICENSE", "src/ir/prims.def", "python/horngate/py.typed"} <= names
    assert not [n for n in names if re.match(r"(build|dist|tests|docs|\.venv|\.git)(-|/|$)", n)]
