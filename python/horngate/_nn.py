"""Activations, losses, dropout, bias and normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg
from horngate._random import _own_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from horngate.typing import DataFormat, Shape, Tensor, TensorLike


def relu(
    x: TensorLike, alpha: float = 0.0, max_value: float | None = None, threshold: float = 0.0
) -> Tensor:
    """Rectified linear unit: x above the threshold, up to max_value; alpha * (x - threshold) below.

    Args:
        x: tensor.
        alpha: slope below the threshold.
        max_value: upper limit; None: none.
        threshold: values up to it do not pass.

    Example:
        >>> K.eval(K.relu(K.constant([-2., 3., 9.]), alpha=0.5, max_value=6))
        array([-1.,  3.,  6.], dtype=float32)
    """
    return _hg.relu(x, alpha, max_value, threshold)


def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """Exponential linear unit: x where it is positive, alpha * (exp(x) - 1) elsewhere.

    Args:
        x: tensor.
        alpha: scale of the negative side.

    Example:
        >>> K.eval(K.elu(K.constant([0., 3.])))
        array([0., 3.], dtype=float32)
    """
    return _hg.elu(x, alpha)


def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """Takes exponentials and scales them to sum to 1 along an axis.

    Args:
        x: tensor.
        axis: axis.

    Example:
        >>> K.eval(K.softmax(K.constant([[1., 1.]])))
        array([[0.5, 0.5]], dtype=float32)
    """
    return _hg.softmax(x, axis)


def softplus(x: TensorLike) -> Tensor:
    """Takes log(1 + exp(x)), without overflow.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.softplus(K.constant([100.])))
        array([100.], dtype=float32)
    """
    return _hg.softplus(x)


def softsign(x: TensorLike) -> Tensor:
    """Takes x / (1 + abs(x)).

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.softsign(K.constant([1., -3.])))
        array([ 0.5 , -0.75], dtype=float32)
    """
    return _hg.softsign(x)


def sigmoid(x: TensorLike) -> Tensor:
    """Takes 1 / (1 + exp(-x)).

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.sigmoid(K.constant([0.])))
        array([0.5], dtype=float32)
    """
    return _hg.sigmoid(x)


def hard_sigmoid(x: TensorLike) -> Tensor:
    """Takes 0.2 * x + 0.5, cut to [0, 1]: cheaper than `sigmoid`.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.hard_sigmoid(K.constant([-3., 0., 3.])))
        array([0. , 0.5, 1. ], dtype=float32)
    """
    return _hg.hard_sigmoid(x)


def tanh(x: TensorLike) -> Tensor:
    """Takes the hyperbolic tangent.

    Args:
        x: tensor.

    Example:
        >>> K.eval(K.tanh(K.constant([0.])))
        array([0.], dtype=float32)
    """
    return _hg.tanh(x)


def categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Cross-entropy of two distributions over classes; the axis of the classes is summed away.

    Args:
        target: tensor of probabilities.
        output: tensor of the same shape: probabilities, or logits.
        from_logits: whether output is what softmax would take.
        axis: the axis of the classes.

    Example:
        >>> loss = K.categorical_crossentropy(K.constant([[0., 1.]]), K.constant([[0.5, 0.5]]))
        >>> K.int_shape(loss)
        (1,)
    """
    return _hg.categorical_crossentropy(target, output, from_logits, axis)


