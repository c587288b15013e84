#!/usr/bin/env python3
"""Runs Keras's own tests on our module: tools/test_keras.py [version] [--newest] [-- pytest arguments].

Downloads the version of Keras and its packages into build/keras-suite. smoke.py of
tests/keras_suite runs first; then, where suite.toml knows the version's source distribution, its
tests do, on an unmodified Keras. Keras 1 has no tests there, so ours of tests/keras_suite/keras_1 run. Prints passed, failed and not applicable per file and ends with a
non-zero status if fewer pass than recorded. --newest takes the newest NumPy, SciPy, h5py and so on
in place of those of Keras's days. With pytest arguments a part runs, and nothing is compared.
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
NEWEST = "2.3.1"

sys.path.insert(0, str(SUITE))
import suite_data  # noqa: E402


class Environment:
    """A venv of the suite: with the packages of Keras's days, or with the newest."""

    def __init__(self, newest):
        self.name = "newest" if newest else "pinned"
        self.folder = WORK / f"venv-{self.name}"
        self.python = self.folder / "bin" / "python"
        lines = (SUITE / "environment.txt").read_text().splitlines()
        self.requirements = [line for line in lines if line and not line.startswith("#")]
        if newest:  # but the tests need the pytest of their time
            self.requirements = [
                line if "pytest" in line or "flaky" in line else line.split("==")[0]
                for line in self.requirements
            ]

    def pip(self, *args):
        command = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *args]
        subprocess.run(command, check=True)

    def make(self):
        def make():
            print(f"test-keras: preparing {self.folder.relative_to(ROOT)}", flush=True)
            venv.create(self.folder, with_pip=True, clear=True)
            self.pip("install", *self.requirements)

        once(self.folder, " ".join(self.requirements), make)


def once(path, key, make):
    """Makes something unless the file beside it says that it was made from the same key."""
    stamp = path.with_name(path.name + ".made")
    if not stamp.exists() or stamp.read_text() != key:
        path.parent.mkdir(parents=True, exist_ok=True)
        make()
        stamp.write_text(key)


def install_keras(pip, version, packages, folder):
    """Keras and what it needs, in a folder of their own, from the wheels that users get."""
    wanted = [f"keras=={version}", *packages]

    def make():
        pip("install", "--no-deps", "--target", folder, "--upgrade", *wanted)

    once(folder, " ".join(wanted), make)


def unpack_tests(pip, version, sha256, folder):
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


def variables(version, site):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HORNGATE_", "KERAS_"))}
    env["KERAS_BACKEND"] = "horngate"
    env["KERAS_HOME"] = str(WORK / "home")
    env["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT / "build" / "python", site, SUITE)))
    env["PYTHONHASHSEED"] = "0"
    env["HORNGATE_SUITE_VERSION"] = version
    return env


def run_smoke(python, version, site):
    print(f"smoke: Keras {version}", flush=True)
    # Its own loader takes us from 2.2 on.
    way = [] if suite_data.loads_us(version) else ["-m", "horngate", "run"]
    command = [python, *way, SUITE / "smoke.py"]
    return subprocess.run(command, env=variables(version, site), check=False).returncode == 0


def run_tests(environment, version, folder, site, arguments):
    """The outcome of each test: pairs (kind, reason)."""
    results = WORK / f"results-{version}-{environment.name}.jsonl"
    command = [environment.python, "-m", "pytest", "-q", "-p", "suite_plugin", "-p", "no:nose"]
    command += ["-p", "no:cacheprovider", "--continue-on-collection-errors", "--timeout=600"]
    # Not the settings of our own tests, which pytest would find in a folder above.
    command += ["-c", SUITE / "pytest.ini", f"--rootdir={folder}", "--tb=short"]
    command += ["--disable-warnings"]
    command += [f"--ignore={folder / name}" for name in suite_data.SUITE["ignored"]["files"]]
    env = variables(version, site) | {"HORNGATE_SUITE_RESULTS": str(results)}
    subprocess.run([*command, *arguments], cwd=folder, env=env, check=False)
    return read_results(results)


def read_results(path):
    """A failure at a test's end counts even if the test itself passed."""
    outcomes = {}
    for line in path.read_text().splitlines():
        test, kind, reason = json.loads(line)
        if outcomes.get(test, ("", ""))[0] != "failed":
            outcomes[test] = (kind, reason)
    return outcomes


def try_again(outcomes, run):
    """Some tests of Keras wait for threads and clocks: what failed runs once more, alone."""
    failed = [test for test, (kind, _) in outcomes.items() if kind == "failed" and "::" in test]
    if not failed:
        return
    print("\ntest-keras: once more what failed", flush=True)
    for test, (kind, reason) in run(failed).items():
        if kind == "passed":
            print(f"passed when run again: {test}: {outcomes[test][1]}")
        outcomes[test] = (kind, reason)


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


def summary(version, environment, numbers, total):
    applicable = total - numbers["not applicable"]
    share = 100 * numbers["passed"] / max(applicable, 1)
    return (
        f"\nKeras {version}, {environment.name} packages: {numbers['passed']} of {applicable} applicable"
        f" tests passed ({share:.1f} %), {numbers['failed']} failed, {numbers['skipped']} skipped,"
        f" {numbers['not applicable']} not applicable"
    )


def parse(argv):
    own, arguments = argv, []
    if "--" in own:
        cut = own.index("--")
        own, arguments = own[:cut], own[cut + 1 :]
    parser = argparse.ArgumentParser(
        usage="%(prog)s [version] [--newest] [--jobs N] [-- pytest arguments]"
    )
    parser.add_argument("version", nargs="?", default=NEWEST, choices=suite_data.SUITE["versions"])
    parser.add_argument("--newest", action="store_true", help="with the newest packages")
    parser.add_argument("--jobs", default=os.cpu_count(), help="processes (default: one per core)")
    return parser.parse_args(own), arguments


def main():
    options, arguments = parse(sys.argv[1:])
    version, data = options.version, suite_data.SUITE["versions"][options.version]
    folder, site = WORK / f"keras-{version}", WORK / f"site-{version}"
    environment = Environment(options.newest)
    environment.make()
    install_keras(environment.pip, version, data["packages"], site)
    is_first = version.startswith("1.")
    if not (arguments or is_first) and not run_smoke(environment.python, version, site):
        sys.exit("test-keras: smoke.py failed.")
    if is_first:
        folder, reference = SUITE / "keras_1", WORK / f"site-{NEWEST}"
        install_keras(
            environment.pip, NEWEST, suite_data.SUITE["versions"][NEWEST]["packages"], reference
        )
        os.environ["SUITE_REFERENCE"] = str(reference)
    elif "sha256" in data:
        unpack_tests(environment.pip, version, data["sha256"], folder)
    else:
        return

    def run(some):
        return run_tests(environment, version, folder, site, some)

    jobs = ["-n", str(options.jobs)]
    outcomes = run([*jobs, *(arguments or ["." if is_first else "tests"])])
    if not arguments:
        try_again(outcomes, run)
    print_table(outcomes)
    numbers = collections.Counter(kind for kind, _ in outcomes.values())
    print(summary(version, environment, numbers, len(outcomes)))
    recorded = data.get("passed_newest" if options.newest else "passed", 0)
    if not arguments and numbers["passed"] < recorded:
        sys.exit(f"test-keras: {recorded} tests passed when this was last recorded.")


if __name__ == "__main__":
    main()
