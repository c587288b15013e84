"""What Keras itself does wrong for a backend whose name it does not know, or with new packages."""

import contextlib
import functools
import json
import os
import sys
import tempfile

import numpy as np

from horngate.keras_compat._items import Overlay, item, set_missing


@item(
    "keras.backend",
    "Keras 2.2.5 and later hand on a fixed list of names, and `clear_session`,"
    " `manual_variable_initialization` and older names only for backends that they know.",
    "keras.backend",
)
def all_names(backend):
    import horngate

    set_missing(backend, **{name: getattr(horngate, name) for name in horngate.__all__})


# Parts of Keras, which would do what they do for TensorFlow itself.
_KERAS = ("keras", "keras_applications", "keras_preprocessing")


@item(
    "K.backend",
    "Many packages ask `K.backend()` for a name that they know, and then use nothing but K. With"
    " `HORNGATE_BACKEND_NAME=tensorflow` (or `theano`, `cntk`) that is what it answers, to all but Keras"
    " itself. Off unless it is set.",
    "keras.backend",
)
def backend_name(backend):
    name = os.environ.get("HORNGATE_BACKEND_NAME", "")
    if name not in ("", "tensorflow", "theano", "cntk"):
        raise ValueError(
            f'HORNGATE_BACKEND_NAME: must be tensorflow, theano or cntk; got "{name}".'
        )
    if not name:
        return
    own = backend.backend

    @functools.wraps(own)
    def answer():
        caller = sys._getframe(1).f_globals.get("__name__", "")
        return own() if caller.split(".")[0] in _KERAS else name

    backend.backend = answer


def _new_config():
    """The path of the keras.json that Keras wrote in this process, and its fields; None if there was one
    before."""
    for name in ("keras.backend.load_backend", "keras.backend"):
        loader = vars(sys.modules.get(name, sys))
        # `_floatx` is only there if Keras read it from an existing file.
        if "_config_path" in loader and "_floatx" not in loader:
            return loader["_config_path"], loader.get("_config")
    return None


