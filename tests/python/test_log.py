"""Warnings of the library: Python's warnings, or a handler."""

import logging
import warnings

import horngate as K
import pytest


@pytest.fixture
def handler():
    yield K.set_log_handler
    K.set_log_handler(None)


def warn():
    v = K.variable(1.0, name="v")
    K.function([], [], [K.update(v, 2.0), K.update(v, 3.0)])


def test_warnings_are_pythons():
    with pytest.warns(UserWarning, match='function: variable "v"'):
        warn()


def test_a_function_takes_them(handler):
    lines = []
    handler(lambda level, text: lines.append((level, text)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn()
    assert [level for level, _ in lines] == ["warning"]
    assert lines[0][1].startswith('function: variable "v"')
    handler(None)
    with pytest.warns(UserWarning):
        warn()
    assert len(lines) == 1


def test_a_logger_takes_them(handler, caplog):
    handler(logging.getLogger("horngate.test"))
    warn()
    [record] = caplog.records
    assert (record.name, record.levelname) == ("horngate.test", "WARNING")
    assert record.getMessage().startswith('function: variable "v"')


def test_what_a_handler_raises_is_seen(handler):
    def refuse(level, text):
        raise KeyError(text)

    handler(refuse)
    with pytest.raises(KeyError, match="function: variable"):
        warn()


def test_a_wrong_handler():
    with pytest.raises(TypeError, match="set_log_handler: handler must be .*; got int."):
        K.set_log_handler(3)
