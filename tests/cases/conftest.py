"""Makes tests of the cases: every file of this folder but the helpers is the cases of one op."""

import os
import traceback

os.environ.setdefault("HORNGATE_NO_CONFIG_WRITE", "1")
os.environ.setdefault("HORNGATE_QUIET", "1")

import pytest

pytest.register_assert_rewrite("cases")

import horngate as K  # noqa: E402
from cases import harness, modes  # noqa: E402
from cases.worker import Worker  # noqa: E402

_workers: dict = {}


class CaseFile(pytest.File):
    def collect(self):
        for item in harness.items_of(self.path):
            yield CaseItem.from_parent(self, name=item.name, item=item)


class CaseItem(pytest.Item):
    def __init__(self, *, item, **keywords):
        super().__init__(**keywords)
        self.item = item
        if item.case.slow:
            self.add_marker("slow")

    def runtest(self):
        if self.item.engine.name != K.backend():
            self.run_elsewhere()
            return
        try:
            modes.run(self.item)
        except modes.Skipped as e:
            pytest.skip(str(e))

    def run_elsewhere(self):
        name = self.item.engine.name
        if name not in _workers or not _workers[name].is_alive():
            _workers[name] = Worker(name)
        result = _workers[name].run(self.path, self.item.name)
        if result["outcome"] == "skipped":
            pytest.skip(result["text"])
        assert result["outcome"] == "passed", result["text"]

    def repr_failure(self, excinfo):
        """The error, and where it arose in this folder; what NumPy does to tell is of no interest."""
        frames = traceback.extract_tb(excinfo.tb)
        ours = [f for f in frames if os.path.dirname(f.filename) == str(self.path.parent)]
        lines = [f"{self.path}:{self.item.case.line}: {self.name}"]
        lines += traceback.format_list(ours)
        lines += traceback.format_exception_only(excinfo.value)
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def reportinfo(self):
        return self.path, self.item.case.line - 1, self.name


def pytest_collect_file(file_path, parent):
    # A file that the command line names goes through the hook below.
    if harness.is_case_file(file_path) and not parent.session.isinitpath(file_path):
        return CaseFile.from_parent(parent, path=file_path)


def pytest_pycollect_makemodule(module_path, parent):
    if harness.is_case_file(module_path):
        return CaseFile.from_parent(parent, path=module_path)


def pytest_unconfigure():
    for worker in _workers.values():
        worker.process.stdin.close()
        worker.process.wait()
