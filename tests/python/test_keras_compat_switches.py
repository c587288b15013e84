"""Each item of the compatibility part does what it says, and can be left out by its name."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import keras_stand
import pytest
from horngate import keras_compat

# On the Keras that is installed. A program prints; so it does with all items, and so without the one.
PROGRAMS = {
    "CuDNN layers": (
        "from keras.layers import CuDNNGRU; print(CuDNNGRU(2).units)",
        "2",
        "RuntimeError: CuDNN RNNs are only available with the TensorFlow backend.",
    ),
    "h5py attributes": (
        "file.attrs['name'] = 'text'; print(file.attrs['name'].decode('utf8'))",
        "text",
        "AttributeError: 'str' object has no attribute 'decode'",
    ),
    "h5py lists": (
        "exec(\"file.attrs['names'] = [b'a', b'bc']\", {'file': file, '__name__': 'keras.some'});"
        "print(file.attrs['names'].dtype.kind)",
        "S",
        "O",
    ),
    "h5py.File": (
        "print(h5py.File('new.h5').mode)",
        "r+",
        "FileNotFoundError: [Errno 2] Unable to ",
    ),
    "keras.backend": ("print(hasattr(K, 'clear_session'))", "True", "False"),
    "K.backend": ("print(K.backend())", "cntk", "horngate"),
    "keras.json": (
        "print(json.load(open(os.environ['KERAS_HOME'] + '/keras.json'))['backend'])",
        "horngate",
        "tensorflow",
    ),
    "Lambda": (
        "y = layers.Lambda(lambda x: K.sum(x, axis=1))(layers.Input((2, 3))); print(y._keras_shape)",
        "(None, 3)",
        "(None, 2, 3)",
    ),
    "scikit-learn": (
        "from keras.wrappers import scikit_learn;"
        "print(hasattr(scikit_learn.KerasClassifier, '__sklearn_tags__'))",
        "True",
        "False",
    ),
    "top_k": (
        "from keras.metrics import Recall; print(Recall(top_k=2).top_k)",
        "2",
        "RuntimeError: `top_k`",
    ),
    "MeanIoU": (
        "from keras.metrics import MeanIoU; print(MeanIoU(2).num_classes)",
        "2",
        "RuntimeError: `MeanIoU`",
    ),
    "multi_gpu_model": (
        "print(keras.utils.multi_gpu_model(model, 1).output_shape)",
        "(None, 1)",
        "ValueError: `multi_gpu_model`",
    ),
    "numpy": ("print(np.Inf, np.float)", "inf <class 'float'>", "AttributeError: `np.Inf`"),
    "np.load": (
        "np.save('objects.npy', np.array([[1], None], dtype=object));"
        "from keras.datasets import imdb; print(imdb.np.load('objects.npy')[0])",
        "[1]",
        "ValueError: Object arrays cannot be loaded when allow_pickle=False",
    ),
    "np.array": (
        "from keras.datasets import imdb; print(imdb.np.array([[1], [1, 2]]).shape)",
        "(2,)",
        "ValueError: setting an array element with a sequence.",
    ),
    "collections": ("print('loaded')", "loaded", "ImportError: cannot import name 'Iterable'"),
    "inspect": (
        "import inspect; print(inspect.getargspec(lambda a, *b: a).args)",
        "['a']",
        "AttributeError: module 'inspect' has no attribute 'getargspec'",
    ),
    "saving": (  # a second name of the old file keeps the old contents
        "open('model.h5', 'w').write('old'); os.link('model.h5', 'second'); model.save('model.h5');"
        "print(open('second', 'rb').read() == b'old')",
        "True",
        "False",
    ),
    "None gradients": (  # a line more, which says why
        "v = K.variable([1.0])\n"
        "try:\n    keras.optimizers.SGD().get_gradients(K.sum(K.round(v)), [v])\n"
        "except ValueError as e:\n    print(len(str(e).splitlines()))",
        "2",
        "1",
    ),
    "batch axis": (
        "try:\n    model.predict(np.zeros(2))\n"
        "except ValueError as e:\n    print('batch dimension' in str(e))",
        "True",
        "False",
    ),
    "class numbers": (
        "model.compile('sgd', 'sparse_categorical_crossentropy')\n"
        "try:\n    print(model.train_on_batch(np.zeros((1, 2)), np.ones(1)))\n"
        "except ValueError as e:\n    print('raised')",
        "raised",
        "nan",
    ),
    "tensors outside of layers": (
        "x = layers.Input((2,))\n"
        "try:\n    models.Model(x, K.relu(x))\n"
        "except ValueError as e:\n    print('Lambda' in str(e))",
        "True",
        "False",
    ),
    "wrong Lambda shapes": (
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    warnings.simplefilter('always')\n"
        "    layers.Lambda(K.relu, output_shape=(3,))(layers.Input((2,)))\n"
        "print(sum('output_shape of' in str(w.message) for w in found))",
        "1",
        "0",
    ),
    "TensorBoard": (
        "from keras.callbacks import TensorBoard; print(TensorBoard('logs').log_dir)",
        "logs",
        "ImportError: You need the TensorFlow",
    ),
}

BEGINNING = """
import json, os
import h5py, numpy as np
import keras
from keras import backend as K, layers, models
file = h5py.File("memory", "w", driver="core", backing_store=False)
model = models.Sequential([layers.Dense(1, input_shape=(2,))])
"""

# What is there for Keras before 2.3, on a stand-in with the habits of those editions.
OLD_PROGRAMS = {
    "convert_kernel": (
        "from keras.utils.conv_utils import convert_kernel\n"
        "print(convert_kernel(np.arange(4).reshape(2, 2, 1, 1)).ravel())",
        "[3 2 1 0]",
        "IndexError: ",
    ),
    "kernels of other backends": (
        "from keras.engine import topology\n"
        "print([topology._need_convert_kernel(name) for name in ('horngate', 'theano')])",
        "[False, True]",
        "KeyError: 'horngate'",
    ),
    "SeparableConvolution2D": (
        "from keras.layers.convolutional import SeparableConvolution2D\n"
        "print(SeparableConvolution2D().name)",
        "made",
        "Exception: only for tensorflow",
    ),
    "applications": (
        "from keras.applications.xception import Xception\nprint(Xception())",
        "a net",
        "RuntimeError: only for tensorflow",
    ),
    "H5Dict": (
        "from keras.utils.io_utils import H5Dict\nprint([1] if H5Dict()['names'] else [])",
        "[]",
        "ValueError: The truth value of an empty array is ambiguous.",
    ),
    "pkg_resources": (
        "from keras import callbacks\nimport sys\n"
        "newer = callbacks.parse_version('0.10') > callbacks.parse_version('0.8.0')\n"
        "print(newer, 'pkg_resources' in sys.modules)",
        "True False",
        "ModuleNotFoundError: ",
    ),
    "generators": (
        "from keras.utils.data_utils import GeneratorEnqueuer\nprint(list(GeneratorEnqueuer().get()))",
        "[1]",
        "RuntimeError: generator raised StopIteration",
    ),
    "yaml.load": (
        "from keras import models\nprint(models.load('a: !!python/tuple [1]'))",
        "{'a': (1,)}",
        "TypeError: load() missing 1 required positional argument: 'Loader'",
    ),
    "saving": (  # where Keras 2.0 and 1 have it
        "from keras.engine.topology import Container\n"
        "open('weights.h5', 'w').write('old')\n"
        "try:\n    Container().save_weights('weights.h5')\nexcept OSError:\n"
        "    print(open('weights.h5', 'rb').read() == b'old')",
        "True",
        "False",
    ),
}
NO_SETUPTOOLS = """
import sys
from importlib.machinery import PathFinder
sys.modules.pop("pkg_resources", None)
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *args: None if name == "pkg_resources" else find(name, *args)
"""
FILES = {
    "utils/conv_utils.py": """
