#!/usr/bin/env python3
"""Runs Keras's own tests on our module: tools/test_keras.py [version] [-- pytest arguments].

Downloads the version's source distribution and packages into build/keras-suite, runs the tests of an
unmodified Keras there, and prints passed, failed and not applicable per file. Ends with a non-zero
status if fewer pass than tests/keras_suite/suite.toml records. With pytest arguments it runs a part
and compares nothing.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUITE = ROOT / "tests" / "keras_suite"
WORK = ROOT / "build" / "keras-suite"
PYTHON = WORK / "venv" / "bin" / "python"

sys.path.insert(0, str(SUITE))
import suite_data  # noqa: E402


def pip(*args):
    command = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", *args]
    subprocess.run(command, check=True)


def once(path, key, make):
    """Makes something unless the file beside it says that it was made from the same key."""
    stamp = path.with_name(path.name + ".made")
    if not stamp.exists() or stamp.read_text() != key:
        path.parent.mkdir(parents=True, exist_ok=True)
        make()
        stamp.write_text(key)


def make_environment():
    requirements = SUITE / "environment.txt"

    def make():
        print("test-keras: preparing build/keras-suite/venv", flush=True)
        venv.create(WORK / "venv", with_pip=True, clear=True)
        pip("install", "-r", requirements)

    once(WORK / "venv", requirements.read_text(), make)


def install_keras(version, packages, folder):
    """Keras and what it needs, in a folder of their own, from the wheels that users get."""
    wanted = [f"keras=={version}", *packages]

    def make():
        pip("install", "--no-deps", "--target", folder, "--upgrade", *wanted)

    once(folder, " ".join(wanted), make)


def unpack_tests(version, sha256, folder):
    """The tests of the source distribution, without its copy of Keras."""

    def make():
        pip("download", "--no-deps", "--no-binary", ":all:", f"keras=={version}", "-d", WORK)
        archive = WORK / f"Keras-{version}.tar.gz"
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != sha256:
            sys.exit(f"test-keras: {archive.name} has the sha256 {found}; expected {sha256}.")
        with tarfile.open(archive) as tar:
            start = f"Keras-{version}/tests/"
            members = [m for m in tar.getmembers() if m.name.startswith(start) and m.isfile()]
            for member in members:
                if member.name.endswith(".pyc"):
                    continue
                member.name = member.name.removeprefix(f"Keras-{version}/")
                tar.extract(member, folder)

    once(folder / "tests", sha256, make)


def environment(version, site):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HORNGATE_", "KERAS_"))}
    env["KERAS_BACKEND"] = "horngate"
    env["KERAS_HOME"] = str(WORK / "home")
    env["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT / "build" / "python", site, SUITE)))
    env["PYTHONHASHSEED"] = "0"
    env["HORNGATE_SUITE_VERSION"] = version
    env["HORNGATE_SUITE_RESULTS"] = str(WORK / f"results-{version}.jsonl")
    return env


def run_tests(version, folder, site, jobs, arguments):
    command = [PYTHON, "-m", "pytest", "-q", "-p", "suite_plugin", "-p", "no:nose"]
    command += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--timeout=600"]
    command += ["--disable-warnings"]
    # Not the settings of our own tests, which pytest would find in a folder above.
    command += ["-c", SUITE / "pytest.ini", f"--rootdir={folder}", "--tb=short", "-n", str(jobs)]
    command += [f"--ignore={folder / name}" for name in suite_data.SUITE["ignored"]["files"]]
    command += arguments or ["tests"]
    subprocess.run(command, cwd=folder, env=environment(version, site), check=False)


def read_results(version):
    """The outcome of each test; a failure at its end counts even if the test itself passed."""
    outcomes = {}
    for line in (WORK / f"results-{version}.jsonl").read_text().splitlines():
        test, kind, reason = json.loads(line)
        if outcomes.get(test, ("", ""))[0] != "failed":
            outcomes[test] = (kind, reason)
    return outcomes


KINDS = ("passed", "failed", "skipped", "not applicable")


def print_table(outcomes):
    files = collections.defaultdict(collections.Counter)
    for test, (kind, _) in outcomes.items():
        files[test.split("::")[0]][kind] += 1
    width = max(map(len, files), default=10)
    print(f"\n{'file':{width}}  {'passed':>6}  {'failed':>6}  {'skipped':>7}  {'n/a':>4}")
    for file in sorted(files):
        numbers = [files[file][kind] or "" for kind in KINDS]
        print("{:{}}  {:>6}  {:>6}  {:>7}  {:>4}".format(file, width, *numbers))
    for test, (kind, reason) in sorted(outcomes.items()):
        if kind in ("failed", "skipped"):
            print(f"{kind}: {test}: {reason}")


def main():
    parser = argparse.ArgumentParser(usage="%(prog)s [version] [--jobs N] [-- pytest arguments]")
    parser.add_argument("version", nargs="?", default="2.3.1", choices=suite_data.SUITE["versions"])
    parser.add_argument("--jobs", default=os.cpu_count(), help="processes (default: one per core)")
    own, arguments = sys.argv[1:], []
    if "--" in own:
        cut = own.index("--")
        own, arguments = own[:cut], own[cut + 1 :]
    options = parser.parse_args(own)
    version, data = options.version, suite_data.SUITE["versions"][options.version]

    folder, site = WORK / f"keras-{version}", WORK / f"site-{version}"
    make_environment()
    install_keras(version, data["packages"], site)
    unpack_tests(version, data["sha256"], folder)
    run_tests(version, folder, site, options.jobs, arguments)

    outcomes = read_results(version)
    print_table(outcomes)
    numbers = collections.Counter(kind for kind, _ in outcomes.values())
    applicable = len(outcomes) - numbers["not applicable"]
    share = 100 * numbers["passed"] / max(applicable, 1)
    print(
        f"\nKeras {version}: {numbers['passed']} of {applicable} applicable tests passed ({share:.1f} %),"
        f" {numbers['failed']} failed, {numbers['skipped']} skipped,"
        f" {numbers['not applicable']} not applicable"
    )
    if not arguments and numbers["passed"] < data["passed"]:
        sys.exit(f"test-keras: {data['passed']} tests passed when this was last recorded.")


if __name__ == "__main__":
    main()
