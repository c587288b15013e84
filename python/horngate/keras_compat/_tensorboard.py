"""The TensorBoard callback, without TensorFlow."""

import inspect
import warnings

import numpy as np

from horngate.keras_compat import _events
from horngate.keras_compat._items import item


def _warn_of(**asked):
    for name, value in asked.items():
        if value:
            warnings.warn(
                f"TensorBoard: {name}={value!r} needs TensorFlow; it is left out.", stacklevel=3
            )


def _init_as(original):
    """Takes arguments by position in the order of the edition; those that came later by name."""
    names = [*inspect.signature(original).parameters][1:]

    def __init__(self, *args, **options):
        if len(args) > len(names):
            raise TypeError(
                f"TensorBoard: takes {len(names)} arguments by position; got {len(args)}."
            )
        _init(self, **dict(zip(names, args)), **options)

    return __init__


def _init(
    self,
    log_dir="./logs",
    histogram_freq=0,
    batch_size=32,
    write_graph=True,
    write_grads=False,
    write_images=False,
    embeddings_freq=0,
    embeddings_layer_names=None,
    embeddings_metadata=None,
    embeddings_data=None,
    update_freq="epoch",
):
    _warn_of(write_images=write_images, embeddings_freq=embeddings_freq)
    is_count = isinstance(update_freq, (int, np.integer)) and update_freq > 0
    if update_freq not in ("epoch", "batch") and not is_count:
        raise ValueError(
            'TensorBoard: update_freq must be "epoch", "batch" or a number of samples;'
            f" got {update_freq!r}."
        )
    super(self._keras_class, self).__init__()
    self.log_dir = log_dir
    self.histogram_freq = histogram_freq
    self.batch_size = batch_size
    self.write_graph = write_graph
    self.write_grads = write_grads
    self.write_images = False
    self.embeddings_freq = 0
    self.embeddings_layer_names = embeddings_layer_names
    self.embeddings_metadata = embeddings_metadata or {}
    self.embeddings_data = embeddings_data
    self.update_freq = 1 if update_freq == "batch" else update_freq
    self.samples_seen = 0
    self.samples_seen_at_last_write = 0
    self.merged = None
    self.writer = None


def _set_model(self, model):
    self.model = model
    self.merged = None
    if self.writer is not None:
        self.writer.close()
    self.writer = _events.Writer(self.log_dir)
    if self.write_graph:
        _write_graph(self.writer, model)


def _write_graph(writer, model):
    try:
        text = model.to_json()
    except Exception as e:  # noqa: BLE001  (layers of others may raise anything)
        warnings.warn(f"TensorBoard: no graph is written: {e}", stacklevel=2)
        return
    writer.add_summary(_events.keras_graph(text), 0)
    writer.flush()


def _watched(model, with_gradients):
    """Pairs (tag, variable), and pairs (tag, tensor) of what depends on data."""
    weights, tensors = [], []
    for layer in model.layers:
        for weight in layer.weights:
            tag = weight.name.replace(":", "_")
            weights.append((tag, weight))
            if with_gradients and any(weight is w for w in layer.trainable_weights):
                [gradient] = model.optimizer.get_gradients(model.total_loss, [weight])
                tensors.append((f"{tag}_grad", gradient))
        output = _output_of(layer)
        if isinstance(output, list):
            tensors += [(f"{layer.name}_out_{i}", x) for i, x in enumerate(output)]
        elif output is not None:
            tensors.append((f"{layer.name}_out", output))
    return weights, tensors


def _output_of(layer):
    """None if it is used several times; Keras 1.0 then raises a plain Exception."""
    try:
        return layer.output
    except Exception:  # noqa: BLE001
        return None


def _flat(values):
    """Without the lists that generators of Keras 1 leave among them."""
    parts = (_flat(v) if isinstance(v, list) else [v] for v in values)
    return [value for part in parts for value in part]


def _inner(model):
    """What trains: up to Keras 2.1 a Sequential keeps a model inside."""
    return vars(model).get("model") or model


def _feeds(model):
    if hasattr(model, "_feed_targets"):
        return model._feed_inputs + model._feed_targets + model._feed_sample_weights
    return model.inputs + model.targets + model.sample_weights  # Keras 1


class _Histograms:
    """Histograms of weights, and of outputs and gradients on the validation data."""

    def __init__(self, model, with_gradients):
        import horngate as K

        self._weights, self._tensors = _watched(model, with_gradients)
        inputs = _feeds(model)
        self._n_inputs = len(inputs)
        self._function = K.function(
            [*inputs, K.learning_phase()] if self._has_phase() else inputs,
            [tensor for _, tensor in self._tensors],
        )

    @staticmethod
    def _has_phase():
        import horngate as K

        return not isinstance(K.learning_phase(), int)

    def summary(self, data, batch_size):
        import horngate as K

        values = K.batch_get_value([weight for _, weight in self._weights])
        done = []
        for (tag, _), value in zip(self._weights, values):
            done.append(_events.Histogram(tag))
            done[-1].add(value)
        found = [_events.Histogram(tag) for tag, _ in self._tensors]
        data = _flat(data)[: self._n_inputs]  # the learning phase may follow
        phase = [0] if self._has_phase() else []
        for start in range(0, len(data[0]), batch_size):
            part = [array[start : start + batch_size] for array in data]
            for histogram, value in zip(found, self._function(part + phase)):
                histogram.add(value)
        return b"".join(histogram.value() for histogram in done + found)


def _on_epoch_end(self, epoch, logs=None):
    if self.histogram_freq and epoch % self.histogram_freq == 0:
        model = _inner(self.model)
        # Keras 1 keeps the data in the model, and goes on without histograms if there are none.
        is_first = not hasattr(self, "validation_data")
        data = getattr(model if is_first else self, "validation_data", None)
        if data:
            self.merged = self.merged or _Histograms(model, self.write_grads)
            self.writer.add_summary(self.merged.summary(data, self.batch_size), epoch)
        elif not is_first:
            raise ValueError(
                "TensorBoard: validation_data must be provided for histograms, and not by a generator."
            )
    self._write_logs(logs or {}, epoch if self.update_freq == "epoch" else self.samples_seen)


def _write_logs(self, logs, index):
    fields = [
        _events.scalar(name, np.asarray(value).item())
        for name, value in logs.items()
        if name not in ("batch", "size")
    ]
    self.writer.add_summary(b"".join(fields), index)
    self.writer.flush()


def _on_batch_end(self, batch, logs=None):
    if self.update_freq == "epoch":
        return
    self.samples_seen += logs["size"]
    if self.samples_seen - self.samples_seen_at_last_write >= self.update_freq:
        self._write_logs(logs, self.samples_seen)
        self.samples_seen_at_last_write = self.samples_seen


def _on_train_end(self, _=None):
    self.writer.close()


@item(
    "TensorBoard",
    "The callback imports TensorFlow 1. Here it writes event files by itself: scalars, histograms of"
    " weights, outputs and gradients, and the graph of layers. Images and embeddings need TensorFlow and"
    " are left out, with a warning.",
    "keras.callbacks.tensorboard_v1",
    "keras.callbacks",
)
def tensorboard(module):
    board = module.TensorBoard
    if board.__module__ != module.__name__:  # what Keras 2.3 hands on is that of tensorboard_v1
        return
    board._keras_class = board
    board.__init__ = _init_as(board.__init__)
    board.set_model = board._set_model = _set_model  # the latter in Keras 1.0 and 1.1
    board.on_epoch_end = _on_epoch_end
    board._write_logs = _write_logs
    board.on_batch_end = _on_batch_end
    board.on_train_end = _on_train_end