def convert_kernel(kernel):
    return kernel[[slice(None, None, -1)] * 2 + [slice(None)] * 2]
""",
    "engine/topology.py": """
_need_convert_kernel = {"tensorflow": False}.__getitem__
class Container:
    def save_weights(self, filepath, overwrite=True):
        import h5py
        with h5py.File(filepath, "w"):
            raise OSError("no space")
""",
    "layers/convolutional.py": """
from .. import backend as K
class SeparableConvolution2D:
    name = "made"
    def __init__(self):
        if K._BACKEND != "tensorflow":
            raise Exception("only for tensorflow")
""",
    "applications/xception.py": """
from .. import backend as K
def Xception():
    if K.backend() != "tensorflow":
        raise RuntimeError("only for tensorflow")
    return "a net"
""",
    "utils/io_utils.py": """
import types
import numpy as np
class H5Dict:
    data = types.SimpleNamespace(attrs={"names": np.array([])})
    def __getitem__(self, name):
        return self.data.attrs[name]
""",
    "utils/data_utils.py": """
class GeneratorEnqueuer:
    def get(self):
        yield 1
        raise StopIteration
""",
    "callbacks.py": """
from pkg_resources import parse_version
class TensorBoard:
    pass
""",
    "models.py": """
import yaml
def load(text):
    return yaml.load(text)
