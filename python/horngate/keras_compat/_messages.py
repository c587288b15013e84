"""What Keras says, or does not say, of programs that are wrong. docs/wrong_programs.md shows it."""

import functools
import warnings

import numpy as np

from horngate.keras_compat._items import item


def _fits(shape, wanted):
    """Whether an array of that shape goes where None stands for any size."""
    return len(shape) == len(wanted) and all(w in (None, s) for s, w in zip(shape, wanted))


def _arrays(data, names):
    """What the user gave for each name, as far as that is plain."""
    if isinstance(data, dict):
        return [data.get(name) for name in names]
    if isinstance(data, (list, tuple)) and len(data) == len(names):
        return data
    return [data] if len(names) == 1 else []


def _is_sample(data, names, shapes):
    arrays = _arrays(data, names)
    return any(
        wanted and not _fits(np.shape(array), wanted) and _fits(np.shape(array), wanted[1:])
        for array, wanted in zip(arrays, shapes)
        if hasattr(array, "shape")
    )


@item(
    "batch axis",
    "Where an input of a model is of the shape of one sample, Keras tells numbers of dimensions, or that of an array that"
    " it made. The error goes on with the question whether the batch axis was forgotten, and the remedy.",
    "keras.engine.training",
)
def forgotten_batch_axis(training):
    model = getattr(training, "Model", None)
    own = getattr(model, "_standardize_user_data", None)
    if own is None:
        return

    @functools.wraps(own)
    def _standardize_user_data(self, x, *args, **options):
        try:
            return own(self, x, *args, **options)
        except ValueError as error:
            known = [getattr(self, f"_feed_input_{name}", None) for name in ("names", "shapes")]
            is_input = str(error).startswith("Error when checking input")
            if not is_input or not all(known) or not _is_sample(x, *known):
                raise
            raise ValueError(
                f"{error}. Did you forget the batch dimension? One sample is a batch of one: x[None]."
            ) from None

    model._standardize_user_data = _standardize_user_data


def _check_classes(model, targets, sparse):
    known = [
        getattr(model, f"_feed_{name}", ())
        for name in ("loss_fns", "output_shapes", "output_names")
    ]
    for target, loss, shape, name in zip(targets, *known):
        options = getattr(loss, "_fn_kwargs", {})
        classes = shape[-1] if shape else None
        is_sparse = getattr(loss, "fn", loss) is sparse and options.get("axis", -1) == -1
        if not is_sparse or classes is None or not isinstance(target, np.ndarray):
            continue  # a tensor has no value yet
        if not target.size or target.dtype.kind not in "iuf":
            continue
        for label in (target.min(), target.max()):
            if label < 0 or label >= classes:  # both are false of NaN
                raise ValueError(
                    f"sparse_categorical_crossentropy: labels must be in [0, {classes}) for output"
                    f' "{name}" of shape {tuple(shape)}; got {label:.12g}. Number the classes from 0, or'
                    " give the output one unit for each."
                )


@item(
    "class numbers",
    "Labels for `sparse_categorical_crossentropy` that the output has no unit for make the loss NaN, where"
    " TensorFlow raises on CPUs. `fit` and `evaluate` look at the labels before, `train_on_batch` and `test_on_batch` when"
    " the loss is NaN, and raise.",
    "keras.engine.training",
)
def classes_in_range(training):
    losses, model = (getattr(training, name, None) for name in ("losses", "Model"))
    sparse = getattr(losses, "sparse_categorical_crossentropy", None)
    standardize = getattr(model, "_standardize_user_data", None)
    if sparse is None or standardize is None:
        return

    @functools.wraps(standardize)
    def _standardize_user_data(self, *args, **options):
        data = standardize(self, *args, **options)
        if options.get("batch_size") is not None:  # all data at once, not a batch of them
            _check_classes(self, data[1] or (), sparse)
        return data

    def checked(own):
        @functools.wraps(own)
        def on_batch(self, x, y, *args, **options):
            losses = own(self, x, y, *args, **options)
            loss = losses[0] if isinstance(losses, list) else losses
            if loss != loss:
                _check_classes(self, standardize(self, x, y)[1] or (), sparse)
            return losses

        return on_batch

    model._standardize_user_data = _standardize_user_data
    model.train_on_batch = checked(model.train_on_batch)
    model.test_on_batch = checked(model.test_on_batch)


def _outside(outputs):
    """The first tensor on the way from the inputs that no layer made, and the layer that takes it or None."""
    seen, left = set(), [(tensor, None) for tensor in reversed(outputs)]
    while left:
        tensor, taker = left.pop()
        if not hasattr(tensor, "_keras_history"):
            return tensor, taker
        layer, index, _ = tensor._keras_history
        node = layer._inbound_nodes[index]
        if id(node) not in seen:
            seen.add(id(node))
            before = node.input_tensors if node.inbound_layers else ()
            left += [(tensor, layer) for tensor in reversed(before)]
    return None


@item(
    "tensors outside of layers",
    "A model may not hold what K functions made between its layers. Keras's error is `'NoneType' object has no"
    " attribute '_inbound_nodes'`, or tells the tensor alone; it goes on with tensor, shape, the layer that takes it, and the"
    " remedy.",
    "keras.engine.network",
)
def named_outsiders(network):
    own = network.Network._init_graph_network

    @functools.wraps(own)
    def _init_graph_network(self, inputs, outputs, *args, **options):
        try:
            return own(self, inputs, outputs, *args, **options)
        except (AttributeError, ValueError) as error:
            text = str(error)
            if "'_inbound_nodes'" not in text and not text.startswith("Output tensors to a"):
                raise
            found = _outside(outputs if isinstance(outputs, (list, tuple)) else [outputs])
            if not found or not hasattr(found[0], "name"):
                raise
            tensor, taker = found
            if taker:
                text += f': the tensor "{tensor.name}" of shape {tuple(tensor.shape)}, that "{taker.name}" takes'
            raise type(error)(
                f"{text}, comes from no layer. Put the K functions that make it into one: Lambda(lambda t: ..)(x)."
            ) from None

    network.Network._init_graph_network = _init_graph_network


@item(
    "wrong Lambda shapes",
    "Keras believes the `output_shape` of a `Lambda` layer, and later layers have weights for it. Where the function gives"
    " another shape, a warning says both.",
    "keras.layers.core",
)
def told_shapes(core):
    own = core.Lambda.__call__  # that of all layers

    @functools.wraps(own)
    def __call__(self, *args, **options):
        made = own(self, *args, **options)
        for tensor in made if isinstance(made, (list, tuple)) else [made]:
            told = getattr(tensor, "_keras_shape", None)
            real = getattr(tensor, "shape", None)
            if told is None or real is None or _agree(tuple(told), tuple(real)):
                continue
            warnings.warn(
                f'Lambda: output_shape of "{self.name}" must be that of what its function gives, {tuple(real)};'
                f" got {tuple(told)}. Leave it out.",
                stacklevel=2,
            )
        return made

    core.Lambda.__call__ = __call__


def _agree(told, real):
    """Whether two shapes can be one, where None is a size that is not known."""
    return len(told) == len(real) and all(None in (a, b) or a == b for a, b in zip(told, real))
