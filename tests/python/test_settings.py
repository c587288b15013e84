"""Settings: our own, and Keras' when it is loaded."""

import gc
import subprocess
import sys
import time
import types
import weakref

import horngate as K
import numpy as np
import pytest
from horngate import _config, _horngate


@pytest.fixture
def common(monkeypatch):
    """A stand-in for keras.backend.common."""
    module = types.ModuleType("keras.backend.common")
    exec(
        """
_FLOATX, _EPSILON, _IMAGE_DATA_FORMAT = "float32", 1e-7, "channels_last"
def set_floatx(floatx):
    global _FLOATX
    if floatx not in ("float16", "float32", "float64"):
        raise ValueError(floatx)
    _FLOATX = str(floatx)
def set_epsilon(e):
    global _EPSILON
    _EPSILON = float(e)
def set_image_data_format(data_format):
    global _IMAGE_DATA_FORMAT
    _IMAGE_DATA_FORMAT = data_format
""",
        module.__dict__,
    )
    monkeypatch.setitem(sys.modules, "keras.backend.common", module)
    K.floatx()
    yield module
    module.set_floatx("float32")
    module.set_epsilon(1e-7)
    module.set_image_data_format("channels_last")
    K.floatx()


def test_own_settings():
    K.set_floatx("float16")
    assert K.floatx() == "float16" and K.variable(1.0).dtype == "float16"
    assert K.cast_to_floatx([1.0]).dtype == "float16"
    with pytest.raises(ValueError):
        K.set_floatx("int8")
    with pytest.raises(ValueError):
        K.set_image_data_format("channels_middle")
    K.set_image_dim_ordering("th")
    assert K.image_data_format() == "channels_first" and K.image_dim_ordering() == "th"
    with pytest.raises(ValueError):
        K.set_image_dim_ordering("channels_last")
    assert K.normalize_data_format("Channels_First") == "channels_first"


def test_settings_belong_to_keras_when_it_is_there(common):
    common.set_floatx("float64")
    assert K.variable(1.0).dtype == "float64" and K.placeholder((1,)).dtype == "float64"
    assert K.floatx() == "float64" and K.cast_to_floatx([1]).dtype == "float64"
    x = K.placeholder((2, 3, 5, 5), dtype="float32")
    kernel = K.zeros((2, 2, 3, 4), dtype="float32")
    common.set_image_data_format("channels_first")
    assert K.conv2d(x, kernel).shape == (2, 4, 4, 4)
    assert K.image_data_format() == "channels_first"
    common.set_epsilon(0.25)
    assert K.epsilon() == 0.25
    loss = K.categorical_crossentropy(K.constant([[1.0, 0.0]]), K.constant([[0.0, 1.0]]))
    np.testing.assert_allclose(K.eval(loss), [-np.log(0.25)])


def test_our_setters_reach_keras(common):
    K.set_floatx("float16")
    assert common._FLOATX == "float16" and K.floatx() == "float16"
    with pytest.raises(ValueError):
        K.set_floatx("int8")
    K.set_epsilon(1e-3)
    assert common._EPSILON == 1e-3
    K.set_image_data_format("channels_first")
    assert common._IMAGE_DATA_FORMAT == "channels_first"


def test_a_module_names_its_engine():
    program = (
        "import horngate.native as K\n"
        "assert K.backend() == 'native' and K.conv2d and K.__version__\n"
        "print(*(n for n in vars(K) if not n.startswith('_')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == set(K.__all__)


def test_uids():
    K.reset_uids()
    assert [K.get_uid("a"), K.get_uid("a"), K.get_uid("b"), K.get_uid()] == [1, 2, 1, 1]
    K.clear_session()
    assert K.get_uid("a") == 1


def test_clear_session_opens_the_learning_phase():
    K.set_learning_phase(1)
    K.clear_session()
    assert K.is_tensor(K.learning_phase())


class Layer:
    """Refers to itself, as layers and models of Keras do."""

    def __init__(self):
        self.me = self
        self.weights = K.variable(np.zeros((4, 4)))


def test_clear_session_frees_models_out_of_use():
    gc.collect()
    layer = weakref.ref(Layer())
    assert layer() is not None
    _config._collected.update(at=float("-inf"), took=0.0)
    K.clear_session()
    assert layer() is None


def test_clear_session_stays_cheap(monkeypatch):
    """Called again and again it does not search all objects each time."""
    calls = []
    monkeypatch.setattr(_config, "_gc", types.SimpleNamespace(collect=lambda: calls.append(1)))
    nodes = _horngate.live_node_count()
    _config._collected.update(at=time.process_time(), took=1.0, nodes=nodes)
    for _ in range(50):
        K.clear_session()
    assert calls == []
    _config._collected.update(at=time.process_time() - 21, took=1.0)
    K.clear_session()
    assert calls == [1]


def test_clear_session_frees_large_graphs_at_once():
    layer = Layer()
    for _ in range(_config._MOST_NODES):
        layer.weights = layer.weights + 1.0
    layer = weakref.ref(layer)
    before = _horngate.live_node_count() - _config._MOST_NODES
    _config._collected.update(at=time.process_time(), took=1.0, nodes=before)
    assert layer() is not None
    K.clear_session()
    assert layer() is None


LONG_LOOP = """
import sys
import numpy as np
import horngate as K

x, r = K.placeholder((None, None, 3)), K.variable(np.linspace(-1, 1, 9).reshape(3, 3))

def step(inputs, states):
    state = K.tanh(inputs + K.dot(K.print_tensor(states[0], "line"), r))
    return state, [state]

last, outputs, _ = K.rnn(step, x, [K.zeros_like(x[:, 0])])
f = K.function([x], K.gradients(K.sum(K.square(outputs)), [r, x]))
np.savez(sys.argv[1], *f([np.sin(np.arange(2 * 30 * 3)).reshape(2, 30, 3)]))
"""


def test_long_loops_run_in_blocks(tmp_path, monkeypatch):
    """HORNGATE_TAPE_BYTES: the same gradients, and lines are printed once."""
    runs = []
    for tape in ("", "500"):
        monkeypatch.setenv("HORNGATE_TAPE_BYTES", tape)
        monkeypatch.setenv("HORNGATE_LOG", "plan")
        path = tmp_path / f"tape{tape}.npz"
        done = subprocess.run(
            [sys.executable, "-c", LONG_LOOP, path], capture_output=True, text=True, check=True
        )
        said = (done.stdout + done.stderr).splitlines()
        printed = sum(text.startswith("line") for text in said)
        runs.append((dict(np.load(path)), printed, [text for text in said if " = scan(" in text]))
    (whole, lines, loops), (cut, cut_lines, cut_loops) = runs
    assert lines == cut_lines == 30
    assert len(loops) == 2 and len(cut_loops) > 2
    for name, value in whole.items():
        np.testing.assert_allclose(cut[name], value, rtol=2e-5, atol=1e-6)
