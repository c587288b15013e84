"""What K functions compute, written in NumPy as plainly as possible: slow loops are welcome."""

import itertools

import numpy as np


def reduction(numpy_function):
    """A NumPy reduction that takes lists of axes, as K functions do."""

    def reduce(x, axis=None, keepdims=False):
        axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        return numpy_function(x, axis=axis, keepdims=keepdims)

    reduce.__name__ = numpy_function.__name__
    return reduce


def max_or_lowest(x, axis, keepdims):
    return np.max(x, axis=axis, keepdims=keepdims, initial=-np.inf)


def min_or_highest(x, axis, keepdims):
    return np.min(x, axis=axis, keepdims=keepdims, initial=np.inf)


def logsumexp(x, axis=None, keepdims=False):
    axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    y = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return y if keepdims else np.squeeze(y, axis=axis)


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis=axis, keepdims=True)


def log_softmax(x, axis=-1):
    return x - logsumexp(x, axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """As Keras has it on TensorFlow: with a max_value nothing above the threshold is negative."""
    y = np.where(x <= threshold, 0, x)
    if max_value is not None:
        y = np.clip(y, 0, max_value)
    if alpha == 0:
        return y
    return y + np.where(x < threshold, alpha * (x - threshold), 0)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def hard_sigmoid(x):
    return np.clip(0.2 * x + 0.5, 0, 1)


def clip(x, min_value, max_value):
    y = x if max_value is None else np.minimum(x, max_value)
    return y if min_value is None else np.maximum(y, min_value)


def dot(x, y):
    """Every row of x with every column of y: last axis of x, second to last of y."""
    result = np.zeros(x.shape[:-1] + y.shape[:-2] + y.shape[-1:], np.result_type(x, y))
    for i in np.ndindex(x.shape[:-1]):
        for j in np.ndindex(y.shape[:-2]):
            for k in range(y.shape[-1]):
                result[i + j + (k,)] = sum(x[i] * y[j + (slice(None), k)])
    return result


def batch_dot(x, y, axes=None):
    if axes is None:
        axes = (x.ndim - 1, 1 if y.ndim == 2 else y.ndim - 2)
    a, b = (axes, axes) if isinstance(axes, int) else axes
    a, b = a % x.ndim, b % y.ndim
    samples = [np.tensordot(xi, yi, (a - 1, b - 1)) for xi, yi in zip(x, y)]
    shape = [n for i, n in enumerate(x.shape) if i != a]
    shape += [n for i, n in enumerate(y.shape) if i not in (0, b)]
    result = np.array(samples, np.result_type(x, y)).reshape(shape)
    return result[:, None] if result.ndim == 1 else result


def one_hot(indices, num_classes):
    return (indices[..., None] == np.arange(num_classes)).astype("float32")


def tile(x, n):
    return np.tile(x, n)


def repeat(x, n):
    return np.stack([x] * n, axis=1) if n else np.zeros((x.shape[0], 0, x.shape[1]), x.dtype)


def repeat_elements(x, rep, axis):
    return np.repeat(x, rep, axis)


def expand_dims(x, axis=-1):
    return np.expand_dims(x, axis)


def concatenate(tensors, axis=-1):
    return np.concatenate(tensors, axis)


def stack(x, axis=0):
    return np.stack(x, axis)


def reverse(x, axes):
    return np.flip(x, axes)


def in_top_k(predictions, targets, k):
    """A target is in when fewer than k predictions are above it."""
    above = [np.sum(row > row[t]) for row, t in zip(predictions, targets)]
    return np.array(above, int) < k


def spatial_axes(rank, data_format):
    first = 2 if data_format == "channels_first" else 1
    return range(first, first + rank)


def pad_spatial(x, padding, data_format, value=0.0):
    """`padding` around the spatial axes, a pair for each."""
    widths = [(0, 0)] * x.ndim
    for axis, pair in zip(spatial_axes(len(padding), data_format), padding):
        widths[axis] = tuple(pair)
    return np.pad(x, widths, constant_values=value)


def temporal_padding(x, padding=(1, 1)):
    return pad_spatial(x, [padding], "channels_last")


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    return pad_spatial(x, padding, data_format)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    return pad_spatial(x, padding, data_format)


def resize_nearest(x, factors, data_format):
    for axis, factor in zip(spatial_axes(len(factors), data_format), factors):
        x = np.repeat(x, factor, axis)
    return x


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    if interpolation == "nearest":
        return resize_nearest(x, (height_factor, width_factor), data_format)
    for axis, factor in zip(spatial_axes(2, data_format), (height_factor, width_factor)):
        x = resize_linear(x, factor, axis)
    return x


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    return resize_nearest(x, (depth_factor, height_factor, width_factor), data_format)


def resize_linear(x, factor, axis):
    """Position i of the result lies at i / factor; beyond the last element it stays."""
    parts = []
    for i in range(x.shape[axis] * factor):
        low = i // factor
        high = min(low + 1, x.shape[axis] - 1)
        share = i / factor - low
        parts.append(np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share)
    return np.stack(parts, axis)


def to_channels_last(x, data_format):
    return np.moveaxis(x, 1, -1) if data_format == "channels_first" else x


def from_channels_last(x, data_format):
    return np.moveaxis(x, -1, 1) if data_format == "channels_first" else x


def per_axis(value, rank):
    return (value,) * rank if isinstance(value, int) else tuple(value)


def window_padding(n, size, stride, padding):
    """(before, after, windows) along an axis of n elements for windows that span `size`."""
    if padding == "valid":
        return 0, 0, max((n - size) // stride + 1, 0)
    if padding == "causal":
        return size - 1, 0, (n - 1) // stride + 1
    windows = -(-n // stride)
    total = max((windows - 1) * stride + size - n, 0)
    return total // 2, total - total // 2, windows


def windows_of(x, size, strides, padding, dilation, fill=0.0):
    """((output position), (samples, window.., channels)) of channels_last data."""
    rank = x.ndim - 2
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    plans = [window_padding(x.shape[i + 1], spans[i], strides[i], padding) for i in range(rank)]
    x = pad_spatial(x, [p[:2] for p in plans], "channels_last", fill)
    for position in itertools.product(*[range(p[2]) for p in plans]):
        cut = [slice(p * s, p * s + n, d) for p, s, n, d in zip(position, strides, spans, dilation)]
        yield position, x[(slice(None), *cut)]


def output_sizes(x, size, strides, padding, dilation):
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    return [
        window_padding(x.shape[i + 1], spans[i], strides[i], padding)[2] for i in range(x.ndim - 2)
    ]


def conv(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A sum of products per output position and filter; any number of spatial axes."""
    rank = kernel.ndim - 2
    strides, dilation = per_axis(strides, rank), per_axis(dilation_rate, rank)
    x = to_channels_last(x, data_format)
    size = kernel.shape[:rank]
    sizes = output_sizes(x, size, strides, padding, dilation)
    y = np.zeros((x.shape[0], *sizes, kernel.shape[-1]))
    for position, window in windows_of(x, size, strides, padding, dilation):
        y[(slice(None), *position)] = np.tensordot(window, kernel, rank + 1)
    return from_channels_last(y, data_format)


def conv_transpose(
    x, kernel, output_shape, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    """Every element of x adds the kernel, times itself, to the window of the result that it comes from."""
    rank = kernel.ndim - 2
    strides, dilation = per_axis(strides, rank), per_axis(dilation_rate, rank)
    x = to_channels_last(x, data_format)
    shape = list(output_shape)
    if data_format == "channels_first":
        shape = [shape[0], *shape[2:], shape[1]]
    shape[0] = x.shape[0]
    size = kernel.shape[:rank]
    spans = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    plans = [window_padding(shape[i + 1], spans[i], strides[i], padding) for i in range(rank)]
    padded = np.zeros([shape[0], *(n + p[0] + p[1] for n, p in zip(shape[1:-1], plans)), shape[-1]])
    for position in np.ndindex(*x.shape[1:-1]):
        cut = [slice(p * s, p * s + n, d) for p, s, n, d in zip(position, strides, spans, dilation)]
        at = x[(slice(None), *position)]
        padded[(slice(None), *cut)] += np.moveaxis(np.tensordot(kernel, at, (-1, 1)), -1, 0)
    inner = [slice(p[0], p[0] + n) for n, p in zip(shape[1:-1], plans)]
    return from_channels_last(padded[(slice(None), *inner)], data_format)


def depthwise_conv(
    x, depthwise_kernel, strides=1, padding="valid", data_format=None, dilation_rate=1
):
    """Each channel by itself; its results lie side by side."""
    x = to_channels_last(x, data_format)
    parts = []
    for c in range(x.shape[-1]):
        kernel = depthwise_kernel[..., c : c + 1, :]
        parts.append(conv(x[..., c : c + 1], kernel, strides, padding, None, dilation_rate))
    return from_channels_last(np.concatenate(parts, -1), data_format)


def separable_conv(
    x,
    depthwise_kernel,
    pointwise_kernel,
    strides=1,
    padding="valid",
    data_format=None,
    dilation_rate=1,
):
    y = depthwise_conv(x, depthwise_kernel, strides, padding, data_format, dilation_rate)
    mixed = to_channels_last(y, data_format) @ pointwise_kernel.reshape(pointwise_kernel.shape[-2:])
    return from_channels_last(mixed, data_format)


def local_conv(inputs, kernel, kernel_size, strides, output_shape=None, data_format=None):
    """Another kernel at each position; a window is flattened as it lies in memory."""
    rank = len(kernel_size)
    first = data_format == "channels_first" and rank > 1
    x = inputs if first else np.moveaxis(inputs, -1, 1)
    sizes = output_shape or (kernel.shape[0],)
    y = np.zeros((x.shape[0], kernel.shape[-1], *sizes))
    for number, position in enumerate(np.ndindex(*sizes)):
        cut = [slice(p * s, p * s + k) for p, s, k in zip(position, strides, kernel_size)]
        window = x[(slice(None), slice(None), *cut)]
        window = window if first else np.moveaxis(window, 1, -1)
        y[(slice(None), slice(None), *position)] = (
            window.reshape(len(x), kernel.shape[1]) @ kernel[number]
        )
    return y if first else np.moveaxis(y, 1, -1)


def pool(x, pool_size, strides=None, padding="valid", data_format=None, pool_mode="max"):
    """Largest or mean of each window; what is padded counts in neither."""
    rank = len(pool_size)
    strides = per_axis(strides or 1, rank)
    x = to_channels_last(x, data_format)
    ones = (1,) * rank
    y = np.zeros((x.shape[0], *output_sizes(x, pool_size, strides, padding, ones), x.shape[-1]))
    reduce = np.nanmax if pool_mode == "max" else np.nanmean
    for position, window in windows_of(x, pool_size, strides, padding, ones, np.nan):
        y[(slice(None), *position)] = reduce(window, axis=tuple(range(1, rank + 1)))
    return from_channels_last(y, data_format)


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    axes = tuple(reduction_axes)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) / np.sqrt(var + epsilon)
    y = y if gamma is None else y * np.reshape(gamma, mean.shape)
    y = y if beta is None else y + np.reshape(beta, mean.shape)
    return y, np.squeeze(mean, axes), np.squeeze(var, axes)


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    def along(t):
        if np.ndim(t) != 1:
            return t
        shape = [1] * x.ndim
        shape[axis] = -1
        return t.reshape(shape)

    y = (x - along(mean)) / np.sqrt(along(var) + epsilon)
    y = y if gamma is None else y * along(gamma)
    return y if beta is None else y + along(beta)


def l2_normalize(x, axis=None):
    axis = tuple(axis) if isinstance(axis, (list, tuple)) else axis
    return x / np.sqrt(np.maximum(np.sum(x * x, axis=axis, keepdims=True), 1e-12))


EPSILON = 1e-7


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    if from_logits:
        return -np.sum(target * log_softmax(output, axis), axis)
    p = output / output.sum(axis, keepdims=True)
    return -np.sum(target * np.log(np.clip(p, EPSILON, 1 - EPSILON)), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    logits = output if from_logits else np.log(np.clip(output, EPSILON, 1 - EPSILON))
    rows = np.moveaxis(log_softmax(logits, axis), axis, -1)
    shape = rows.shape[:-1]
    picked = [row[int(t)] for row, t in zip(rows.reshape(-1, rows.shape[-1]), target.ravel())]
    return -np.array(picked, "float64").reshape(shape)


def binary_crossentropy(target, output, from_logits=False):
    if from_logits:
        return target * softplus(-output) + (1 - target) * softplus(output)
    p = np.clip(output, EPSILON, 1 - EPSILON)
    return -(target * np.log(p + EPSILON) + (1 - target) * np.log(1 - p + EPSILON))


def bias_add(x, bias, data_format=None):
    first = data_format == "channels_first" and 3 <= x.ndim <= 5
    if not first:
        return x + bias
    shape = (bias.shape[-1], *bias.shape[:-1]) if bias.ndim > 1 else (-1,) + (1,) * (x.ndim - 2)
    return x + bias.reshape(shape)


def rnn(step, inputs, states, go_backwards=False, mask=None):
    """(last output, outputs, states): sample by sample nothing changes where the mask is 0."""
    outputs, last = [], None
    times = range(inputs.shape[1])
    for t in reversed(times) if go_backwards else times:
        output, new_states = step(inputs[:, t], states)
        if mask is not None:
            on = mask.reshape(mask.shape[:2])[:, t].astype(bool)
            last = np.zeros_like(output) if last is None else last
            output = np.array([o if m else old for o, old, m in zip(output, last, on)])
            new_states = [
                np.array([n if m else o for n, o, m in zip(new, old, on)])
                for new, old in zip(new_states, states)
            ]
        last, states = output, new_states
        outputs.append(output)
    return last, np.stack(outputs, 1), states


def ctc_paths(time, labels, blank):
    """All paths of categories that collapse to the labels."""
    for path in itertools.product(range(blank + 1), repeat=time):
        merged = [c for c, _ in itertools.groupby(path)]
        if [c for c in merged if c != blank] == list(labels):
            yield path


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """-log of the summed probability of all paths; probabilities are normalised once more."""
    losses = []
    for labels, p, time, n in zip(y_true, y_pred, input_length.ravel(), label_length.ravel()):
        p = (p + EPSILON) / (p + EPSILON).sum(-1, keepdims=True)
        paths = ctc_paths(int(time), labels[: int(n)].astype(int), p.shape[1] - 1)
        total = sum(np.prod([p[t, c] for t, c in enumerate(path)]) for path in paths)
        losses.append([-np.log(total) if total > 0 else np.inf])
    return np.array(losses)


def ctc_greedy(y_pred, input_length):
    """(labels padded with -1, minus the sum of the largest logits)."""
    rows, scores = [], []
    for p, time in zip(y_pred, input_length.ravel()):
        logits = np.log(p[: int(time)] + EPSILON)
        best = [c for c, _ in itertools.groupby(logits.argmax(-1))]
        rows.append([c for c in best if c != p.shape[-1] - 1])
        scores.append([-logits.max(-1).sum()])
    return padded(rows), np.array(scores)


def ctc_best(y_pred, input_length, top_paths):
    """(the likeliest label sequences of each sample, their log probabilities), of all there are."""
    found = []
    for p, time in zip(y_pred, input_length.ravel()):
        p = (p + EPSILON) / (p + EPSILON).sum(-1, keepdims=True)
        blank, totals = p.shape[1] - 1, {}
        for path in itertools.product(range(blank + 1), repeat=int(time)):
            labels = tuple(c for c, _ in itertools.groupby(path) if c != blank)
            totals[labels] = totals.get(labels, 0) + np.prod([p[t, c] for t, c in enumerate(path)])
        found.append(sorted(totals.items(), key=lambda item: -item[1])[:top_paths])
    decoded = [padded([sample[k][0] for sample in found]) for k in range(top_paths)]
    return decoded, np.log([[probability for _, probability in sample] for sample in found])


def padded(rows):
    """Rows of unequal lengths as one int64 array, filled up with -1."""
    width = max(map(len, rows), default=0)
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows], "int64").reshape(
        len(rows), width
    )
