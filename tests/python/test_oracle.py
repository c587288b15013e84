"""The second oracle leaves no function out. What needs TensorFlow is `make test-oracle`."""

import sys
from pathlib import Path

import pytest
import yaml

ORACLE = Path(__file__).parents[1] / "oracle"


@pytest.fixture
def oracle(monkeypatch):
    """The oracle's modules, which import each other by plain names."""
    monkeypatch.syspath_prepend(str(ORACLE))
    before = set(sys.modules)
    import catalogue
    import draws

    yield catalogue, draws
    for name in set(sys.modules) - before:
        if str(ORACLE) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_every_function_is_compared_or_listed(oracle):
    catalogue, draws = oracle
    draws.load()
    known = yaml.safe_load((ORACLE / "explained.yaml").read_text())
    names = catalogue.catalogue_names()
    assert len(names) == 155 + 9
    compared, listed = set(draws.makers), set(known["not_in_common"])
    assert set(names) - compared - listed == set()
    assert compared & listed == set()
    assert (compared | listed) - set(names) == set()


def test_draws_are_the_same_every_time(oracle):
    _, draws = oracle
    one = {d.key: d.checksum for d in draws.all_draws()}
    other = {d.key: d.checksum for d in draws.all_draws()}
    assert one == other and len(one) > 1500
    assert one != {d.key: d.checksum for d in draws.all_draws(seed=1)}


def test_what_is_explained_names_a_compared_function_and_a_reason(oracle):
    _, draws = oracle
    draws.load()
    known = yaml.safe_load((ORACLE / "explained.yaml").read_text())
    for entry in known["explained"]:
        assert set(entry["functions"]) <= set(draws.makers)
        assert entry["reason"] and entry["aspects"]
    for entry in known["not_in_common"].values():
        assert entry["reason"]


def test_differences_are_seen(oracle):
    """The comparison itself fails where it should."""
    import compare
    import numpy as np

    draw = {
        "checksum": 1,
        "label": "",
        "dtype": "float32",
        "tol": 1.0,
        "statistics": False,
        "refused": False,
        "narrow": None,
        "outs": [np.ones(3, "float32")],
    }

    def seen(**other):
        return [a for a, _ in compare.differences(draw, draw | other) if a]

    assert seen() == []
    assert seen(outs=[np.float32([1, 1, 1.0001])]) == ["value"]
    assert seen(outs=[np.ones(3)]) == ["value"]
    assert seen(outs=[np.ones((3, 1), "float32")]) == ["value"]
    assert seen(outs=[np.float32([1, 1, np.nan])]) == ["value"]
    assert seen(outs="ValueError: no") == ["error"]
    assert seen(checksum=2) == ["value"]
    draw["grads"] = [np.ones(2)]
    assert seen(grads=[np.array([1, 1.1])]) == ["gradient"]
    assert seen(grads=[None]) == ["none"]
    draw["static"] = [(4,)]
    assert seen() == ["gradient-ok", "static"] or seen() == ["static", "gradient-ok"]
