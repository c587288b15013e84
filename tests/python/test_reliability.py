"""The soaks of tests/reliability that are written in Python, in a small form."""

import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(__file__), os.pardir, "reliability")


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, os.path.join(FOLDER, name), *arguments],
        capture_output=True,
        text=True,
        timeout=900,
    )
    lines = done.stdout.splitlines()
    assert lines, done.stderr
    figures = json.loads(lines[-1])
    assert figures["ok"] and done.returncode == 0, (figures, done.stderr)


def test_children_of_a_busy_process_work():
    run("fork_under_load.py", "--forks", "15", "--pools", "1")


def test_children_of_a_process_that_begins_work():
    run("fork_at_start.py", "--runs", "40")


def test_long_calls_can_be_interrupted():
    # Machines that run tests have other things to do too: the bar of the full form is 0.2 s.
    run("ctrl_c.py", "--times", "6", "--limit", "1.0")


def test_a_killed_program_leaves_whole_models():
    run("sigkill_models.py", "--kills", "10")
