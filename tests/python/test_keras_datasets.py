"""The data sets of Keras that hold texts: lists of unequal length in arrays of objects."""

import tempfile

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    pytest.importorskip("keras", reason="Keras is not installed")
    from keras.datasets import imdb, reuters


def lists(*lengths):
    x = np.empty(len(lengths), dtype=object)
    for i, n in enumerate(lengths):
        x[i] = list(range(1, n + 1))
    return x


def test_imdb(tmp_path, monkeypatch):
    path = tmp_path / "imdb.npz"
    y = np.array([0, 1, 1])
    np.savez(path, x_train=lists(2, 5, 3), y_train=y, x_test=lists(4, 1, 1), y_test=y)
    monkeypatch.setattr(imdb, "get_file", lambda *args, **kwargs: str(path))
    (x_train, y_train), (x_test, _) = imdb.load_data(num_words=6)
    assert sorted(map(len, x_train)) == [3, 4, 6]  # each begins with a sign for the start
    assert sorted(map(len, x_test)) == [2, 2, 5]
    assert sorted(y_train) == [0, 1, 1] and max(max(x) for x in x_train) < 6


def test_reuters(tmp_path, monkeypatch):
    path = tmp_path / "reuters.npz"
    np.savez(path, x=lists(2, 5, 3, 4, 6), y=np.arange(5))
    monkeypatch.setattr(reuters, "get_file", lambda *args, **kwargs: str(path))
    (x_train, _), (x_test, _) = reuters.load_data(test_split=0.4)
    assert sorted(map(len, [*x_train, *x_test])) == [3, 4, 5, 6, 7]


def test_lists_of_one_length_stay_a_matrix(tmp_path, monkeypatch):
    path = tmp_path / "reuters.npz"
    np.savez(path, x=lists(2, 2, 2, 2), y=np.arange(4))
    monkeypatch.setattr(reuters, "get_file", lambda *args, **kwargs: str(path))
    (x_train, _), _ = reuters.load_data(test_split=0.5)
    assert x_train.shape == (2, 3) and x_train.dtype.kind == "i"
