"""A pytest plug-in that runs the tests of Keras on our module; tools/test_keras.py loads it.

Keras's files stay as they are: skip marks are lifted, and tests that do not apply are skipped, here.
Outcomes go to the file of HORNGATE_SUITE_RESULTS, one line each: test, outcome, reason.
"""

import json
import os
import sys
import types

import pytest
import suite_data

_VERSION = os.environ["HORNGATE_SUITE_VERSION"]
_NOT_APPLICABLE = suite_data.not_applicable(_VERSION)
_SKIPS = {"skip", "skipif"}
_PREFIX = "not applicable: "


def _stand_in(name):
    """Puts our functions under the name of a backend of Keras.

    backend_test.py tests keras.backend.tensorflow_backend when it does not know the backend's name.
    """
    import horngate
    import keras.backend as K

    module = types.ModuleType(f"keras.backend.{name}")
    for function in horngate.__all__:
        # Settings are Keras's own.
        setattr(module, function, getattr(K, function, getattr(horngate, function)))
    # What module-level conditions of the tests ask of a backend of that name.
    module._is_tf_1 = lambda: False
    module._get_available_gpus = list
    module.th_sparse_module = object()
    sys.modules[module.__name__] = module
    setattr(K, name, module)


def pytest_configure(config):
    if not suite_data.loads_us(_VERSION):
        import horngate.keras  # noqa: F401  (before Keras)
    import numpy as np
    import scipy.misc
    import scipy.special

    np.random.seed(1337)
    # The reference functions of 2.2 take it from there.
    scipy.misc.logsumexp = scipy.special.logsumexp
    for name in ("tensorflow_backend", "theano_backend"):
        _stand_in(name)


@pytest.fixture(autouse=True)
def _clear_session():
    """Keras's conftest does this for the backends that it knows by name."""
    import horngate

    yield
    horngate.clear_session()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    # The file asks tensorflow for its version, and nothing more.
    if not collector.nodeid.endswith("metrics_confusion_matrix_test.py"):
        return (yield)
    sys.modules["tensorflow"] = types.ModuleType("tensorflow")
    sys.modules["tensorflow"].__version__ = "1.15.0"
    try:
        return (yield)
    finally:
        del sys.modules["tensorflow"]


def _lift_marks(item, entry):
    """Removes the skip marks of a test, and of its class and file if the entry covers them."""
    for node in item.listchain():
        if suite_data.covers(entry, node.nodeid):
            node.own_markers[:] = [m for m in node.own_markers if m.name not in _SKIPS]


def _reason(test):
    """Why a test does not apply, if so, with the entry that says it."""
    return next((pair for pair in _NOT_APPLICABLE if suite_data.covers(pair[0], test)), None)


def pytest_collection_modifyitems(items):
    for item in items:
        # A tolerance for each backend that Keras knows by name.
        if precision := getattr(item.module, "decimal_precision", None):
            precision.setdefault("horngate", precision["tensorflow"])
        for entry in suite_data.lifted():
            if suite_data.covers(entry, item.nodeid):
                _lift_marks(item, entry)
        if found := _reason(item.nodeid):
            entry, reason = found
            _lift_marks(item, entry)
            item.add_marker(pytest.mark.skip(reason=_PREFIX + reason))


def _outcome(report):
    """The outcome that counts, and why; none while a test goes on."""
    if isinstance(report, pytest.CollectReport) or report.failed:
        return "failed", str(report.longrepr).strip().splitlines()[-1][:200]
    if report.skipped:
        reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else "xfail"
        reason = reason.removeprefix("Skipped: ")
        if reason.startswith(_PREFIX):
            return "not applicable", reason.removeprefix(_PREFIX)
        return "skipped", reason
    return ("passed", "") if report.when == "call" else None


class _Recorder:
    """Writes the outcomes down, in the process that hears of all of them."""

    def __init__(self, path):
        self._file = open(path, "w")

    def _put(self, test, kind, reason):
        self._file.write(json.dumps([test, kind, reason]) + "\n")
        self._file.flush()

    def pytest_runtest_logreport(self, report):
        if outcome := _outcome(report):
            self._put(report.nodeid, *outcome)

    def pytest_collectreport(self, report):
        if report.failed:  # a file that cannot be imported
            found = _reason(report.nodeid)
            self._put(report.nodeid, *(("not applicable", found[1]) if found else _outcome(report)))


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    results = os.environ.get("HORNGATE_SUITE_RESULTS")
    if results and not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Recorder(results))
