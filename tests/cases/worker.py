"""Runs tests on an engine that this process does not have: a process holds one engine only.

Reads lines of JSON, {"file": .., "name": ..}, and answers each by {"outcome": .., "text": ..}.
"""

import json
import os
import subprocess
import sys
import traceback

import engine_process


class Worker:
    """The other process, as the tests see it."""

    def __init__(self, engine_name):
        # A compilation takes seconds, a case runs a few times.
        mode = os.environ.get("HORNGATE_THEANO_MODE", "FAST_COMPILE")
        environment = engine_process.environment(engine_name, HORNGATE_THEANO_MODE=mode)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cases.worker", engine_name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def run(self, path, name):
        try:
            self.process.stdin.write(json.dumps({"file": str(path), "name": name}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            return {"outcome": "failed", "text": f"the process ended: {self.process.wait()}"}
        return json.loads(line)

    def is_alive(self):
        return self.process.poll() is None


def answer(request, engine):
    from cases import harness, modes

    for item in harness.items_of(request["file"], [engine]):
        if item.name != request["name"]:
            continue
        try:
            modes.run(item)
        except modes.Skipped as e:
            return {"outcome": "skipped", "text": str(e)}
        except Exception:  # noqa: BLE001 - the other process tells
            return {"outcome": "failed", "text": traceback.format_exc()}
        return {"outcome": "passed", "text": ""}
    return {"outcome": "failed", "text": "no such item"}


def main(engine_name):
    from cases import engines

    # What K functions print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    engine = engines.find(engine_name)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), engine)), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
