"""How Keras before 2.2 gets our backend, with a stand-in for Keras that has its loader's habits.

The editions themselves run with `make test-keras KERAS=1.2.2` and the like.
"""

import inspect
import json
import pathlib
import types
import venv

import numpy as np
import pytest
from horngate import _keras_command, keras_compat
from horngate.keras_compat import _start
from keras_stand import RUN, Stand


@pytest.fixture
def stand(tmp_path):
    return Stand(tmp_path)


REFUSED = "AssertionError: the loader of Keras"


def test_run(stand):
    program = """
import sys
from keras import backend as K
print(__name__, sys.argv, K.backend(), K._BACKEND, K.common.__name__, K.__file__[-19:])
print(float(K.eval(K.sum(K.ones((2, 2))))))
"""
    assert stand.prints(program).splitlines() == [
        "__main__ ['program.py', 'an argument'] horngate horngate keras.backend.common"
        " backend/__init__.py",
        "4.0",
    ]
    assert stand.run(*RUN).returncode == 2
    done = stand.run(*RUN, "no.py")
    assert done.returncode == 2 and 'there is no file "no.py"' in done.stderr


def test_run_of_a_module(stand):
    (stand.folder / "some_module.py").write_text("import keras, sys; print(__name__, sys.argv[1:])")
    done = stand.run(*RUN, "-m", "some_module", "x")
    assert done.stdout == "__main__ ['x']\n", done.stderr
    assert done.stderr == "Using horngate backend.\n"


@pytest.mark.parametrize("way", [RUN, ()])
def test_new_processes_have_it_too(stand, way):
    program = """
import sys
import multiprocessing

def name(i):
    import keras
    return keras.backend.backend()

if __name__ == "__main__":
    import horngate.keras, keras
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(name, [0]))
"""
    assert stand.prints(program, way=way) == "['horngate']\n"


def test_an_exit_code_passes(stand):
    (stand.folder / "program.py").write_text("import keras, sys; sys.exit(7)")
    assert stand.run(*RUN, "program.py").returncode == 7


def test_the_first_line_of_a_program(stand):
    program = "import horngate.keras\nimport keras\nprint(keras.backend.backend())"
    assert stand.prints(program, way=()) == "horngate\n"
    assert stand.prints(program, way=(), KERAS_BACKEND="horngate.native") == "horngate.native\n"


def test_an_unknown_engine_is_named(stand):
    said = stand.says("import horngate.keras, keras", KERAS_BACKEND="horngate.nothing")
    assert said.startswith('RuntimeError: there is no module "horngate.nothing"')


def test_import_in_the_wrong_order(stand):
    said = stand.says("import keras, horngate.keras", KERAS_BACKEND="theano")
    assert said == (
        'ImportError: horngate.keras: must be imported before keras, which already runs on "its own".'
    )


def test_without_a_way_keras_refuses(stand):
    assert stand.says("import keras", KERAS_BACKEND="horngate") == REFUSED
    assert stand.says("import horngate, keras", KERAS_BACKEND="horngate") == REFUSED


def test_the_switch_turns_it_off(stand):
    program = "import horngate.keras, keras"
    assert stand.says(program, HORNGATE_KERAS_COMPAT="0") == REFUSED


def test_another_backend_stays(stand):
    program = "import horngate.keras\nimport keras\nprint(keras.backend._BACKEND)"
    assert stand.prints(program, way=(), KERAS_BACKEND="theano") == "its own\n"


@pytest.mark.parametrize("version", ["0.3.3", "2.2.0", "2.3.1"])
def test_other_editions_load_themselves(stand, version):
    stand.keras(version)
    assert stand.says("import horngate.keras, keras") == REFUSED


def test_enable_and_disable(stand):
    folder = stand.folder / "environment"
    venv.create(folder, symlinks=True)
    stand.python = folder / "bin" / "python"
    command = ("-m", "horngate", "keras")
    assert stand.run(*command).stdout == "not enabled\n"
    assert stand.says("import keras", KERAS_BACKEND="horngate") == REFUSED

    before = {*folder.rglob("*.p*")}
    done = stand.run(*command, "enable")
    assert done.returncode == 0, done.stderr
    [added] = {*folder.rglob("*.p*")} - before
    assert added.name == "horngate_keras.pth" and str(added) in done.stdout
    assert str(added) in stand.run(*command).stdout
    program = "import keras; print(keras.backend.backend())"
    assert stand.prints(program, way=(), KERAS_BACKEND="horngate") == "horngate\n"
    (stand.folder / "keras.json").write_text('{"backend": "horngate"}')
    assert stand.prints(program, way=()) == "horngate\n"
    assert stand.says("import keras", KERAS_BACKEND="other") == REFUSED
    loaded = "import sys; print([m for m in sys.modules if m.startswith(('horngate', 'numpy'))])"
    assert stand.prints(loaded, way=()) == "[]\n"  # it costs other programs nothing

    # Horngate may be removed without it.
    added.write_text(added.read_text().replace("_start.py", "_gone.py"))
    done = stand.run("-c", "print('runs')")
    assert done.stdout == "runs\n" and done.stderr == ""
    assert stand.run(*command, "disable").returncode == 0
    assert not added.exists() and "not enabled" in stand.run(*command, "disable").stdout
    assert stand.says("import keras", KERAS_BACKEND="horngate") == REFUSED
    assert stand.run(*command, "enable", "now").returncode == 2


