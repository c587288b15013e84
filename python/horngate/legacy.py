"""Names and spellings of older Keras versions."""

from horngate import _config, _conv, _elementwise, _nn, _shape, _variables

__all__ = [
    "asymmetric_temporal_padding",
    "deconv2d",
    "get_variable_shape",
    "image_dim_ordering",
    "lesser",
    "lesser_equal",
    "normalize_batch",
    "set_image_dim_ordering",
]

_FORMATS = {"tf": "channels_last", "th": "channels_first"}


def accept_old_spellings(function):
    """Gives a function that also takes the argument names of older Keras versions.

    Args:
        function: one of the functions of the backend.

    Example:
        >>> from horngate.legacy import accept_old_spellings
        >>> accept_old_spellings(K.square) is K.square
        True
    """
    return function


def image_dim_ordering():
    """Old form of `image_data_format`.

    Returns:
        "tf" for channels_last, "th" for channels_first.

    Example:
        >>> K.image_dim_ordering()
        'tf'
    """
    return "tf" if _config.image_data_format() == "channels_last" else "th"


def set_image_dim_ordering(dim_ordering):
    """Old form of `set_image_data_format`.

    Args:
        dim_ordering: "tf" for channels_last or "th" for channels_first.

    Example:
        >>> K.set_image_dim_ordering("tf")
        >>> K.image_data_format()
        'channels_last'
    """
    if dim_ordering not in _FORMATS:
        raise ValueError(
            f'set_image_dim_ordering: dim_ordering must be "tf" or "th"; got {dim_ordering!r}.'
        )
    _config.set_image_data_format(_FORMATS[dim_ordering])


def get_variable_shape(x):
    """Old form of `int_shape`.

    Args:
        x: variable or tensor.

    Example:
        >>> K.get_variable_shape(K.zeros((2, 3)))
        (2, 3)
    """
    return _variables.int_shape(x)


def lesser(x, y):
    """Old name of `less`.

    Args:
        x, y: tensors or numbers.

    Example:
        >>> K.eval(K.lesser(K.constant([1., 2.]), 2))
        array([ True, False])
    """
    return _elementwise.less(x, y)


def lesser_equal(x, y):
    """Old name of `less_equal`.

    Args:
        x, y: tensors or numbers.

    Example:
        >>> K.eval(K.lesser_equal(K.constant([1., 2.]), 2))
        array([ True,  True])
    """
    return _elementwise.less_equal(x, y)


def normalize_batch(x, mean, var, beta, gamma, epsilon=0.0001):
    """Old name of `batch_normalization`.

    Args:
        x: tensor.
        mean, var: statistics along the last axis.
        beta, gamma: offset and scale, or None.
        epsilon: small number that is added to the variance.

    Example:
        >>> x = K.constant([[1.], [3.]])
        >>> K.eval(K.normalize_batch(x, K.constant([2.]), K.constant([1.]), None, None, 0.))
        array([[-1.],
               [ 1.]], dtype=float32)
    """
    return _nn.batch_normalization(x, mean, var, beta, gamma, -1, epsilon)


def asymmetric_temporal_padding(x, left_pad=1, right_pad=1):
    """Old form of `temporal_padding`.

    Args:
        x: tensor (samples, steps, channels).
        left_pad, right_pad: how many zeros before and after the steps.

    Example:
        >>> K.int_shape(K.asymmetric_temporal_padding(K.zeros((2, 5, 3)), 2, 1))
        (2, 8, 3)
    """
    return _shape.temporal_padding(x, (left_pad, right_pad))


def deconv2d(
    x,
    kernel,
    output_shape,
    strides=(1, 1),
    border_mode="valid",
    dim_ordering="th",
    image_shape=None,
    filter_shape=None,
):
    """Old form of `conv2d_transpose`.

    Args:
        x: tensor, laid out as dim_ordering says.
        kernel: (out, in, rows, cols) for "th", (rows, cols, in, out) for "tf".
        output_shape: whole shape of the result.
        strides: steps of the window.
        border_mode: "valid" or "same".
        dim_ordering: "th" for channels_first, "tf" for channels_last.
        image_shape, filter_shape: hints that nobody needs any more.

    Example:
        >>> x, kernel = K.zeros((1, 2, 4, 4)), K.zeros((3, 2, 3, 3))
        >>> K.int_shape(K.deconv2d(x, kernel, (1, 3, 6, 6)))
        (1, 3, 6, 6)
    """
    if dim_ordering not in _FORMATS:
        raise ValueError(f'deconv2d: dim_ordering must be "tf" or "th"; got {dim_ordering!r}.')
    axes = (2, 3, 0, 1) if dim_ordering == "th" else (0, 1, 3, 2)
    kernel = _shape.permute_dimensions(kernel, axes)
    return _conv.conv2d_transpose(
        x, kernel, output_shape, strides, border_mode, _FORMATS[dim_ordering]
    )