def sparse_categorical_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Cross-entropy with class numbers as the target.

    Args:
        target: tensor of class numbers, one for each distribution.
        output: tensor of probabilities, or logits.
        from_logits: whether output is what softmax would take.
        axis: the axis of the classes.

    Example:
        >>> loss = K.sparse_categorical_crossentropy(K.constant([1]), K.constant([[0.5, 0.5]]))
        >>> K.int_shape(loss)
        (1,)
    """
    return _hg.sparse_categorical_crossentropy(target, output, from_logits, axis)


def binary_crossentropy(
    target: TensorLike, output: TensorLike, from_logits: bool = False
) -> Tensor:
    """Cross-entropy of two-class probabilities, element by element; nothing is summed.

    Args:
        target: tensor.
        output: tensor of the same shape: probabilities, or logits.
        from_logits: whether output is what sigmoid would take.

    Example:
        >>> K.int_shape(K.binary_crossentropy(K.constant([[1., 0.]]), K.constant([[0.9, 0.1]])))
        (1, 2)
    """
    return _hg.binary_crossentropy(target, output, from_logits)


def dropout(
    x: TensorLike, level: float, noise_shape: Shape | None = None, seed: int | None = None
) -> Tensor:
    """Zeroes entries at random and scales the others up, in both phases.

    Args:
        x: tensor.
        level: fraction of the entries to drop, in [0, 1).
        noise_shape: shape of the flags, which are repeated to the shape of x.
        seed: integer for repeatable numbers; None: one from numpy.random.

    Example:
        >>> K.int_shape(K.dropout(K.placeholder((None, 8)), 0.5, seed=1))
        (None, 8)
    """
    return _hg.dropout(x, level, noise_shape, _own_seed(seed))


def l2_normalize(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """Divides by the Euclidean norm.

    Args:
        x: tensor.
        axis: axis of the norm, or several; None: all elements.

    Example:
        >>> K.eval(K.l2_normalize(K.constant([[3., 4.]]), axis=1))
        array([[0.6, 0.8]], dtype=float32)
    """
    return _hg.l2_normalize(x, axis)


def in_top_k(predictions: TensorLike, targets: TensorLike, k: int) -> Tensor:
    """Tells for each row whether the target is among the k largest predictions.

    Args:
        predictions: tensor (samples, classes).
        targets: integer tensor (samples,).
        k: how many count.

    Example:
        >>> K.eval(K.in_top_k(K.constant([[0.1, 0.7, 0.2]]), K.constant([2], dtype="int32"), 2))
        array([ True])
    """
    return _hg.in_top_k(predictions, targets, k)


def bias_add(x: TensorLike, bias: TensorLike, data_format: DataFormat | None = None) -> Tensor:
    """Adds a bias.

    Args:
        x: tensor.
        bias: tensor (channels,), or of the shape of x without samples.
        data_format: "channels_last" or "channels_first"; None: image_data_format().

    Example:
        >>> K.eval(K.bias_add(K.constant([[1., 2.]]), K.constant([10., 20.])))
        array([[11., 22.]], dtype=float32)
    """
    return _hg.bias_add(x, bias, data_format)


def normalize_batch_in_training(
    x: TensorLike,
    gamma: TensorLike | None,
    beta: TensorLike | None,
    reduction_axes: Sequence[int],
    epsilon: float = 1e-3,
) -> tuple[Tensor, Tensor, Tensor]:
    """Normalises by the mean and variance of the batch.

    Args:
        x: tensor.
        gamma, beta: scale and offset, or None.
        reduction_axes: axes over which mean and variance are taken.
        epsilon: small number that is added to the variance.

    Returns:
        (normalised tensor, mean, variance).

    Example:
        >>> x = K.constant([[1.], [3.]])
        >>> y, mean, variance = K.normalize_batch_in_training(x, None, None, [0])
        >>> K.eval(mean), K.eval(variance)
        (array([2.], dtype=float32), array([1.], dtype=float32))
    """
    return _hg.normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    var: TensorLike,
    beta: TensorLike | None,
    gamma: TensorLike | None,
    axis: int = -1,
    epsilon: float = 1e-3,
) -> Tensor:
    """Normalises with given statistics: (x - mean) / sqrt(var + epsilon) * gamma + beta.

    Args:
        x: tensor.
        mean, var: statistics, along `axis` when they have one dimension.
        beta, gamma: offset and scale, or None.
        axis: the axis of one-dimensional statistics.
        epsilon: small number that is added to the variance.

    Example:
        >>> x, mean, var = K.constant([[1.], [3.]]), K.constant([2.]), K.constant([1.])
        >>> K.eval(K.batch_normalization(x, mean, var, None, None, epsilon=0))
        array([[-1.],
               [ 1.]], dtype=float32)
    """
    return _hg.batch_normalization(x, mean, var, beta, gamma, axis, epsilon)
