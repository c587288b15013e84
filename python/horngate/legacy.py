"""Names and spellings of older Keras versions.

Calls written for Keras 1 and the first versions of Keras 2 work, and get a DeprecationWarning that
says how to write them today. A call with one spelling of Keras 1 is a call of that age: its kernel
is laid out as dim_ordering, or the setting, says, (out, in, rows, cols) for "th".
"""

from __future__ import annotations

import functools as _functools
import inspect as _inspect
import warnings as _warnings
from typing import TYPE_CHECKING

import numpy as _np

from horngate import (
    _config,
    _conv,
    _ctc,
    _elementwise,
    _linalg,
    _nn,
    _reductions,
    _shape,
    _variables,
)
from horngate import _horngate as _hg

if TYPE_CHECKING:
    from typing import Any

    from horngate.typing import DimOrdering, Ints, Padding, Shape, Tensor, TensorLike

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

# Arguments that were renamed, or (None) that are no longer needed.
_LAYOUT = {"dim_ordering": "data_format"}
_WINDOW = {"border_mode": "padding", **_LAYOUT}
_RENAMED = {
    "batch_get_value": {"xs": "ops", "x": "ops"},
    "conv1d": {"border_mode": "padding", "image_shape": None, "filter_shape": None},
    "conv2d": {**_WINDOW, "image_shape": None, "filter_shape": None},
    "conv3d": {**_WINDOW, "volume_shape": None, "filter_shape": None},
    "ctc_decode": {"dict_seq_lens": None, "dict_values": None},
    "expand_dims": {"dim": "axis"},
    "one_hot": {"nb_classes": "num_classes"},
    "pool2d": _WINDOW,
    "pool3d": _WINDOW,
    "resize_images": {"X": "x", **_LAYOUT},
    "resize_volumes": {"X": "x", **_LAYOUT},
    "spatial_2d_padding": _LAYOUT,
    "spatial_3d_padding": _LAYOUT,
}

# Arguments that moved: today's argument, how to see that it holds an old one, and which.
_MOVED = {
    "batch_normalization": [("axis", "isinstance(axis, float)", "epsilon")],
    "conv1d": [
        ("data_format", "isinstance(data_format, (tuple, list))", "image_shape"),
        ("dilation_rate", "is_hint(dilation_rate, 3)", "filter_shape"),
    ],
    "conv2d": [("dilation_rate", "is_hint(dilation_rate, 4)", "image_shape")],
    "conv3d": [("dilation_rate", "is_hint(dilation_rate, 5)", "volume_shape")],
    "ctc_decode": [
        ("top_paths", "top_paths is None or isinstance(top_paths, list)", "dict_seq_lens"),
        (
            "merge_repeated",
            "merge_repeated is None or isinstance(merge_repeated, list)",
            "dict_values",
        ),
    ],
    "dropout": [("noise_shape", "isinstance(noise_shape, INT)", "seed")],
    "ones_like": [("dtype", "dtype.__class__ is str and not dtype.startswith(DTYPES)", "name")],
    "placeholder": [("sparse", "sparse.__class__ is str", "name")],
    "zeros_like": [("dtype", "dtype.__class__ is str and not dtype.startswith(DTYPES)", "name")],
}

# Arguments whose values changed, and how to see that.
_FORMAT = ("data_format", "data_format in FORMATS")
_COUNTS = ("padding", "has_counts(padding)")
_VALUES = {
    "conv2d": [_FORMAT],
    "conv3d": [_FORMAT],
    "ctc_decode": [("beam_width", "beam_width is None")],
    "pool2d": [_FORMAT],
    "pool3d": [_FORMAT],
    "resize_images": [_FORMAT],
    "resize_volumes": [_FORMAT],
    "spatial_2d_padding": [_COUNTS, _FORMAT],
    "spatial_3d_padding": [_COUNTS, _FORMAT],
    "temporal_padding": [("padding", "isinstance(padding, INT)")],
}


def _is_hint(value, size):
    """Whether this is one of the shapes that convolutions once took and no longer need."""
    return value is None or (isinstance(value, (tuple, list)) and len(value) == size)


def _has_counts(padding):
    """Whether this is a single number for both ends of each axis."""
    return isinstance(padding, (tuple, list)) and any(isinstance(n, _INT) for n in padding)


_INT = (int, _np.integer)
_MISSING = object()
_WORDS = {
    "DTYPES": ("bool", "int", "uint", "float", "bfloat", "complex"),
    "FORMATS": tuple(_FORMATS),
    "INT": _INT,
    "MISSING": _MISSING,
    "has_counts": _has_counts,
    "is_hint": _is_hint,
}


