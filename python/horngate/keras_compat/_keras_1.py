"""K functions as Keras 1.0 to 1.2 has them: arguments, defaults, and kernels (out, in, ..) for "th"."""

import types
import warnings

from horngate import (
    _config,
    _conv,
    _elementwise,
    _functional,
    _nn,
    _random,
    _shape,
    _values,
    _variables,
)
from horngate.keras_compat import _keras_2_0

_FORMATS = {"tf": "channels_last", "th": "channels_first"}

_common = None  # keras.backend.common, which keeps the settings


def _format(name, dim_ordering):
    if dim_ordering == "default":
        dim_ordering = _common.image_dim_ordering()
    if dim_ordering not in _FORMATS:
        raise ValueError(f'{name}: dim_ordering must be "tf" or "th"; got {dim_ordering!r}.')
    return _FORMATS[dim_ordering]


def _kernel(kernel, data_format):
    """A kernel (out, in, ..) of "th" as (.., in, out)."""
    if data_format == "channels_last":
        return kernel
    return _shape.permute_dimensions(kernel, (*range(2, _variables.ndim(kernel)), 1, 0))


def conv1d(x, kernel, stride=1, border_mode="valid", image_shape=None, filter_shape=None):
    return _conv.conv1d(x, kernel, stride, border_mode, "channels_last")


def conv2d(
    x,
    kernel,
    strides=(1, 1),
    border_mode="valid",
    dim_ordering="default",
    image_shape=None,
    filter_shape=None,
    filter_dilation=(1, 1),
):
    layout = _format("conv2d", dim_ordering)
    dilation = tuple(filter_dilation)
    return _conv.conv2d(x, _kernel(kernel, layout), strides, border_mode, layout, dilation)


def deconv2d(
    x,
    kernel,
    output_shape,
    strides=(1, 1),
    border_mode="valid",
    dim_ordering="default",
    image_shape=None,
    filter_shape=None,
):
    layout = _format("deconv2d", dim_ordering)
    kernel = _shape.permute_dimensions(_kernel(kernel, layout), (0, 1, 3, 2))
    if output_shape[0] is None:
        output_shape = (_variables.shape(x)[0], *output_shape[1:])
    return _conv.conv2d_transpose(x, kernel, output_shape, strides, border_mode, layout)


def atrous_conv2d(
    x,
    kernel,
    rate=1,
    border_mode="valid",
    dim_ordering="default",
    image_shape=None,
    filter_shape=None,
):
    layout = _format("atrous_conv2d", dim_ordering)
    kernel = _kernel(kernel, layout)
    return _conv.conv2d(x, kernel, (1, 1), border_mode, layout, (rate, rate))


def separable_conv2d(
    x,
    depthwise_kernel,
    pointwise_kernel,
    strides=(1, 1),
    border_mode="valid",
    dim_ordering="default",
):
    layout = _format("separable_conv2d", dim_ordering)
    kernels = [_kernel(k, layout) for k in (depthwise_kernel, pointwise_kernel)]
    return _conv.separable_conv2d(x, *kernels, strides, border_mode, layout)


def conv3d(
    x,
    kernel,
    strides=(1, 1, 1),
    border_mode="valid",
    dim_ordering="default",
    volume_shape=None,
    filter_shape=None,
):
    layout = _format("conv3d", dim_ordering)
    return _conv.conv3d(x, _kernel(kernel, layout), strides, border_mode, layout)


def pool2d(
    x, pool_size, strides=(1, 1), border_mode="valid", dim_ordering="default", pool_mode="max"
):
    layout = _format("pool2d", dim_ordering)
    return _conv.pool2d(x, pool_size, strides, border_mode, layout, pool_mode)


def pool3d(
    x, pool_size, strides=(1, 1, 1), border_mode="valid", dim_ordering="default", pool_mode="max"
):
    layout = _format("pool3d", dim_ordering)
    return _conv.pool3d(x, pool_size, strides, border_mode, layout, pool_mode)


def resize_images(X, height_factor, width_factor, dim_ordering):
    layout = _format("resize_images", dim_ordering)
    return _shape.resize_images(X, height_factor, width_factor, layout)


def resize_volumes(X, depth_factor, height_factor, width_factor, dim_ordering):
    layout = _format("resize_volumes", dim_ordering)
    return _shape.resize_volumes(X, depth_factor, height_factor, width_factor, layout)


def temporal_padding(x, padding=1):
    return _shape.temporal_padding(x, (padding, padding))


