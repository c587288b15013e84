"""Metrics of Keras 2.3 that ask TensorFlow to compute them: top_k of Precision and Recall, MeanIoU."""

import numpy as np

from horngate.keras_compat._items import Overlay, item


def _top_k_mask(x, k):
    """1 at the k largest along the last axis, of equal ones the first, and 0 elsewhere."""
    import horngate as K

    size = K.int_shape(x)[-1]
    if size is not None and k > size:
        raise ValueError(f"top_k: must be at most the number of classes, {size}; got {k}.")
    positions = K.arange(K.shape(x)[-1] if size is None else size, dtype="int64")
    left, mask = x, K.zeros_like(x)
    for _ in range(k):
        largest = K.expand_dims(K.cast(K.argmax(left, axis=-1), "int64"), -1)
        found = K.equal(positions, largest)
        mask = mask + K.cast(found, K.dtype(x))
        left = K.switch(found, K.zeros_like(x) - float("inf"), left)
    return mask


@item(
    "top_k",
    "`Precision` and `Recall` with `top_k` refuse a backend that is not called tensorflow, and have"
    " TensorFlow find the largest predictions. Here K does.",
    "keras.utils.metrics_utils",
    "keras.metrics",
)
def metrics_of_the_largest(module):
    if hasattr(module, "filter_top_k"):

        def filter_top_k(x, k):
            mask = _top_k_mask(x, k)
            return x * mask + module.NEG_INF * (1 - mask)

        module.filter_top_k = filter_top_k
    elif hasattr(module, "Precision"):
        # The name is asked for nothing else there once the module is loaded.
        module.K = Overlay(module.K, backend=lambda: "tensorflow")


def _mean_iou(metrics):
    """The class, over the Metric and K of that Keras."""
    K, broadcast_weights = metrics.K, metrics.losses_utils.broadcast_weights

    class MeanIoU(metrics.Metric):
        """Mean over the classes of intersection / union of what is and what was predicted.

        Labels and predictions are numbers of classes; a class that neither holds does not count. A
        number outside of [0, num_classes), unless its weight is 0, makes the result NaN.
        """

        def __init__(self, num_classes, name=None, dtype=None):
            super().__init__(name=name, dtype=dtype)
            self.num_classes = num_classes
            self.total_cm = self.add_weight(
                "total_confusion_matrix", shape=(num_classes, num_classes), initializer="zeros"
            )

        def update_state(self, y_true, y_pred, sample_weight=None):
            labels, predictions = K.cast(y_true, "int64"), K.cast(y_pred, "int64")
            if sample_weight is None:
                weights = K.ones_like(predictions, dtype=self.dtype)
            else:
                weights = broadcast_weights(predictions, K.cast(sample_weight, self.dtype))
                weights = weights * K.ones_like(predictions, dtype=self.dtype)
            rows, columns = self._one_hot(labels), self._one_hot(predictions)
            weights = K.reshape(weights, (-1, 1))
            seen = K.dot(K.transpose(rows * weights), columns)
            # What no class holds is not in the matrix; its weight is missing from the sum.
            inside = K.sum(rows, axis=-1, keepdims=True) * K.sum(columns, axis=-1, keepdims=True)
            strange = K.any(K.not_equal(weights * (1 - inside), 0))
            seen = K.switch(strange, K.zeros_like(seen) + float("nan"), seen)
            return [K.update_add(self.total_cm, seen)]

        def _one_hot(self, numbers):
            return K.cast(K.one_hot(K.flatten(numbers), self.num_classes), self.dtype)

        def result(self):
            both = K.sum(self.total_cm * K.eye(self.num_classes, dtype=self.dtype), axis=0)
            either = K.sum(self.total_cm, axis=0) + K.sum(self.total_cm, axis=1) - both
            is_there = K.cast(K.not_equal(either, 0), self.dtype)
            shares = both / (either + 1 - is_there)
            return K.sum(shares) / K.maximum(K.sum(is_there), 1)

        def reset_states(self):
            K.set_value(self.total_cm, np.zeros((self.num_classes, self.num_classes)))

        def get_config(self):
            return {**super().get_config(), "num_classes": self.num_classes}

    MeanIoU.__module__, MeanIoU.__qualname__ = metrics.__name__, "MeanIoU"
    return MeanIoU


@item(
    "MeanIoU",
    "Keras 2.3 takes the class from TensorFlow 2, and refuses it to backends of another name. Here it"
    " is computed by K; a class number outside of the range makes it NaN, where TensorFlow raises.",
    "keras.metrics",
)
def mean_iou(metrics):
    if hasattr(metrics, "MeanIoU"):
        metrics.MeanIoU = _mean_iou(metrics)