def test_the_added_file_takes_any_path(stand):
    folder = stand.folder / 'it\'s a "folder" \u00e9\n'
    folder.mkdir()
    (folder / "start.py").write_text("print('found', __name__)")
    venv.create(stand.folder / "environment", symlinks=True)
    [packages] = (stand.folder / "environment").glob("lib/python*/site-packages")
    (packages / "some.pth").write_text(_start.line_for(str(folder / "start.py")) + "\n")
    stand.python = stand.folder / "environment" / "bin" / "python"
    for variables in ({}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}):
        done = stand.run("-c", "pass", **variables)
        # Python 3.11 reads the files of a venv twice.
        assert (set(done.stdout.splitlines()), done.stderr) == ({"found horngate_start"}, "")


def test_a_folder_that_may_not_be_written(monkeypatch, capsys):
    monkeypatch.setattr(_keras_command.sysconfig, "get_path", lambda name: "/proc/self")
    assert _keras_command.main(["enable"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("horngate keras: ") and "/proc/self/horngate_keras.pth" in said


def test_settings_of_keras_json(stand):
    program = """
from keras import backend as K
print(K.floatx(), K.epsilon(), K.image_dim_ordering(), K.dtype(K.zeros((1,))))
"""
    fields = {"floatx": "float64", "epsilon": 1e-5, "image_dim_ordering": "th"}
    (stand.folder / "keras.json").write_text(json.dumps(fields))
    assert stand.prints(program) == "float64 1e-05 th float64\n"
    (stand.folder / "keras.json").write_text('{"image_dim_ordering": "first"}')
    said = stand.says("import horngate.keras, keras")
    path = stand.folder / "keras.json"
    assert said == f"ValueError: {path}: image_dim_ordering cannot be 'first'."


def values(stand, version, **expressions):
    """What expressions with K and data give in an edition."""
    stand.keras(version)
    lines = [f"results[{name!r}] = K.eval({text})" for name, text in expressions.items()]
    program = "\n".join(
        [
            "import numpy as np, json",
            "from keras import backend as K",
            "random = np.random.RandomState(0)",
            "last, first = random.rand(2, 6, 5, 3), random.rand(2, 3, 6, 5)",
            "kernel = random.rand(4, 3, 2, 3)  # out, in, rows, cols",
            "target, output = np.array([[0., 1.]]), np.array([[.25, .5]])",
            "v, results = K.variable, {}",
            *lines,
            "print(json.dumps({k: np.asarray(x).tolist() for k, x in results.items()}))",
        ]
    )
    return {k: np.array(x) for k, x in json.loads(stand.prints(program)).items()}


def correlate(x, kernel):
    """(samples, in, rows, cols) with (out, in, rows, cols), by the definition."""
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel.shape[2:], (2, 3))
    return np.einsum("nirchw,oihw->norc", windows, kernel)


def inputs():
    random = np.random.RandomState(0)
    last, first = random.rand(2, 6, 5, 3), random.rand(2, 3, 6, 5)
    return last, first, random.rand(4, 3, 2, 3)


@pytest.mark.parametrize("version", ["1.0.8", "1.1.2", "1.2.2"])
def test_kernels_of_keras_1(stand, version):
    got = values(
        stand,
        version,
        th="K.conv2d(v(first), v(kernel), dim_ordering='th', filter_shape=(4, 3, 2, 3))",
        tf="K.conv2d(v(last), v(kernel.transpose(2, 3, 1, 0)), dim_ordering='tf')",
        by_default="K.conv2d(v(first if K.image_dim_ordering() == 'th' else last),"
        " v(kernel if K.image_dim_ordering() == 'th' else kernel.transpose(2, 3, 1, 0)))",
        pooled="K.pool2d(v(first), (2, 2), (2, 2), 'valid', 'th', 'avg')",
        back="K.deconv2d(v(kernel[:1] * 0 + 1), v(kernel.transpose(1, 0, 2, 3)[:, :3]),"
        " (1, 3, 3, 5), dim_ordering='th')",
    )
    last, first, kernel = inputs()
    wanted = correlate(last.transpose(0, 3, 1, 2), kernel).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(got["th"], correlate(first, kernel), rtol=1e-5)
    np.testing.assert_allclose(got["tf"], wanted, rtol=1e-5)
    default = got["th"] if version == "1.0.8" else got["tf"]
    np.testing.assert_array_equal(got["by_default"], default)
    np.testing.assert_allclose(
        got["pooled"], first[:, :, :, :4].reshape(2, 3, 3, 2, 2, 2).mean((3, 5)), rtol=1e-5
    )
    assert got["back"].shape == (1, 3, 3, 5)
    np.testing.assert_allclose(got["back"].sum(), kernel[:3].sum() * 6, rtol=1e-5)


@pytest.mark.parametrize("version", ["1.0.8", "1.2.2", "2.0.6", "2.0.9", "2.1.6"])
def test_order_and_formula_of_crossentropies(stand, version):
    pair = "v(target), v(output)" if version >= "2.0.7" else "v(output), v(target)"
    zero = pair.replace("output", "target * 0").replace("v(target)", "v(target * 0 + 1)")
    got = values(
        stand,
        version,
        binary=f"K.binary_crossentropy({pair})",
        of_zero=f"K.binary_crossentropy({zero})",
        categorical=f"K.categorical_crossentropy({pair})",
    )
    np.testing.assert_allclose(got["binary"], [-np.log([0.75, 0.5])], rtol=1e-5)
    np.testing.assert_allclose(got["categorical"], [-np.log(0.5 / 0.75)], rtol=1e-5)
    # Clipped to epsilon; 2.3 adds it: -log(2e-7).
    np.testing.assert_allclose(got["of_zero"], [-np.log([1e-7, 1e-7])], rtol=1e-4)


@pytest.mark.parametrize(
    "version, epsilon", [("1.0.8", 1e-4), ("1.1.2", 1e-4), ("1.2.2", 1e-3), ("2.1.6", 1e-3)]
)
def test_epsilon_of_batch_normalization(stand, version, epsilon):
    got = values(
        stand,
        version,
        one="K.batch_normalization(v([[1.]]), v([0.]), v([0.]), v([0.]), v([1.]))",
        two="K.batch_normalization(v([[1.]]), v([0.]), v([0.]), v([0.]), v([1.]), 0.25)",
        three="K.normalize_batch_in_training(v([[0.], [.02]]), v([1.]), v([0.]), [0])[0]",
    )
    np.testing.assert_allclose(got["one"], [[epsilon**-0.5]], rtol=1e-5)
    np.testing.assert_allclose(got["two"], [[2.0]], rtol=1e-6)
    np.testing.assert_allclose(got["three"][1], 0.01 / np.sqrt(1e-4 + epsilon), rtol=1e-3)


def test_old_names_and_arguments(stand):
    got = values(
        stand,
        "1.2.2",
        padded="K.spatial_2d_padding(v(first), (1, 2), 'th')",
        uneven="K.asymmetric_spatial_2d_padding(v(last), 1, 0, 2, 0, 'tf')",
        steps="K.temporal_padding(v(last[0]), 2)",
        uneven_steps="K.asymmetric_temporal_padding(v(last[0]), 1, 2)",
        large="K.resize_images(v(first), 2, 3, 'th')",
        one_hot="K.one_hot(K.variable([1, 0], dtype='int32'), nb_classes=2)",
        wider="K.expand_dims(v([1.]), dim=0)",
        packed="K.pack([1, 2])",
        less="K.lesser(v([1., 3.]), 2.)",
        relu="K.relu(v([-2., 1., 9.]), v([.5, .5, .5]), v([3., 3., 3.]))",
        normal="K.random_normal((1000,), mean=5., std=.01)",
        uniform="K.random_uniform((1000,), low=2., high=3.)",
    )
    last, first, _ = inputs()
    wanted = np.pad(first, ((0, 0), (0, 0), (1, 1), (2, 2)))
    np.testing.assert_allclose(got["padded"], wanted, rtol=1e-6)
    np.testing.assert_allclose(
        got["uneven"], np.pad(last, ((0, 0), (1, 0), (2, 0), (0, 0))), rtol=1e-6
    )
    np.testing.assert_allclose(got["steps"], np.pad(last[0], ((0, 0), (2, 2), (0, 0))), rtol=1e-6)
    assert got["uneven_steps"].shape == (6, 8, 3)
    np.testing.assert_allclose(got["large"], first.repeat(2, 2).repeat(3, 3), rtol=1e-6)
    assert got["one_hot"].tolist() == [[0, 1], [1, 0]] and got["wider"].shape == (1, 1)
    assert got["packed"].tolist() == [1, 2] and got["less"].tolist() == [True, False]
    assert got["relu"].tolist() == [-1, 1, 3]
    assert abs(got["normal"].mean() - 5) < 0.01 and 2 <= got["uniform"].min() < 2.1


def test_functions_ignore_what_they_do_not_know_aloud(stand):
    program = """
import warnings
from keras import backend as K
x = K.placeholder((2,))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f = K.function([x], [x + 1], class_mode="categorical")
print([str(w.message) for w in caught], f([[1., 2.]])[0].tolist())
K.get_uid("a"); K.clear_session(); print(K.get_uid("a"))
try:
    K.conv2d(x, x, dim_ordering="first")
except ValueError as e:
    print(e)
"""
    assert stand.prints(program).splitlines() == [
        "['function: it takes no class_mode; ignored.'] [2.0, 3.0]",
        "1",
        """conv2d: dim_ordering must be "tf" or "th"; got 'first'.""",
    ]


def item(name):
    return next(item for item in keras_compat.ITEMS if item.name == name)


def test_kernels_of_other_backends():
    topology = types.ModuleType("keras.engine.topology")
    item("kernels of other backends").apply(topology)  # an edition without it
    assert not hasattr(topology, "_need_convert_kernel")
    topology._need_convert_kernel = {}.__getitem__
    with pytest.raises(KeyError):
        topology._need_convert_kernel("horngate")
    item("kernels of other backends").apply(topology)
    needs = topology._need_convert_kernel
    assert [needs(n) for n in (None, "horngate", "tensorflow", "cntk", "theano")] == [
        False,
        False,
        False,
        False,
        True,
    ]


def test_separable_convolution_of_keras_1():
    module = types.ModuleType("keras.layers.convolutional")
    module.K = types.SimpleNamespace(backend=lambda: "horngate", other=1)
    module.SeparableConvolution2D = type("SeparableConv2D", (), {})
    item("SeparableConvolution2D").apply(module)  # Keras 2, where it is a second name
    assert module.K.backend() == "horngate"
    module.SeparableConvolution2D = type("SeparableConvolution2D", (), {})
    item("SeparableConvolution2D").apply(module)
    assert module.K.backend() == module.K._BACKEND == "tensorflow" and module.K.other == 1


def test_yaml_of_keras_before_2_3():
    yaml = pytest.importorskip("yaml")
    stand_in = types.ModuleType("yaml")
    vars(stand_in).update(vars(yaml), load=inspect.unwrap(yaml.load))  # whoever changed it before
    caller = types.ModuleType("keras.models")
    exec("def load(yaml, text): return yaml.load(text)", vars(caller))
    with pytest.raises(TypeError):
        caller.load(stand_in, "a: 1")
    item("yaml.load").apply(stand_in)
    assert caller.load(stand_in, "a: !!python/tuple [1, 2]") == {"a": (1, 2)}
    with pytest.raises(yaml.YAMLError, match="not allowed in a model"):
        caller.load(stand_in, "!!python/object/apply:os.getcwd []")
    with pytest.raises(TypeError):
        stand_in.load("a: 1")  # other programs get what PyYAML says
    assert stand_in.load("a: 1", yaml.SafeLoader) == {"a": 1}


def test_ends_of_queues():
    class OrderedEnqueuer:
        def get(self):
            yield 1
            raise StopIteration("the end")

    class GeneratorEnqueuer:  # that of a later edition
        def get(self):
            yield 1

    module = types.SimpleNamespace(
        OrderedEnqueuer=OrderedEnqueuer, GeneratorEnqueuer=GeneratorEnqueuer
    )
    with pytest.raises(RuntimeError):
        list(OrderedEnqueuer().get())
    later = GeneratorEnqueuer.get
    item("generators").apply(module)
    assert GeneratorEnqueuer.get is later
    batches = OrderedEnqueuer().get()
    assert next(batches) == 1
    with pytest.raises(StopIteration, match="the end"):
        next(batches)
    assert list(OrderedEnqueuer().get()) == [1]


def test_nothing_of_keras_is_written(stand):
    before = {p: p.read_bytes() for p in stand.folder.rglob("*.py") if "keras" in p.parts}
    stand.prints("import keras")
    assert before == {p: p.read_bytes() for p in before}
    assert not (pathlib.Path(stand.folder) / "keras.json").exists()
