"""What is tried on a fault, in order, until something catches it."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from mutate.tree import TREE

PYTHON = str(TREE / ".venv" / "bin" / "python")
TESTS = str(TREE / "build" / "bin" / "horngate_tests")

# Left out: they measure time, or need minutes for what a fault does not touch.
SLOW = "Speed*:Depth*:*EngineTest*:Memory*"

# Python tests about the clone itself, other engines, installing: no fault fails them, or all do.
OTHER = (
    "test_adding",
    "test_mutate",
    "test_cpp_signatures",
    "test_doc_examples",
    "test_engine",
    "test_engines_install",
    "test_examples_keras",
    "test_export_onnx",
    "test_generated_docs",
    "test_keras_applications",
    "test_keras_datasets",
    "test_keras_files",
    "test_keras_hostile",
    "test_oracle",
    "test_readme",
    "test_start",
    "test_stubs",
)


@dataclass(frozen=True)
class Stage:
    """A program that ends with status 0 unless it sees a fault, which takes it far fewer seconds."""

    name: str
    command: tuple
    seconds: float
    environment: tuple = ()
    again: Callable | None = None  # of what it printed: the command that repeats what failed


def fuzz(name, seconds):
    common = (PYTHON, "-m", "fuzz", "--jobs", "1", "--most", "1", "--no-reduce")

    def again(text):
        found = re.search(r"^== seed (\d+), configuration (.*?):", text, re.M)
        return (*common, "--seeds", found[1], "--only", found[2]) if found else None

    # The hunt ends at its time; a run that is far over it has a program that hangs.
    environment = (("PYTHONPATH", str(TREE / "tests")), ("HORNGATE_VERIFY", "1"))
    return Stage(name, (*common, "--seconds", str(seconds)), seconds + 120, environment, again)


def gtest(name, pattern, seconds=300):
    positive, _, negative = pattern.partition("-")
    pattern = f"{positive or '*'}-{negative + ':' if negative else ''}{SLOW}"

    def again(text):
        ran = re.findall(r"^\[ RUN      \] (\S+)", text, re.M)
        return (TESTS, f"--gtest_filter={ran[-1]}") if ran else None

    command = (TESTS, f"--gtest_filter={pattern}", "--gtest_fail_fast")
    return Stage(name, command, seconds, (), again)


def pytest(name, arguments, seconds):
    common = (PYTHON, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider")

    def again(text):
        failed = re.search(r"^(?:FAILED|ERROR) (\S+::.*?)(?: - |$)", text, re.M)
        return (*common, failed[1]) if failed else None

    environment = (("HORNGATE_TEST_ENGINES", "native"),)
    return Stage(name, (*common, *arguments), seconds, environment, again)


def case_files(names):
    """Of tests/cases, or of tests/python."""
    folder = {True: "python", False: "cases"}
    return [f"tests/{folder[name.startswith('test_')]}/{name}.py" for name in names.split()]


def python_files():
    made = sorted((TREE / "tests" / "python").glob("test_*.py"))
    return [str(p.relative_to(TREE)) for p in made if not p.stem.startswith(OTHER)]


def stages(fault, settings, quick=False):
    """Some fuzzing, the tests of the area, the rest of a minute of fuzzing, then all tests."""
    has_fuzz = (TREE / "tests" / "fuzz" / "__main__.py").exists()
    if has_fuzz:
        yield fuzz("fuzzing", 8)
    tests = fault.tests or settings.get("tests")
    if tests:
        yield gtest("C++ tests of the area", tests)
    cases = fault.cases or settings.get("cases")
    if cases:
        yield pytest("cases of the area", case_files(cases), 900)
    if quick:
        return
    if has_fuzz:
        yield fuzz("the rest of a minute of fuzzing", 52)
    yield gtest("C++ tests", "*", 900)
    yield pytest("Python tests", python_files(), 1800)
    yield pytest("cases", ["tests/cases"], 7200)


def run(command, stage, number, log):
    """None when the command passes, else how it failed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HORNGATE_", "KERAS_"))}
    environment |= {
        "HORNGATE_FAULT": str(number),
        "HORNGATE_QUIET": "1",
        "HORNGATE_FUZZ_SECONDS": "1",  # that minute is a stage of its own
        "HORNGATE_NO_CONFIG_WRITE": "1",
        "HORNGATE_ENGINE_PATH": str(TREE / "build" / "lib" / "horngate" / "engines"),
        "KERAS_HOME": str(TREE / "build" / "keras"),
        **dict(stage.environment),
    }
    with open(log, "w") as out:
        process = subprocess.Popen(
            command,
            cwd=TREE,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(stage.seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # Workers of a fuzzer or of pytest are in its group, which ends with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if status == 0:
        return None
    if status is None:
        return "hangs"
    return f"crashes ({signal.Signals(-status).name})" if status < 0 else "fails"


def evidence(log):
    """The line of a log that says most."""
    lines = [line.strip() for line in open(log, errors="replace")]
    for mark in ("== seed", "[  FAILED  ]", "FAILED ", "Failure", "Error", "bug in horngate"):
        for line in lines:
            if mark in line:
                return line[:160]
    return lines[-1][:160] if lines else ""


def is_its_doing(stage, how, log):
    """Whether what failed passes without it: a busy machine and true defects fail tests too."""
    with open(log, errors="replace") as text:
        command = stage.again(text.read())
    if command is None:
        # What the fuzzer did when its time was up is not known; tests that hang show more.
        return how != "hangs" or "fuzz" not in stage.command
    return run(command, stage, 0, log.with_suffix(".without")) is None


def hunt(fault, settings, folder, quick=False):
    """What caught it, or that nothing did."""
    began = time.monotonic()
    log = folder / f"{fault.id}.log"
    for stage in stages(fault, settings, quick):
        # A finding that is not the fault's doing: once more, the fuzzer with other seeds.
        for _ in range(3):
            how = run(stage.command, stage, fault.number, log)
            if how is None or is_its_doing(stage, how, log):
                break
            print(f"{fault.id}: without it {stage.name} {how} too: {evidence(log)}", flush=True)
            how = None
        if how is not None:
            return {
                "caught": stage.name,
                "how": how,
                "evidence": evidence(log),
                "seconds": round(time.monotonic() - began, 1),
            }
    return {"caught": None, "whole": not quick, "seconds": round(time.monotonic() - began, 1)}