def asymmetric_temporal_padding(x, left_pad=1, right_pad=1):
    return _shape.temporal_padding(x, (left_pad, right_pad))


def spatial_2d_padding(x, padding=(1, 1), dim_ordering="default"):
    layout = _format("spatial_2d_padding", dim_ordering)
    return _shape.spatial_2d_padding(x, tuple((n, n) for n in padding), layout)


def asymmetric_spatial_2d_padding(
    x, top_pad=1, bottom_pad=1, left_pad=1, right_pad=1, dim_ordering="default"
):
    layout = _format("asymmetric_spatial_2d_padding", dim_ordering)
    return _shape.spatial_2d_padding(x, ((top_pad, bottom_pad), (left_pad, right_pad)), layout)


def spatial_3d_padding(x, padding=(1, 1, 1), dim_ordering="default"):
    layout = _format("spatial_3d_padding", dim_ordering)
    return _shape.spatial_3d_padding(x, tuple((n, n) for n in padding), layout)


def categorical_crossentropy(output, target, from_logits=False):
    return _nn.categorical_crossentropy(target, output, from_logits)


def sparse_categorical_crossentropy(output, target, from_logits=False):
    return _nn.sparse_categorical_crossentropy(target, output, from_logits)


def binary_crossentropy(output, target, from_logits=False):
    return _keras_2_0.binary_crossentropy(target, output, from_logits)


CROSSENTROPIES = (
    binary_crossentropy,
    categorical_crossentropy,
    sparse_categorical_crossentropy,
)


def batch_normalization(x, mean, var, beta, gamma, epsilon=1e-3):
    return _keras_2_0.batch_normalization(x, mean, var, beta, gamma, epsilon)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    return _nn.normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon)


def random_normal(shape, mean=0.0, std=1.0, dtype=None, seed=None):
    return _random.random_normal(shape, mean, std, dtype, seed)


def random_uniform(shape, low=0.0, high=1.0, dtype=None, seed=None):
    return _random.random_uniform(shape, low, high, dtype, seed)


def one_hot(indices, nb_classes):
    return _shape.one_hot(indices, nb_classes)


def expand_dims(x, dim=-1):
    return _shape.expand_dims(x, dim)


def pack(x):
    return _shape.stack(x)


def lesser(x, y):
    return _elementwise.less(x, y)


def lesser_equal(x, y):
    return _elementwise.less_equal(x, y)


def batch_get_value(xs):
    return _values.batch_get_value(xs)


def moving_average_update(variable, value, momentum):
    return _values.moving_average_update(variable, value, momentum)


def function(inputs, outputs, updates=(), **kwargs):
    if kwargs:
        warnings.warn(f"function: it takes no {', '.join(kwargs)}; ignored.", stacklevel=2)
    return _functional.function(inputs, outputs, updates)


def clear_session():
    _common.reset_uids()
    _config.clear_session()


_FUNCTIONS = (
    *CROSSENTROPIES,
    asymmetric_spatial_2d_padding,
    asymmetric_temporal_padding,
    atrous_conv2d,
    batch_get_value,
    batch_normalization,
    clear_session,
    conv1d,
    conv2d,
    conv3d,
    deconv2d,
    expand_dims,
    function,
    lesser,
    lesser_equal,
    moving_average_update,
    normalize_batch_in_training,
    one_hot,
    pack,
    pool2d,
    pool3d,
    random_normal,
    random_uniform,
    resize_images,
    resize_volumes,
    separable_conv2d,
    spatial_2d_padding,
    spatial_3d_padding,
    temporal_padding,
)


def _with_default(function, old, new):
    """The function, with another default where it has `old`."""
    defaults = tuple(new if value == old else value for value in function.__defaults__)
    return types.FunctionType(function.__code__, globals(), function.__name__, defaults)


def functions(edition, common):
    """By name, for an edition (1, minor, patch); `common` keeps its settings."""
    global _common
    _common = common
    found = {"get_variable_shape": _keras_2_0.get_variable_shape}
    found.update((f.__name__, f) for f in _FUNCTIONS)
    if edition < (1, 2):
        for name in ("batch_normalization", "normalize_batch_in_training"):
            found[name] = _with_default(found[name], 1e-3, 1e-4)
    if edition < (1, 1):
        # 1.0 takes the setting that there is when Keras is imported, and pads as "th" says.
        ordering = common.image_dim_ordering()
        for name, function in found.items():
            if "default" in (function.__defaults__ or ()):
                is_padding = name.startswith("spatial")
                found[name] = _with_default(function, "default", "th" if is_padding else ordering)
    return found
