"""What Keras itself does wrong for a backend whose name it does not know, or with new packages."""

import functools

import numpy as np

from horngate.keras_compat._items import item, set_missing


@item(
    "keras.backend",
    "Keras 2.2.5 and later hand on a fixed list of names, and `clear_session`,"
    " `manual_variable_initialization` and older names only for backends that they know.",
    "keras.backend",
)
def all_names(backend):
    import horngate

    set_missing(backend, **{name: getattr(horngate, name) for name in horngate.__all__})


def _trace(layer, input_shape):
    """Shapes of what a Lambda layer makes of placeholders."""
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
    compute = core.Lambda.compute_output_shape

    @functools.wraps(compute)
    def compute_output_shape(self, input_shape):
        if getattr(self, "_output_shape", None) is None:
            return _trace(self, input_shape)
        return compute(self, input_shape)

    core.Lambda.compute_output_shape = compute_output_shape


@item(
    "convert_kernel",
    "NumPy 1.23 stopped taking a list of slices as an index; Keras before 2.3 flips kernels of files"
    " saved by Theano with one.",
    "keras.utils.conv_utils",
)
def flipped_kernels(conv_utils):
    convert = conv_utils.convert_kernel

    @functools.wraps(convert)
    def convert_kernel(kernel):
        kernel = np.asarray(kernel)
        if not 3 <= kernel.ndim <= 5:
            return convert(kernel)  # raises
        return np.flip(kernel, range(kernel.ndim - 2)).copy()

    conv_utils.convert_kernel = convert_kernel


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
    "scikit-learn 1.6 asks estimators for their tags; Keras's wrappers have none and are no"
    " `BaseEstimator`. They get those that it gives by default.",
    "keras.wrappers.scikit_learn",
)
def estimator_tags(wrappers):
    def tags(self):
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    wrappers.BaseWrapper.__sklearn_tags__ = tags
