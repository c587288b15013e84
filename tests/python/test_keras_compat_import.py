"""How an unmodified Keras takes the module: import, switches, names, errors, the list in the docs."""

import ast
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
from horngate import keras_compat

ROOT = pathlib.Path(__file__).resolve().parents[2]

needs_keras = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None, reason="Keras is not installed (make build does it)"
)


def python(program, **variables):
    """Runs a program in a process of its own, with the module as Keras's backend."""
    env = {k: v for k, v in os.environ.items() if k != "HORNGATE_KERAS_COMPAT"}
    with tempfile.TemporaryDirectory() as home:  # Keras writes its keras.json there
        env.update({"KERAS_BACKEND": "horngate", "KERAS_HOME": home, **variables})
        command = [sys.executable, "-c", program]
        return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def prints(program, **variables):
    done = python(program, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_docs_list_every_item():
    rows = [
        line.strip("|\n ").split(" | ")
        for line in (ROOT / "docs/keras.md").read_text().split("| item |")[1].splitlines()[2:]
    ]
    listed = rows[: next(i for i, row in enumerate(rows) if len(row) != 3)]
    assert listed == [
        [item.name, ", ".join(f"`{m}`" for m in item.modules) or "at once", item.reason]
        for item in keras_compat.ITEMS
    ]
    assert len({item.name for item in keras_compat.ITEMS}) == len(keras_compat.ITEMS)


def test_the_namespace_holds_k_names_only():
    """Keras copies all of it, private names too."""
    # In a process of its own: whoever imports a part of the package makes it an attribute.
    code = "import horngate; print(sorted({*vars(horngate)} ^ {*horngate.__all__}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(n.startswith("__") for n in ast.literal_eval(out.stdout)), out.stdout


@needs_keras
def test_keras_sees_k_names_only():
    program = """
import keras, keras.backend, keras.backend.load_backend as loader, horngate
common = {'os', 'json', 'sys', 'importlib', 'f', 'k', 'v', 'e', 'entries', 'namespace',
          'backend_module', 'required_entries', 'absolute_import', 'print_function'}
names = {n for n in vars(loader) if not n.startswith('_')} - common
print(sorted(names - set(horngate.__all__)))
print(sorted(n for n in horngate.__all__ if not hasattr(keras.backend, n)))
"""
    assert prints(program).split("\n")[:2] == ["[]", "[]"]


@needs_keras
def test_import_takes_little_more_than_what_keras_needs_itself():
    """0.9 and 0.5 s, on a machine where nothing else runs; seconds alone would measure the machine."""
    program = "import time; import {}; print(time.process_time())"
    needed = program.format("numpy, scipy.ndimage, h5py, yaml, six, multiprocessing")
    times = [(float(prints(program.format("keras"))), float(prints(needed))) for _ in range(3)]
    keras, others = map(min, zip(*times))
    assert keras < 3 * others, times


@needs_keras
def test_keras_says_the_engine_once():
    done = python("import keras")
    assert done.stderr == "Using horngate backend.\n" and done.stdout == ""


@needs_keras
def test_either_may_be_imported_first():
    program = """
import horngate, collections
assert not hasattr(collections, 'Iterable')
import keras
from horngate import keras_compat
assert keras_compat.is_installed() and collections.Iterable
assert keras.backend.clear_session is horngate.clear_session
print(keras.backend.backend(), keras.backend.eval(keras.backend.ones((1,)))[0])
"""
    assert prints(program) == "horngate 1.0\n"


def test_without_keras_nothing_changes():
    program = """
import collections, inspect, sys
import numpy as np
had = {module: set(vars(module)) for module in (collections, inspect, np)}
import horngate
from horngate import keras_compat
assert not keras_compat.is_installed()
print(all(set(vars(module)) == names for module, names in had.items()))
"""
    assert prints(program, KERAS_BACKEND="") == "True\n"


@needs_keras
def test_the_switch_turns_it_off():
    done = python("import keras", HORNGATE_KERAS_COMPAT="0")
    assert "cannot import name 'Iterable' from 'collections'" in done.stderr
    # The backend itself comes up, and has no part of it.
    program = """
import sys
try:
    import keras
except ImportError:
    pass
from horngate import keras_compat
print(keras_compat.is_installed(), 'keras.backend' in sys.modules)
"""
    assert prints(program, HORNGATE_KERAS_COMPAT="0") == "False True\n"


@needs_keras
def test_a_failed_import_says_why():
    """Keras makes "Unable to import backend" of an ImportError."""
    broken = "import sys; sys.modules['horngate._horngate'] = None; import {}"
    done = python(broken.format("keras"))
    assert "RuntimeError: horngate cannot be imported: " in done.stderr
    assert "_horngate" in done.stderr.strip().splitlines()[-1]
    done = python(broken.format("horngate"))
    assert "ImportError" in done.stderr.strip().splitlines()[-1] or "ModuleNotFound" in done.stderr


@needs_keras
def test_an_engine_may_be_named():
    program = "import keras.backend as K; print(K.backend(), K.eval(K.ones((1,)) + 1)[0])"
    assert prints(program, KERAS_BACKEND="horngate.native") == "horngate.native 2.0\n"


@needs_keras
def test_keras_on_disk_is_as_it_was():
    """What the wheel recorded is what the files hold after an import."""
    program = """
import base64, hashlib, importlib.metadata, keras
files = [f for f in importlib.metadata.files('keras') if f.suffix == '.py' and f.hash]
wrong = [str(f) for f in files
         if base64.urlsafe_b64encode(hashlib.sha256(f.read_binary()).digest()).decode().rstrip('=')
         != f.hash.value]
print(len(files) > 50, wrong)
"""
    assert prints(program) == "True []\n"


@needs_keras
@pytest.mark.parametrize("name", ["tensorflow", "theano", "cntk"])
def test_packages_may_be_told_another_name(name):
    program = """
import keras
from keras import backend as K, layers
print(K.backend(), keras.backend.load_backend.backend())
y = layers.Lambda(lambda x: K.sum(x, axis=-1))(layers.Input((2, 3)))  # Keras asks for the name there
print(K.int_shape(layers.BatchNormalization()(y)))
"""
    assert prints(program, HORNGATE_BACKEND_NAME=name) == f"{name} horngate\n(None, 2)\n"
    assert prints(program, HORNGATE_BACKEND_NAME="").startswith("horngate horngate\n")
    off = {"HORNGATE_KERAS_COMPAT_WITHOUT": "K.backend"}
    assert prints(program, HORNGATE_BACKEND_NAME=name, **off).startswith("horngate horngate\n")


@needs_keras
def test_the_other_name_is_one_that_packages_know():
    done = python("import keras", HORNGATE_BACKEND_NAME="jax")
    assert done.stderr.strip().splitlines()[-1] == (
        'ValueError: HORNGATE_BACKEND_NAME: must be tensorflow, theano or cntk; got "jax".'
    )


def test_hooks_run_when_a_module_is_loaded(tmp_path, monkeypatch):
    from horngate.keras_compat._hooks import after_import

    (tmp_path / "hooked_inner.py").write_text("import sys\nsys.loading_hook()\nvalue = 1\n")
    (tmp_path / "hooked_outer.py").write_text("from hooked_inner import value\n")
    (tmp_path / "hooked_broken.py").write_text("raise ValueError('broken')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = []

    def change(module):
        seen.append(module.__name__)
        module.value = getattr(module, "value", 0) + 10

    # One that waits, one that comes while the module is half-loaded.
    monkeypatch.setattr(
        sys, "loading_hook", lambda: after_import("hooked_inner", change), raising=False
    )
    after_import("hooked_inner", change)
    assert importlib.util.find_spec("hooked_inner") and not seen  # to look is not to load
    import hooked_outer

    assert hooked_outer.value == 21 and seen == ["hooked_inner"] * 2
    assert type(sys.modules["hooked_inner"].__loader__).__name__ == "SourceFileLoader"
    after_import("hooked_outer", change)  # at once
    assert hooked_outer.value == 31

    after_import("hooked_broken", change)
    with pytest.raises(ValueError, match="broken"):
        import hooked_broken  # noqa: F401
    assert "hooked_broken" not in seen


@needs_keras
@pytest.mark.parametrize("backend", ["horngate", "horngate.native"])
def test_a_new_config_file_means_native(backend, tmp_path):
    home = {"KERAS_HOME": str(tmp_path / "new"), "HORNGATE_NO_CONFIG_WRITE": ""}
    prints("import keras", KERAS_BACKEND=backend, **home)
    [file] = (tmp_path / "new").iterdir()
    fields = json.loads(file.read_text())
    assert fields == {
        "floatx": "float32",
        "epsilon": 1e-07,
        "backend": "horngate",
        "image_data_format": "channels_last",
    }
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask()
    # Both find what they need in it.
    later = "import horngate; print(horngate.backend())"
    assert prints(later, KERAS_BACKEND="", **home) == "native\n"
    assert prints("import keras; print(keras.backend.backend())", KERAS_BACKEND="", **home) == (
        "horngate\n"
    )


@needs_keras
def test_no_config_file_where_none_is_wanted(tmp_path):
    home = {"KERAS_HOME": str(tmp_path / "new"), "HORNGATE_NO_CONFIG_WRITE": "1"}
    prints("import keras", KERAS_BACKEND="horngate", **home)
    assert list((tmp_path / "new").iterdir()) == []


@needs_keras
@pytest.mark.parametrize(
    "text",
    [
        '{"backend": "tensorflow"}',
        '{\n    "floatx": "float32",\n    "epsilon": 1e-07,\n    "backend": "tensorflow",\n'
        '    "image_data_format": "channels_last"\n}',
    ],
)
def test_a_config_file_that_was_there_stays(text, tmp_path):
    (tmp_path / "keras.json").write_text(text)
    home = {"KERAS_HOME": str(tmp_path), "HORNGATE_NO_CONFIG_WRITE": ""}
    prints("import keras", KERAS_BACKEND="horngate", **home)
    assert (tmp_path / "keras.json").read_text() == text and len([*tmp_path.iterdir()]) == 1


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