""",
}


def test_every_item_is_here():
    assert {item.name for item in keras_compat.ITEMS} == {*PROGRAMS, *OLD_PROGRAMS}


def last_line(done):
    text = done.stdout if done.returncode == 0 else done.stderr
    return text.strip().splitlines()[-1]


def run(program, **variables):
    with tempfile.TemporaryDirectory() as folder:
        env = {k: v for k, v in os.environ.items() if not k.startswith("HORNGATE_KERAS")}
        env.update(KERAS_BACKEND="horngate", KERAS_HOME=folder, HORNGATE_NO_CONFIG_WRITE="0")
        env.update(HORNGATE_BACKEND_NAME="cntk", **variables)
        command = [sys.executable, "-c", BEGINNING + program]
        return subprocess.run(
            command, capture_output=True, text=True, env=env, cwd=folder, check=False
        )


needs_keras = pytest.mark.skipif(
    importlib.util.find_spec("keras") is None, reason="Keras is not installed (make build does it)"
)


@needs_keras
def test_with_all_items():
    """In one process: none needs the others' absence."""
    programs = [program for program, _, _ in PROGRAMS.values()]
    done = run(f"for program in json.loads({json.dumps(programs)!r}): exec(program)")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [on for _, on, _ in PROGRAMS.values()]


@needs_keras
@pytest.mark.parametrize("name", PROGRAMS)
def test_without_one(name):
    program, _, off = PROGRAMS[name]
    assert last_line(run(program, HORNGATE_KERAS_COMPAT_WITHOUT=name)).startswith(off)


@pytest.mark.parametrize("name", OLD_PROGRAMS)
def test_those_of_old_editions(name, tmp_path):
    stand = keras_stand.Stand(tmp_path)
    for path, text in FILES.items():
        file = tmp_path / "keras" / path
        file.parent.mkdir(exist_ok=True)
        (file.parent / "__init__.py").touch()
        file.write_text(text)
    program, on, off = OLD_PROGRAMS[name]
    # As without setuptools: Python finds nothing.
    (tmp_path / "sitecustomize.py").write_text(NO_SETUPTOOLS)
    program = f"import numpy as np\n{program}"
    assert stand.prints(program).strip() == on
    done = stand.run(*keras_stand.RUN, "program.py", HORNGATE_KERAS_COMPAT_WITHOUT=name)
    assert last_line(done).startswith(off)
