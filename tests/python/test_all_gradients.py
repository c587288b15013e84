"""Gradients of every function of the catalogue against differences; see tests/reliability."""

import pathlib
import sys
import warnings

import horngate as K
import numpy as np
import pytest
import reliability_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
ORACLE = str(ROOT / "tests" / "oracle")
DRAWS, SEED = 4, 0


def load():
    """The module, without leaving the oracle's plain names behind for other tests."""
    before = set(sys.modules)
    module = reliability_program.load("all_gradients")
    module.oracle.load()
    says = module.documented()
    for name in set(sys.modules) - before:
        if ORACLE in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    sys.path.remove(ORACLE)
    return module, says


all_gradients, SAYS = load()
NAMES = {kind: [n for n, says in SAYS.items() if says == kind] for kind in ("yes", "none", "-")}


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of old names
        yield


@pytest.mark.parametrize("name", NAMES["yes"])
def test_first_and_second_order(name):
    row = (
        all_gradients.check_dropout(SEED)
        if name == "dropout"
        else all_gradients.check_function(name, DRAWS, SEED)
    )
    assert row["failures"] == []
    assert row["draws"] >= (1 if name == "dropout" else DRAWS)
    assert row["first"] <= 1e-6 and row["second"] <= 1e-4


@pytest.mark.parametrize("name", NAMES["none"])
def test_gives_none(name):
    assert all_gradients.check_none(name) == []


def test_no_function_is_missing():
    assert sum(map(len, NAMES.values())) == 155 + 9
    assert set(NAMES["none"]) == set(all_gradients.NONE) | set(all_gradients.FROM_NOTHING)
    # What the page calls nothing to differentiate makes no tensor out of tensors, or changes state.
    for name in NAMES["-"]:
        assert name in K.__all__


def test_wrong_gradients_are_seen():
    """The comparison itself fails where it should."""
    arrays, rng = [np.array([1.0, 2.0, 3.0])], np.random.default_rng(0)
    right = 3 * arrays[0] ** 2

    def run(xs):
        return float(np.sum(xs[0] ** 3))

    def error(gradient):
        return all_gradients.compare(run, arrays, [0], [gradient], rng, 1e-6, False)

    assert error(right) < 1e-9
    assert error(right * (1 + 1e-5)) > 1e-6
    assert error(right[::-1]) > 0.1
    assert error(None) > 0.1
    with pytest.raises(all_gradients.Corner):
        all_gradients.compare(
            lambda xs: float(np.sum(np.abs(xs[0]))), [np.array([1e-7])], [0], [np.ones(1)], rng,
            1e-6, True,
        )  # fmt: skip
