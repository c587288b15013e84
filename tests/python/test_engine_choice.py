"""Choosing an engine: KERAS_BACKEND, keras.json, the modules; weights go from one to the other."""

import importlib.util
import json

import engine_names
import engine_process
import horngate as K
import pytest
from horngate import keras_compat

MODULES = keras_compat.ENGINES
LINES = {engine.name: engine.line for engine in engine_names.read()}

needs_keras = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None, reason="Keras is not installed (make build does it)"
)


def python(program, home, **more):
    """A process in which nothing is chosen but what is given here."""
    nothing = {"HORNGATE_QUIET": None, "KERAS_HOME": str(home), "HORNGATE_NO_CONFIG_WRITE": "1"}
    return engine_process.python(None, program, **{**nothing, **more})


def said(program, home, **more):
    done = python(program, home, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def line_of(engine):
    return LINES[engine] + "\n"


@pytest.mark.parametrize("engine", [*MODULES, "null"])
def test_the_variable(engine, tmp_path):
    """The line of the reference pages, at the import, whether the engine is installed or not."""
    out, err = said("import horngate as K; print(K.backend())", tmp_path, KERAS_BACKEND=engine)
    assert (out, err) == (f"{engine}\n", line_of(engine))
    out, err = said("import horngate", tmp_path, KERAS_BACKEND=engine, HORNGATE_QUIET="1")
    assert err == ""


RUN = "import horngate as K\nx = K.constant([1., 2.])\nprint(K.backend(), *K.eval(x + x))"


def test_the_variable_beats_the_file(tmp_path):
    (tmp_path / "keras.json").write_text(json.dumps({"backend": "null", "epsilon": 1e-3}))
    assert said(RUN, tmp_path) == ("null 0.0 0.0\n", "Using null backend.\n")
    assert said(RUN, tmp_path, KERAS_BACKEND="native")[0] == "native 2.0 4.0\n"
    assert said(RUN, tmp_path, KERAS_BACKEND="")[0] == "null 0.0 0.0\n", "empty does not count"
    (tmp_path / "keras.json").write_text("{broken")
    done = python("import horngate", tmp_path, KERAS_BACKEND="null")
    assert done.returncode == 0, "the error is for who needs the file"


def test_a_wrong_name_lists_what_exists(tmp_path):
    done = python(RUN, tmp_path, KERAS_BACKEND="abacus")
    wanted = 'there is no engine "abacus" (from KERAS_BACKEND). Engines here: native, '
    assert done.returncode != 0 and wanted in done.stderr
    assert all(name in done.stderr for name in MODULES)
    (tmp_path / "keras.json").write_text(json.dumps({"backend": "abacus"}))
    done = python(RUN, tmp_path)
    assert f'"abacus" (from {tmp_path}/keras.json). Engines here: native, ' in done.stderr
    done = python(RUN, tmp_path, KERAS_BACKEND="TensorFlow")
    assert 'Did you mean "tensorflow"?' in done.stderr


CHOOSE = """
import horngate as K
try: K.set_engine({name!r})
except {error} as e: print(e)
print(K.backend(), K.eval(K.constant(1.) + 1))
"""


def test_set_engine_with_a_wrong_name_fails_at_once(tmp_path):
    out, _ = said(CHOOSE.format(name="abacus", error="ValueError"), tmp_path)
    wanted = 'set_engine: there is no engine "abacus". Engines here: native, '
    assert out.startswith(wanted) and out.endswith("\nnative 2.0\n")
    assert all(name in out.splitlines()[0] for name in MODULES)
    out, _ = said(CHOOSE.format(name=3, error="TypeError"), tmp_path)
    assert out == "set_engine: name must be a string; got int.\nnative 2.0\n"
    out, _ = said(CHOOSE.format(name="null", error="()"), tmp_path)
    assert out == "null 0.0\n"


@pytest.mark.parametrize("engine", [m for m in MODULES if m != "native"])
def test_an_engine_that_is_not_installed_cannot_be_chosen(engine, tmp_path):
    """By a call or by importing its module: at once, with what to do, and native goes on."""
    nowhere = {f"HORNGATE_{engine.upper()}": str(tmp_path)}
    out, _ = said(CHOOSE.format(name=engine, error="RuntimeError"), tmp_path, **nowhere)
    assert out.startswith(f"engine {engine}: could not be opened: ")
    assert f"horngate engines install {engine}" in out and out.endswith("\nnative 2.0\n")
    done = python(f"import horngate.{engine}", tmp_path, **nowhere)
    assert done.returncode != 0 and f"horngate engines install {engine}" in done.stderr


@pytest.mark.parametrize("engine", MODULES)
def test_a_module_is_the_backend_on_its_engine(engine, tmp_path):
    if engine != "native":
        engine_process.skip_unless_it_runs(
            engine_process.python(engine, engine_process.RUN), engine
        )
    program = (
        f"import horngate.{engine} as K\nprint(K.backend(), *(n for n in vars(K) if n[0] != '_'))"
    )
    out, err = said(program, tmp_path)
    name, *names = out.split()
    assert name == engine and set(names) == set(K.__all__)
    assert err == "", "the line comes when it is used"


def test_a_module_comes_before_the_first_use(tmp_path):
    program = (
        "import horngate as K; K.eval(K.constant(1.) + 1)\n"
        "import horngate.native\n"
        "try: import horngate.onnx\n"
        "except RuntimeError as e: print(e)"
    )
    out, err = said(program, tmp_path)
    wanted = (
        'set_engine: must be called before the first use of an engine; "native" is already in use'
    )
    assert out.startswith(wanted) and err == "Using native backend.\n"


@needs_keras
def test_keras_gets_a_list_of_modules(tmp_path):
    done = python("import keras", tmp_path, KERAS_BACKEND="horngate.abacus")
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith('RuntimeError: there is no module "horngate.abacus"')
    assert all(f"horngate.{name}" in last for name in MODULES)


# Weights that one engine trained, in a file of Keras; another loads them and gives the same.
SAVE = """
import sys, numpy as np, horngate as K, keras
keras.backend.clear_session()
np.random.seed(1)  # initial weights
rng = np.random.RandomState(1)
x = rng.uniform(-1, 1, (32, 6, 6, 2)).astype("float32")
y = x.mean(axis=(1, 2, 3))[:, None] * 3
model = keras.models.Sequential([
    keras.layers.Conv2D(3, 3, activation="relu", input_shape=(6, 6, 2)),
    keras.layers.BatchNormalization(),
    keras.layers.Flatten(),
    keras.layers.Dense(4, activation="tanh"),
    keras.layers.Dense(1)])
model.compile("adam", "mse")
losses = model.fit(x, y, epochs=5, batch_size=16, shuffle=False, verbose=0).history["loss"]
assert losses[-1] < losses[0], losses
model.save(sys.argv[1] + "/model.h5")
np.save(sys.argv[1] + "/said.npy", model.predict(x))
np.save(sys.argv[1] + "/x.npy", x)
print(K.backend())
"""
LOAD = """
import sys, numpy as np, horngate as K, keras
model = keras.models.load_model(sys.argv[1] + "/model.h5")
x = np.load(sys.argv[1] + "/x.npy")
np.testing.assert_allclose(model.predict(x), np.load(sys.argv[1] + "/said.npy"), rtol=1e-4, atol=1e-5)
model.train_on_batch(x, np.zeros((32, 1)))  # the optimizer's weights came too
print(K.backend())
"""


def keras_on(engine, program, folder, home):
    more = {"KERAS_BACKEND": f"horngate.{engine}", "HORNGATE_QUIET": "1"}
    more.setdefault("HORNGATE_THEANO_MODE", "FAST_COMPILE")
    program = f"import sys; sys.argv.append({str(folder)!r})\n" + program
    out, err = said(program, home, **more)
    assert out == f"{engine}\n" and f"Using horngate.{engine} backend.\n" in err


@needs_keras
@pytest.mark.parametrize("engine", MODULES)
def test_a_model_goes_from_one_engine_to_another(engine, tmp_path):
    """Unmodified Keras on each engine: what it saved there loads on native, and the other way round."""
    if engine != "native":
        engine_process.skip_unless_it_runs(
            engine_process.python(engine, engine_process.RUN), engine
        )
    for first, second in ((engine, "native"), ("native", engine)):
        folder = tmp_path / first
        folder.mkdir(exist_ok=True)
        keras_on(first, SAVE, folder, tmp_path)
        keras_on(second, LOAD, folder, tmp_path)


VALUES = """
import sys, numpy as np, horngate as K
rng = np.random.RandomState(0)
K.set_floatx("float32")
values = [rng.uniform(-1, 1, (2, 3)).astype(t) for t in ("float16", "float32", "float64")]
values += [rng.randint(0, 9, (4,)).astype(t) for t in ("int8", "int32", "int64", "uint8")]
values += [np.zeros((0, 2), "float32"), np.array(True), np.array(2.5, "float32")]
variables = [K.variable(np.zeros_like(v), dtype=str(v.dtype)) for v in values]
K.batch_set_value(list(zip(variables, values)))
step = K.function([], [], updates=[K.update_add(v, v) for v in variables if K.dtype(v) == "float32"])
for v, value in zip(variables, K.batch_get_value(variables)):
    assert value.dtype == K.dtype(v), (value.dtype, K.dtype(v))
for v, value in zip(variables, values):
    np.testing.assert_array_equal(K.get_value(v), value)
kept = K.get_value(variables[1])
step([])
step([])
np.testing.assert_array_equal(kept, values[1], "what was fetched is a copy")
np.testing.assert_array_equal(K.get_value(variables[1]), values[1] * 4)
K.set_value(variables[1], values[1])  # after the engine owned it
kept = K.get_value(variables[1])
kept[:] = 7
np.testing.assert_array_equal(K.get_value(variables[1]), values[1])
step([])
np.testing.assert_array_equal(K.get_value(variables[1]), values[1] * 2)
print(K.backend())
"""


@pytest.mark.parametrize("engine", MODULES)
def test_values_of_variables_are_the_same_everywhere(engine, tmp_path):
    if engine != "native":
        engine_process.skip_unless_it_runs(
            engine_process.python(engine, engine_process.RUN), engine
        )
    out, _ = said(VALUES, tmp_path, KERAS_BACKEND=engine, HORNGATE_THEANO_MODE="FAST_COMPILE")
    assert out == f"{engine}\n"


def test_the_values_program_can_fail(tmp_path):
    """On an engine that computes nothing it does."""
    assert python(VALUES, tmp_path, KERAS_BACKEND="null").returncode != 0
