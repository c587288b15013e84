#!/usr/bin/env python3
"""Runs the own tests of packages built on Keras: tools/test_packages.py [package ...].

Installs each package of tests/packages/packages.toml, unmodified and pinned, into build/packages, in
an environment with the Keras that it was made for, and runs the tests of its source distribution with
our module as the backend. Prints a table and ends with a non-zero status if a test fails that is not
listed as not applicable, or if fewer pass than recorded. --module takes another folder than
build/python for our module.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "packages"
WORK = ROOT / "build" / "packages"

sys.path.insert(0, str(ROOT / "tools"))
from test_keras import once  # noqa: E402


class Environment:
    """A venv with a Keras and the packages of its days."""

    def __init__(self, name, requirements):
        self.folder = WORK / f"venv-{name.replace(' ', '-')}"
        self.python = self.folder / "bin" / "python"
        self.requirements = requirements

    def pip(self, *args):
        command = [self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *args]
        subprocess.run(command, check=True)

    def make(self):
        def make():
            print(f"test-packages: preparing {self.folder.relative_to(ROOT)}", flush=True)
            venv.create(self.folder, with_pip=True, clear=True)
            self.pip("install", *self.requirements)

        once(self.folder, " ".join(self.requirements), make)


class Package:
    def __init__(self, name, data, environment):
        self.name, self.data, self.environment = name, data, environment
        self.version = data["version"]
        self.site = WORK / f"site-{name}"
        self.source = WORK / f"source-{name}"

    def make(self):
        """The package and what it needs, in a folder of their own; its sources beside it."""
        wanted = [f"{self.name}=={self.version}", *self.data.get("needs", [])]

        def install():
            shutil.rmtree(self.site, ignore_errors=True)
            options = ["--no-deps", "--no-build-isolation", "--target", self.site]
            self.environment.pip("install", *options, *wanted)

        def unpack():
            shutil.rmtree(self.source, ignore_errors=True)
            downloads = WORK / "downloads" / self.name
            shutil.rmtree(downloads, ignore_errors=True)
            options = ["--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
            self.environment.pip("download", *options, wanted[0], "-d", downloads)
            [archive] = downloads.iterdir()
            found = hashlib.sha256(archive.read_bytes()).hexdigest()
            if found != self.data["sha256"]:
                expected = self.data["sha256"]
                sys.exit(f"test-packages: {archive.name}: sha256 {found}; expected {expected}.")
            with tarfile.open(archive) as tar:
                tar.extractall(self.source, filter="data")

        once(self.site, " ".join(wanted), install)
        once(self.source, self.data["sha256"], unpack)

    def run(self, module):
        """Outcomes: {test: (kind, reason)}."""
        [folder] = self.source.iterdir()
        # The tests alone: what they import is what pip installed.
        place = WORK / f"run-{self.name}"
        shutil.rmtree(place, ignore_errors=True)
        for tests in self.data["tests"]:
            shutil.copytree(folder / tests, place / tests)
        report = WORK / f"{self.name}.xml"
        report.unlink(missing_ok=True)
        command = [
            self.environment.python,
            "-m",
            "pytest",
            "-q",
            "--tb=short",
            "-p",
            "no:cacheprovider",
        ]
        command += ["-c", DATA / "pytest.ini", f"--rootdir={place}", f"--junitxml={report}"]
        command += ["--timeout=900", "--disable-warnings", "--continue-on-collection-errors"]
        for group in self.data.get("not_applicable", []):
            for test in group["tests"]:
                command += [
                    f"--ignore={place / test}" if "::" not in test else f"--deselect={test}"
                ]
        with open(WORK / f"{self.name}.log", "w") as log:
            subprocess.run(
                [*command, *self.data["tests"]],
                cwd=place,
                env=self.variables(module),
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        return read_report(report)

    def variables(self, module):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HORNGATE_", "KERAS_"))}
        env |= {"KERAS_BACKEND": "horngate", "KERAS_HOME": str(WORK / "home")}
        env |= {"PYTHONHASHSEED": "0", "HORNGATE_QUIET": "1"}
        paths = [module, self.site]
        if self.data.get("stand_in"):
            paths.append(DATA / "stand_in")
        env["PYTHONPATH"] = os.pathsep.join(map(str, paths))
        return env


def read_report(path):
    if not path.exists():
        return {"pytest": ("failed", "it ended without a report")}
    outcomes = {}
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kind, reason = "passed", ""
        for child in case:
            if child.tag in ("failure", "error", "skipped"):
                kind = "skipped" if child.tag == "skipped" else "failed"
                lines = (child.get("message") or "").strip().splitlines() or [""]
                reason = re.sub(r"\s+", " ", lines[0])[:160]
        if outcomes.get(name, ("", ""))[0] != "failed":
            outcomes[name] = (kind, reason)
    return outcomes


def print_outcomes(package, outcomes):
    """Prints what happened; gives the numbers of passed and failed tests."""
    counts = collections.Counter(kind for kind, _ in outcomes.values())
    numbers = ", ".join(f"{counts[kind]} {kind}" for kind in ("passed", "failed", "skipped"))
    print(f"{package.name} {package.version}: {numbers}", flush=True)
    for test, (kind, reason) in sorted(outcomes.items()):
        if kind != "passed":
            print(f"  {kind}: {test}: {reason}")
    return counts["passed"], counts["failed"]


def main():
    data = tomllib.loads((DATA / "packages.toml").read_text())
    parser = argparse.ArgumentParser()
    parser.add_argument("packages", nargs="*", metavar="package", help="names (default: all)")
    parser.add_argument("--module", type=pathlib.Path, default=ROOT / "build" / "python")
    options = parser.parse_args()
    known = data["packages"]
    for name in options.packages:
        if name not in known:
            parser.error(f"there is no package {name}; there are {', '.join(known)}.")
    worse = []
    for name in options.packages or known:
        entry = known[name]
        environment = Environment(entry["environment"], data["environments"][entry["environment"]])
        package = Package(name, entry, environment)
        environment.make()
        package.make()
        passed, failed = print_outcomes(package, package.run(options.module.resolve()))
        if failed > entry.get("failed", 0) or passed < entry["passed"]:
            worse.append(name)
    if worse:
        sys.exit(f"test-packages: worse than recorded: {', '.join(worse)}.")


if __name__ == "__main__":
    main()
