"""A saved model is whole or not there at all: whatever ends the process, and on a full disk."""

import json
import os
import pathlib
import random
import stat
import sys
import tempfile
import threading
import warnings

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")

import h5py  # noqa: E402
from horngate.keras_compat import _saving  # noqa: E402
from keras import layers, models  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "reliability"))
import sigkill_save  # noqa: E402


def make_model(value, units=8):
    model = models.Sequential([layers.Dense(units, input_shape=(4,))])
    model.compile("adam", "mse")
    model.set_weights([np.full(w.shape, value, w.dtype) for w in model.get_weights()])
    return model


def saved_value(path):
    weights = models.load_model(str(path)).get_weights()
    values = {float(v) for w in weights for v in w.flat}
    assert len(values) == 1, "parts of two models"
    return values.pop()


@pytest.fixture(params=["no name before the end", "a name from the start"])
def folder(request, tmp_path, monkeypatch):
    """Also as on file systems without O_TMPFILE."""
    if request.param == "a name from the start":
        real = os.open

        def refuse(path, flags, *args, **options):
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(95, "Operation not supported")
            return real(path, flags, *args, **options)

        monkeypatch.setattr(os, "open", refuse)
    return tmp_path


def test_what_is_saved_is_loaded(folder):
    for value in (1, 2):
        make_model(value).save(str(folder / "model.h5"))
        assert saved_value(folder / "model.h5") == value
    assert os.listdir(folder) == ["model.h5"]


def test_weights_and_checkpoints(folder):
    model = make_model(3)
    model.save_weights(str(folder / "weights.h5"))
    other = make_model(0)
    other.load_weights(str(folder / "weights.h5"))
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    checkpoint = keras.callbacks.ModelCheckpoint(str(folder / "at-{epoch}.h5"))
    model.fit(np.zeros((4, 4)), np.zeros((4, 8)), epochs=2, verbose=0, callbacks=[checkpoint])
    assert sorted(os.listdir(folder)) == ["at-1.h5", "at-2.h5", "weights.h5"]