def accept_old_spellings(function):
    """Gives a function that also takes calls written for older Keras versions.

    Args:
        function: one of the functions of the backend.

    Example:
        >>> from horngate.legacy import accept_old_spellings
        >>> accept_old_spellings(K.square) is K.square
        True
    """
    name = function.__name__
    if not (name in _RENAMED or name in _MOVED or name in _VALUES):
        return function
    parameters = _inspect.signature(function).parameters
    # What shows that an argument was not given. A required one may come under its old name, and
    # those after it then come by name.
    absent = {n: p.default for n, p in parameters.items() if p.default is not p.empty}
    required = [n for n in parameters if n not in absent]
    renamed = [n for n in required if n in _RENAMED.get(name, {}).values()]
    maybe = required[required.index(renamed[0]) :] if renamed else []
    absent.update(dict.fromkeys(maybe, _MISSING))
    if name in ("conv2d", "conv3d"):
        absent["filter_shape"] = _MISSING  # once the seventh argument
    names = [*parameters, *(n for n in absent if n not in parameters)]

    moved = [f"{n} is not absent_{n} and ({test})" for n, test, _ in _MOVED.get(name, ())]
    values = [f"{n} is not absent_{n} and {test}" for n, test in _VALUES.get(name, ())]
    is_old = ["old", *(f"{n} is MISSING" for n in maybe), *moved, *values]
    is_old += ["filter_shape is not MISSING"] if "filter_shape" in absent else []
    takes = [f"{n}=absent_{n}" if n in absent else n for n in names]
    # Today's calls must stay cheap: with the parameters written out they pay for one more call and
    # for these tests, about 0.1 us. With *args and **kwargs, keywords would take three times that.
    program = f"""
def {name}({", ".join(takes)}, **old):
    if {" or ".join(is_old)}:
        return call([{", ".join(names)}], [{", ".join(moved)}], old)
    return function({", ".join(parameters)})
"""

    def call(given, holds_old, old):
        given = {n: v for n, v in zip(names, given) if n not in absent or v is not absent[n]}
        return _call_old(function, given, holds_old, old)

    space = {**_WORDS, "call": call, "function": function}
    space.update({f"absent_{n}": value for n, value in absent.items()})
    exec(compile(program, f"<{name} of all Keras versions>", "exec"), space)
    return _functools.wraps(function)(space[name])


def _call_old(function, given, holds_old, old):
    """Makes an old call in today's spelling, and warns where it was written."""
    name, said = function.__name__, []
    given.update(old)
    for (standing, _, then), is_old in zip(_MOVED.get(name, ()), holds_old):
        if is_old and standing in given:
            if then in given:
                raise TypeError(f"{name}: {then} was given twice.")
            given[then] = given.pop(standing)
            if then not in _RENAMED.get(name, {}):
                said.append(f"{then} has moved; pass it as {then}=")
    new = {}
    for then, value in given.items():
        standing = _RENAMED.get(name, {}).get(then, then)
        if standing is None:
            said.append(f"{then} is an argument of Keras 1; leave it out")
        elif standing in new:
            raise TypeError(f"{name}: {then} is now called {standing}, and was given twice.")
        else:
            new[standing] = value
            if standing != then and then != "dim_ordering":
                said.append(f"{then} is now called {standing}")
    _renew_values(name, given, new, said)
    for text in said:
        _warnings.warn(f"{name}: {text}.", DeprecationWarning, stacklevel=4)
    if given.get("dict_values") is not None and not new.get("greedy", True):
        return _likeliest_entries(given)
    return function(**new)


def _renew_values(name, given, new, said):
    """Replaces old values with today's."""
    ordering = new.get("data_format")
    if "dim_ordering" in given and ordering not in tuple(_FORMATS):
        raise ValueError(f'{name}: dim_ordering must be "tf" or "th"; got {ordering!r}.')
    if ordering in tuple(_FORMATS):
        new["data_format"] = _FORMATS[ordering]
        argument = "dim_ordering" if "dim_ordering" in given else "data_format"
        said.append(f"{argument}={ordering!r} is now data_format={_FORMATS[ordering]!r}")
    if name in ("conv2d", "conv3d") and said:
        if "data_format" not in new:
            ordering = _image_ordering()
        if ordering == "th" and "kernel" in new:
            new["kernel"] = _spatial_first(new["kernel"])
            said[-1] += ", and a kernel (out, in, ..) is now (.., in, out)"
    padding = new.get("padding")
    if isinstance(padding, _INT) or (name.startswith("spatial") and _has_counts(padding)):
        new["padding"] = _pairs(padding)
        said.append(f"padding={padding!r} is now padding={new['padding']!r}")
    if name == "ctc_decode" and new.get("beam_width", 100) is None:
        new["beam_width"] = 100
        said.append("beam_width=None is now beam_width=100")


def _image_ordering():
    return "tf" if _config.image_data_format() == "channels_last" else "th"


def _spatial_first(kernel):
    """A kernel (out, in, ..) as (.., in, out)."""
    ndim = _variables.ndim(kernel) if _hg.is_tensor(kernel) else _np.ndim(kernel)
    if ndim < 3:
        return kernel  # the function will report what is wrong
    return _shape.permute_dimensions(kernel, (*range(2, ndim), 1, 0))


def _pairs(padding):
    """Turns single numbers for both ends into pairs."""
    if isinstance(padding, _INT):
        return (padding, padding)
    return tuple(_pairs(n) if isinstance(n, _INT) else n for n in padding)


