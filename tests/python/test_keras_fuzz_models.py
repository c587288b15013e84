"""Whole models of Keras, drawn at random, beside those of the C++ library: a fixed sample of tests/models/fuzz_models.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import fuzz_models  # noqa: E402


@pytest.mark.parametrize("first", range(0, 120, 30))
def test_random_models(first, tmp_path):
    count, failed = fuzz_models.play(range(first, first + 30), tmp_path)
    assert not failed, "\n".join(f"seed {seed}: {said}" for seed, said, _ in failed)
    assert count >= 24  # the others Keras itself cannot train or load
