"""Connectionist temporal classification; the blank is the last category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from horngate import _horngate as _hg

if TYPE_CHECKING:
    from horngate.typing import Tensor, TensorLike


def ctc_label_dense_to_sparse(labels: TensorLike, label_lengths: TensorLike) -> Tensor:
    """Makes a sparse tensor of label rows.

    Args:
        labels: tensor (samples, longest).
        label_lengths: tensor (samples,), how many of each row count.

    Returns:
        Sparse tensor (samples, longest).

    Example:
        >>> labels, lengths = K.constant([[1, 2, 9], [3, 9, 9]]), K.constant([2, 1])
        >>> K.eval(K.ctc_label_dense_to_sparse(labels, lengths))
        array([[1., 2., 0.],
               [3., 0., 0.]], dtype=float32)
    """
    return _hg.ctc_label_dense_to_sparse(labels, label_lengths)


def ctc_batch_cost(
    y_true: TensorLike, y_pred: TensorLike, input_length: TensorLike, label_length: TensorLike
) -> Tensor:
    """CTC loss of each sample.

    Args:
        y_true: tensor (samples, labels) of class numbers.
        y_pred: tensor (samples, time, categories) of probabilities.
        input_length: tensor (samples, 1), used steps of y_pred.
        label_length: tensor (samples, 1), used labels of y_true.

    Returns:
        Tensor (samples, 1).

    Example:
        >>> y_pred = K.softmax(K.zeros((1, 4, 3)))
        >>> lengths = K.constant([[4]]), K.constant([[2]])
        >>> loss = K.ctc_batch_cost(K.constant([[0, 1]]), y_pred, *lengths)
        >>> K.int_shape(loss)
        (1, 1)
    """
    return _hg.ctc_batch_cost(y_true, y_pred, input_length, label_length)


def ctc_decode(
    y_pred: TensorLike,
    input_length: TensorLike,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = False,
) -> tuple[list[Tensor], Tensor]:
    """Finds the likeliest sequences of labels.

    Args:
        y_pred: tensor (samples, time, categories) of probabilities.
        input_length: tensor (samples,), used steps.
        greedy: best category of each step; else a beam search.
        beam_width: width of the beam search.
        top_paths: how many sequences the beam search gives.
        merge_repeated: whether the beam search makes one of equal neighbours of a result.

    Returns:
        (list of tensors, filled up with -1; log probabilities).

    Example:
        >>> y_pred = K.constant([[[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]])
        >>> [decoded], log_probability = K.ctc_decode(y_pred, K.constant([3]))
        >>> K.eval(decoded)
        array([[0, 1]])
    """
    return _hg.ctc_decode(y_pred, input_length, greedy, beam_width, top_paths, merge_repeated)