def test_a_failed_save_leaves_the_old_file_and_nothing_else(folder, monkeypatch):
    path = folder / "model.h5"
    make_model(1).save(str(path))
    model = make_model(2)
    monkeypatch.setattr(type(model.optimizer), "get_config", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.save(str(path))
    monkeypatch.undo()
    assert saved_value(path) == 1 and os.listdir(folder) == ["model.h5"]
    with pytest.raises(ZeroDivisionError):
        monkeypatch.setattr(keras.engine.saving, "save_weights_to_hdf5_group", lambda *_: 1 / 0)
        model.save_weights(str(folder / "new.h5"))
    assert os.listdir(folder) == ["model.h5"]


def test_modes_and_links_stay(folder):
    path = folder / "model.h5"
    mask = os.umask(0o027)
    try:
        make_model(1).save(str(path))
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    (folder / "link.h5").symlink_to("model.h5")
    make_model(2).save(str(folder / "link.h5"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert (folder / "link.h5").is_symlink() and saved_value(path) == 2
    (folder / "dangling.h5").symlink_to("made.h5")
    make_model(3).save(str(folder / "dangling.h5"))
    assert (folder / "dangling.h5").is_symlink() and saved_value(folder / "made.h5") == 3


def test_paths_of_every_kind(folder, monkeypatch):
    monkeypatch.chdir(folder)
    make_model(1).save("plain.h5")
    make_model(2).save_weights(folder / "path.h5")
    long = "x" * 240 + ".h5"
    make_model(3).save(long)
    make_model(4).save(long)
    odd = os.fsdecode(b"not utf-8 \xff.h5")
    make_model(5).save_weights(odd)
    assert sorted(os.listdir(".")) == sorted(["plain.h5", "path.h5", long, odd])
    assert saved_value(long) == 4
    with pytest.raises(OSError):
        make_model(1).save(str(folder / "no such folder" / "model.h5"))
    (folder / "folder.h5").mkdir()
    with pytest.raises(OSError):
        make_model(1).save("folder.h5")
    assert not os.listdir("folder.h5")


def test_groups_and_memory_are_written_as_before(folder):
    with h5py.File(str(folder / "own.h5"), "w") as file:
        models.save_model(make_model(1), file)
        file.attrs["more"] = 1
    assert saved_value(folder / "own.h5") == 1
    state = {}
    keras.engine.saving._serialize_model(make_model(2), keras.utils.io_utils.H5Dict(state))
    assert state


def test_no_overwriting_without_leave(folder, monkeypatch):
    path = str(folder / "model.h5")
    make_model(1).save(path)
    for module in (keras.engine.saving, keras.engine.network):
        monkeypatch.setattr(module, "ask_to_proceed_with_overwrite", lambda filepath: False)
    make_model(2).save(path, overwrite=False)
    make_model(2).save_weights(path, overwrite=False)
    assert saved_value(path) == 1
    monkeypatch.setattr(keras.engine.saving, "ask_to_proceed_with_overwrite", lambda filepath: True)
    models.save_model(make_model(3), filepath=path, overwrite=False)
    assert saved_value(path) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_stays():
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "model.h5"
        make_model(1).save(str(path))
        path.chmod(0o444)
        with pytest.raises(OSError):
            make_model(2).save(str(path))
        assert saved_value(path) == 1


def test_a_folder_without_leave_means_the_old_way(folder, monkeypatch):
    path = str(folder / "model.h5")
    make_model(1).save(path)
    access = os.access
    monkeypatch.setattr(os, "access", lambda p, m: p != str(folder) and access(p, m))
    with pytest.warns(RuntimeWarning, match="overwritten in place"):
        make_model(2).save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.undo()
        make_model(3).save(path)
    assert saved_value(path) == 3


def test_drafts_of_the_dead_go_and_those_of_the_living_stay(folder):
    path = folder / "model.h5"
    make_model(1).save(str(path))
    dead, living = (pathlib.Path(_saving._draft_of(str(path))) for _ in range(2))
    other = pathlib.Path(_saving._draft_of(str(folder / "other.h5")))
    for draft in (dead, living, other):
        draft.write_bytes(b"half")
    with open(living, "r+b") as file:
        _saving._hold(file.fileno())
        make_model(2).save(str(path))
        assert sorted(os.listdir(folder)) == sorted(["model.h5", living.name, other.name])
    make_model(3).save(str(path))
    assert sorted(os.listdir(folder)) == sorted(["model.h5", other.name])


def test_many_threads_and_one_file(folder):
    path = folder / "model.h5"
    several = [make_model(i) for i in range(4)]
    failed = []

    def work(model):
        try:
            for _ in range(5):
                model.save(str(path))
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(m,)) for m in several]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed and saved_value(path) in range(4) and os.listdir(folder) == ["model.h5"]


FULL = """
import resource, signal, sys
import numpy as np
from keras import layers, models
path, limit = sys.argv[1], int(sys.argv[2])
model = models.Sequential([layers.Dense(64, input_shape=(256,))])
model.compile("adam", "mse")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
for save in (model.save, model.save_weights):
    try:
        save(path)
    except OSError as e:
        assert e.filename == path and e.errno == 27, e
        print("OSError")
    else:
        print("saved")
"""


@pytest.mark.parametrize("limit", [0, 1, 96, 2048, 10000, 60000])
def test_a_full_disk_keeps_the_old_file(tmp_path, limit):
    path = tmp_path / "model.h5"
    make_model(7).save(str(path))
    before = path.read_bytes()
    done = sigkill_save.python(["-c", FULL, str(path), str(limit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["OSError", "OSError"], done.stdout + done.stderr
    assert done.stderr == "Using horngate backend.\n"
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.h5"]


def test_sigkill_while_saving(tmp_path):
    figures = sigkill_save.run(tmp_path, kills=20, seed=random.randrange(2**32))
    print(json.dumps(figures))
    assert figures["done"] == 20 and figures["passed"], figures


def test_the_old_file_is_what_keras_alone_would_lose(tmp_path):
    """Without our part the same programs lose the file: the tests above can fail."""
    path = tmp_path / "model.h5"
    make_model(7).save(str(path))
    plain = FULL.replace("import numpy", "import horngate.keras_compat._saving as s\nimport numpy")
    plain = plain.replace("path, limit", "s._is_replaced = lambda path: False\npath, limit")
    sigkill_save.python(["-c", plain, str(path), "10000"], capture_output=True)
    with pytest.raises(OSError):
        h5py.File(str(path), "r")