@item(
    "keras.json",
    'Where there is no `keras.json`, Keras writes one that says `"backend": "tensorflow"`, whatever'
    " KERAS_BACKEND is, and a later program without KERAS_BACKEND would run on that. The new file says"
    ' `"horngate"`; with HORNGATE_NO_CONFIG_WRITE=1 it is removed. A file that was there stays as it is.',
)
def own_name_in_new_config():
    path, fields = _new_config() or (None, None)
    if path is None or not isinstance(fields, dict):
        return
    # If the file cannot be read or written, Keras could not write it either.
    with contextlib.suppress(OSError, UnicodeError):
        with open(path) as file:
            if file.read() != json.dumps(fields, indent=4):
                return  # another program's
        if os.environ.get("HORNGATE_NO_CONFIG_WRITE") == "1":
            os.unlink(path)
            return
        mode = os.stat(path).st_mode & 0o777
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".keras.json.")
        try:
            with os.fdopen(handle, "w") as file:
                file.write(json.dumps({**fields, "backend": "horngate"}, indent=4))
                os.fchmod(handle, mode)
            os.rename(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


def _trace(layer, input_shape):
    """Shapes of what a Lambda layer makes from placeholders."""
    import horngate as K

    dtypes = getattr(layer, "_input_dtypes", None)
    if isinstance(input_shape, list):
        if not isinstance(dtypes, (list, tuple)):
            dtypes = [dtypes] * len(input_shape)
        x = [K.placeholder(shape, dtype=dtype) for shape, dtype in zip(input_shape, dtypes)]
    else:
        x = K.placeholder(input_shape, dtype=dtypes)
    y = layer.call(x)
    return [K.int_shape(part) for part in y] if isinstance(y, list) else K.int_shape(y)


@item(
    "Lambda",
    "A `Lambda` layer without `output_shape` infers its shape only if the backend is called"
    " tensorflow or cntk, and else takes that of its input. Here its function is traced on"
    " placeholders.",
    "keras.layers.core",
)
def lambda_shapes(core):
    for name in ("compute_output_shape", "get_output_shape_for"):  # the latter in Keras 1
        if name in vars(core.Lambda):
            setattr(core.Lambda, name, _traced(vars(core.Lambda)[name]))


def _traced(compute):
    @functools.wraps(compute)
    def compute_output_shape(self, input_shape):
        if getattr(self, "_output_shape", None) is None:
            return _trace(self, input_shape)
        return compute(self, input_shape)

    return compute_output_shape


class _Kernel(np.ndarray):
    """An array that takes a list of slices as an index."""

    def __getitem__(self, index):
        return super().__getitem__(tuple(index) if isinstance(index, list) else index)


@item(
    "convert_kernel",
    "NumPy 1.23 stopped taking a list of slices as an index; Keras 1.2 to 2.2 flips kernels of files"
    " saved by Theano with one.",
    "keras.utils.conv_utils",
    "keras.utils.np_utils",
)
def flipped_kernels(utils):
    convert = getattr(utils, "convert_kernel", None)
    if convert is None:
        return

    @functools.wraps(convert)
    def convert_kernel(kernel, *args, **options):
        return np.asarray(convert(np.asarray(kernel).view(_Kernel), *args, **options))

    utils.convert_kernel = convert_kernel
    utils.np = Overlay(np, asarray=np.asanyarray)  # which it calls first


@item(
    "kernels of other backends",
    "Keras 2.0 and 2.1 look the backend's name up in a list to tell whether the kernels in a file must be"
    " flipped, and fail for other names. Horngate correlates as TensorFlow does: those that Theano saved are.",
    "keras.engine.topology",
)
def kernels_of_theano(topology):
    if "_need_convert_kernel" in vars(topology):
        topology._need_convert_kernel = lambda original_backend: original_backend == "theano"


@item(
    "SeparableConvolution2D",
    "Keras 1 refuses it for every backend that is not called tensorflow.",
    "keras.layers.convolutional",
)
def separable_convolution(convolutional):
    layer = getattr(convolutional, "SeparableConvolution2D", None)
    if getattr(layer, "__name__", "") == "SeparableConvolution2D":  # else it is a second name
        _answer_tensorflow(convolutional)


def _answer_tensorflow(module):
    """Its K has that name; other modules' has not."""
    module.K = Overlay(module.K, backend=lambda: "tensorflow", _BACKEND="tensorflow")


@item(
    "applications",
    "`Xception`, `MobileNet` and `NASNet` of Keras before 2.2 refuse a backend that is not called"
    " tensorflow. They ask for the name for no other reason.",
    "keras.applications.xception",
    "keras.applications.mobilenet",
    "keras.applications.nasnet",
)
def pictures_nets(application):
    if hasattr(application, "K"):  # since 2.2 they are a package of their own
        _answer_tensorflow(application)


@item(
    "H5Dict",
    "NumPy 2.2 refuses the truth value of an empty array. Keras before 2.3 asks it of the list of a"
    " layer's weights, which is empty for a layer without any.",
    "keras.utils.io_utils",
)
def empty_lists(io_utils):
    if not hasattr(io_utils, "H5Dict"):
        return
    get = io_utils.H5Dict.__getitem__

    @functools.wraps(get)
    def get_list(self, attr):
        value = get(self, attr)
        is_list = isinstance(value, np.ndarray) and attr in getattr(self.data, "attrs", ())
        return [] if is_list and value.size == 0 else value

    io_utils.H5Dict.__getitem__ = get_list


@item(
    "scikit-learn",
    "scikit-learn 1.6 asks estimators for their tags, later ones whether they are fitted; Keras's wrappers have no"
    " tags and are no `BaseEstimator`. They get those that it gives by default, and say the latter.",
    "keras.wrappers.scikit_learn",
)
def estimator_tags(wrappers):
    def tags(self):
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    wrappers.BaseWrapper.__sklearn_tags__ = tags
    wrappers.BaseWrapper.__sklearn_is_fitted__ = lambda self: hasattr(self, "model")
