"""The same thing said in two ways, some hundred draws with a seed of its own in every run; see
tests/reliability/metamorphic.py."""

import sys
import warnings

import numpy as np
import pytest
import reliability_program

SEED = int(np.random.SeedSequence().entropy % 2**31)
DRAWS = 80  # of each relation


metamorphic = reliability_program.load("metamorphic")


@pytest.mark.parametrize("relation", metamorphic.RELATIONS)
def test_relation(relation, record_property):
    record_property("seed", SEED)
    print(
        f"metamorphic.py --relation {relation} --draws {DRAWS} --seed {SEED}", file=sys.__stderr__
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        figures = metamorphic.run(DRAWS, SEED, relation)
    assert figures["first"] == [], f"seed {SEED}"
    assert figures["draws"] == DRAWS


def test_differences_are_seen():
    """The comparison itself fails where it should."""

    def seen(a, b, limit=1e-6):
        try:
            metamorphic.agree(a, b, "", limit)
        except metamorphic.Mismatch:
            return True
        return False

    one = np.array([1.0, 2.0, 3.0])
    assert not seen(one, one) and not seen(None, None) and not seen(one, one + 1e-7)
    assert seen(one, one + 1e-5) and seen(one, None) and seen(one, one[:2])
    assert seen(one, np.array([1.0, 2.0, np.nan])) and seen(one, one.astype("float32"))
    assert seen(np.array([True]), np.array([False]))


def test_limits_come_from_conditioning():
    def run(arrays):
        return [arrays[0] * 1.0, 1e6 * (arrays[0] - 1)], [None]

    (small, large), none = metamorphic.limits(run, [np.full(5, 1.0)], "float64")
    assert small < 1e-12 < 1e-9 < large and none == [256 * 2.0**-52]