def _likeliest_entries(given):
    """ctc_decode with a dictionary: for each sample, the entry with the highest probability."""
    entries = [list(entry) for entry in given["dict_values"]]
    lengths = given.get("dict_seq_lens")
    lengths = [len(entry) for entry in entries] if lengths is None else [int(n) for n in lengths]
    if not entries or len(lengths) != len(entries):
        raise ValueError(
            "ctc_decode: dict_seq_lens must have a length for each entry of dict_values; got "
            f"{len(lengths)} lengths and {len(entries)} entries."
        )
    table = _np.full((len(entries), max(lengths)), -1, "int32")
    for row, entry, length in zip(table, entries, lengths):
        row[:length] = entry[:length]
    steps = _elementwise.cast(_shape.reshape(given["input_length"], (-1, 1)), "int32")
    zero = _variables.zeros_like(steps, "int32")
    costs = [
        _ctc.ctc_batch_cost(zero + _np.maximum(row, 0), given["y_pred"], steps, zero + length)
        for row, length in zip(table, lengths)
    ]
    cost = _shape.concatenate(costs, axis=1)
    best = _reductions.argmin(cost, axis=1)
    found = _linalg.gather(_variables.constant(table, "int32"), best)
    return [found], -_reductions.min(cost, axis=1, keepdims=True)


def _say_new_name(old, new):
    text = f"{old} is a name of older Keras versions; write {new}."
    _warnings.warn(text, DeprecationWarning, stacklevel=3)


def image_dim_ordering() -> str:
    """Old form of `image_data_format`.

    Returns:
        "tf" for channels_last, "th" for channels_first.

    Example:
        >>> K.image_dim_ordering()
        'tf'
    """
    _say_new_name("image_dim_ordering", "image_data_format")
    return _image_ordering()


def set_image_dim_ordering(dim_ordering: DimOrdering) -> None:
    """Old form of `set_image_data_format`.

    Args:
        dim_ordering: "tf" for channels_last or "th" for channels_first.

    Example:
        >>> K.set_image_dim_ordering("tf")
        >>> K.image_data_format()
        'channels_last'
    """
    _say_new_name("set_image_dim_ordering", "set_image_data_format")
    if dim_ordering not in _FORMATS:
        raise ValueError(
            f'set_image_dim_ordering: dim_ordering must be "tf" or "th"; got {dim_ordering!r}.'
        )
    _config.set_image_data_format(_FORMATS[dim_ordering])


def get_variable_shape(x: TensorLike) -> tuple[int | None, ...]:
    """Old form of `int_shape`.

    Args:
        x: variable or tensor.

    Example:
        >>> K.get_variable_shape(K.zeros((2, 3)))
        (2, 3)
    """
    _say_new_name("get_variable_shape", "int_shape")
    return _variables.int_shape(x)


def lesser(x: TensorLike, y: TensorLike) -> Tensor:
    """Old name of `less`.

    Args:
        x, y: tensors or numbers.

    Example:
        >>> K.eval(K.lesser(K.constant([1., 2.]), 2))
        array([ True, False])
    """
    _say_new_name("lesser", "less")
    return _elementwise.less(x, y)


def lesser_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Old name of `less_equal`.

    Args:
        x, y: tensors or numbers.

    Example:
        >>> K.eval(K.lesser_equal(K.constant([1., 2.]), 2))
        array([ True,  True])
    """
    _say_new_name("lesser_equal", "less_equal")
    return _elementwise.less_equal(x, y)


def normalize_batch(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    epsilon: float = 0.0001,
) -> Tensor:
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
    _say_new_name("normalize_batch", "batch_normalization")
    return _nn.batch_normalization(x, mean, var, beta, gamma, -1, epsilon)


def asymmetric_temporal_padding(x: TensorLike, left_pad: int = 1, right_pad: int = 1) -> Tensor:
    """Old form of `temporal_padding`.

    Args:
        x: tensor (samples, steps, channels).
        left_pad, right_pad: how many zeros before and after the steps.

    Example:
        >>> K.int_shape(K.asymmetric_temporal_padding(K.zeros((2, 5, 3)), 2, 1))
        (2, 8, 3)
    """
    _say_new_name("asymmetric_temporal_padding", "temporal_padding")
    return _shape.temporal_padding(x, (left_pad, right_pad))


def deconv2d(
    x: TensorLike,
    kernel: TensorLike,
    output_shape: Shape,
    strides: Ints = (1, 1),
    border_mode: Padding = "valid",
    dim_ordering: DimOrdering = "th",
    image_shape: Any = None,
    filter_shape: Any = None,
) -> Tensor:
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
    _say_new_name("deconv2d", "conv2d_transpose")
    if dim_ordering not in _FORMATS:
        raise ValueError(f'deconv2d: dim_ordering must be "tf" or "th"; got {dim_ordering!r}.')
    axes = (2, 3, 0, 1) if dim_ordering == "th" else (0, 1, 3, 2)
    kernel = _shape.permute_dimensions(kernel, axes)
    return _conv.conv2d_transpose(
        x, kernel, output_shape, strides, border_mode, _FORMATS[dim_ordering]
    )
