"""Random models of Keras, the same for the same seed: graphs of layers with several inputs and outputs, shared layers, models
inside of models, masks, states, and how they are compiled.
"""

import draws_recurrent
import keras_cases  # noqa: F401  (Keras on our backend)
import numpy as np
from draws_spatial import Draw
from keras import backend as K
from keras.engine import get_source_inputs
from keras import constraints, layers, losses, metrics, models, optimizers, regularizers

UNITS = ("SimpleRNN", "GRU", "LSTM")
BATCH = 4
REFUSALS = (ValueError, TypeError, IndexError, AttributeError, NotImplementedError, RuntimeError)
# No random numbers while it trains.
QUIET = {"dropout": 0.0, "recurrent_dropout": 0.0}


def shape_of(x):
    return K.int_shape(x)[1:]


def is_masked(x):
    layer, node, index = x._keras_history
    return layer._inbound_nodes[node].output_masks[index] is not None


def listed(x):
    return list(x) if isinstance(x, (list, tuple)) else [x]


class Graph(Draw):
    """Tensors of layers, to which random layers are added."""

    def __init__(self, rng, stateful=False, depth=0):
        self.rng, self.stateful, self.depth = rng, stateful, depth
        self.inputs, self.words = [], {}  # words: how many, of the inputs that are numbers of words
        self.pool, self.used, self.calls = [], set(), set()
        self.shared = []  # layers with the shapes that they take
        self.frozen = []  # models that do not train as a whole, which files do not tell
        self.refused = 0
        self.names = 0

    # As draws_recurrent spells it.
    def of(self, choices):
        return self.pick(*choices)

    def flag(self, chance=0.5):
        return self.chance(chance)

    def input(self, shape=None, words=False):
        if shape is None:
            kinds = [(5,), (4, 3), (4, 3), (5, 4, 2), (3, 4, 4, 2)]
            shape = self.pick(*kinds)
            words = self.chance(0.25)
        if words:
            shape = (4,)
        name = self.name("in")
        if self.stateful:
            x = layers.Input(batch_shape=(BATCH, *shape), name=name)
        else:
            x = layers.Input(shape=shape, name=name)
        self.inputs.append(x)
        if words:
            count = self.size(4, 9)
            self.words[id(x)] = count
            layer = layers.Embedding(
                count,
                3,
                mask_zero=self.chance(),
                embeddings_regularizer=self.pick(None, "l2"),
                embeddings_constraint=self.pick(None, None, "max_norm"),
            )
            x = layer(x)
        self.pool.append(x)
        return x

    def name(self, prefix):
        """A name or none; some that only look like paths."""
        self.names += 1
        if self.chance(0.7):
            return None
        odd = self.pick("_", "_", "_", "/", ".", " ")
        return f"{prefix}{odd}{self.depth}_{self.names}_{self.size(0, 999)}"

    def common(self, prefix):
        options = {}
        if name := self.name(prefix):
            options["name"] = name
        if self.chance(0.12):
            options["trainable"] = False
        return options

    # ---- layers by the rank of what they take

    def dense(self, units=None):
        options = self.weights_options(["kernel"])
        if options.get("activation") == "softmax":
            options["activation"] = "tanh"
        return layers.Dense(units or self.size(2, 5), **options, **self.common("dense"))

    def pointwise(self, rank):
        """Of any rank, the shape stays."""
        axes = list(range(1, rank - 1)) if rank > 2 and self.chance() else None
        return self.pick(
            lambda: layers.Activation(
                self.pick("relu", "tanh", "sigmoid", "elu", "selu", "softsign")
            ),
            lambda: layers.BatchNormalization(
                axis=self.pick(-1, rank - 1),
                momentum=self.pick(0.9, 0.5),
                center=self.chance(0.8),
                scale=self.chance(0.8),
                gamma_regularizer=self.pick(None, "l2"),
                beta_constraint=self.pick(None, "non_neg"),
                **self.common("norm"),
            ),
            lambda: layers.Dropout(0.0),
            lambda: layers.LeakyReLU(self.pick(0.1, 0.3)),
            lambda: layers.PReLU(alpha_regularizer=self.pick(None, "l1"), shared_axes=axes),
            lambda: layers.ELU(0.7),
            lambda: layers.ThresholdedReLU(0.2),
            lambda: layers.ReLU(max_value=self.pick(None, 1.5), negative_slope=0.1),
            lambda: layers.Softmax(),
            lambda: layers.ActivityRegularization(0.01, 0.02),
            lambda: layers.GaussianNoise(0.0),
            lambda: layers.GaussianDropout(0.0),
            lambda: layers.AlphaDropout(0.0),
        )()

    def cell_options(self, kind, units):
        options = {**draws_recurrent.cell_options(self, kind), **QUIET, "units": units}
        if options["activation"] in ("relu", "linear", None, "elu"):
            options["activation"] = "tanh"  # else numbers grow
        return options

    def recurrent(self, stateful=None, units=None):
        kind = self.pick(*UNITS)
        options = self.cell_options(kind, units or self.size(2, 4))
        stateful = self.stateful and self.chance(0.7) if stateful is None else stateful
        return getattr(layers, kind)(
            **options,
            **draws_recurrent.layer_flags(self),
            stateful=stateful,
            unroll=self.chance(0.2),
            activity_regularizer=self.pick(None, None, None, None, "l2"),
            **self.common("rnn"),
        )

    def cells(self):
        made = []
        for _ in range(self.size(1, 3)):
            kind = self.pick(*UNITS)
            options = self.cell_options(kind, self.size(2, 4))
            made.append(getattr(layers, kind + "Cell")(**options))
        cell = made if self.chance(0.7) else layers.StackedRNNCells(made)
        return layers.RNN(
            cell if self.chance(0.8) or len(made) > 1 else made[0],
            **draws_recurrent.layer_flags(self),
            stateful=self.stateful and self.chance(),
            **self.common("cells"),
        )

    def bidirectional(self):
        layer = self.recurrent(stateful=False)  # Keras forgets such states while it predicts
        if layer.return_state and self.chance(0.7):
            layer.return_state = False
        mode = self.pick("concat", "sum", "mul", "ave", None)
        return layers.Bidirectional(layer, merge_mode=mode, **self.common("both"))

    def sequence_layer(self, shape):
        options = self.weights_options(["kernel"])
        if options.get("activation") == "softmax":
            options["activation"] = None
        return self.pick(
            self.recurrent,
            self.recurrent,
            self.bidirectional,
            self.cells,
            lambda: layers.Masking(0.0),
            lambda: layers.TimeDistributed(self.dense(), **self.common("each")),
            lambda: layers.TimeDistributed(self.pointwise(2)),
            lambda: layers.TimeDistributed(self.inner([shape[1:]], outputs=1)),
            self.dense,
            lambda: layers.Conv1D(
                3, 2, padding=self.pick("same", "valid", "causal"), **options, **self.common("conv")
            ),
            lambda: layers.LocallyConnected1D(2, 2, **self.common("local")),
            lambda: layers.SeparableConv1D(3, 2, padding="same", depth_multiplier=self.size(1, 2)),
            lambda: layers.MaxPooling1D(2),
            lambda: layers.AveragePooling1D(2, padding="same"),
            layers.GlobalMaxPooling1D,
            layers.GlobalAveragePooling1D,
            layers.Flatten,
            lambda: layers.Permute((2, 1)),
            lambda: layers.Cropping1D((1, 0)),
            lambda: layers.ZeroPadding1D((0, 1)),
            lambda: layers.UpSampling1D(2),
            lambda: layers.SpatialDropout1D(0.0),
            lambda: self.pointwise(3),
        )()

    def image_layer(self, shape):
        options = self.weights_options(["kernel"])
        if options.get("activation") == "softmax":
            options["activation"] = None
        return self.pick(
            lambda: layers.Conv2D(
                3,
                2,
                strides=self.size(1, 2),
                padding=self.pick("same", "valid"),
                **options,
                **self.common("conv"),
            ),
            lambda: layers.SeparableConv2D(3, 2, padding="same", depth_multiplier=self.size(1, 2)),
            lambda: layers.DepthwiseConv2D(2, **self.common("depth")),
            lambda: layers.Conv2DTranspose(2, 2, strides=self.size(1, 2)),
            lambda: layers.LocallyConnected2D(2, 2, **self.common("local")),
            lambda: layers.MaxPooling2D(2),
            lambda: layers.AveragePooling2D(2, padding="same"),
            layers.GlobalMaxPooling2D,
            layers.GlobalAveragePooling2D,
            layers.Flatten,
            lambda: layers.Reshape((shape[0], shape[1] * shape[2])),
            lambda: layers.Cropping2D(((1, 0), (0, 1))),
            lambda: layers.ZeroPadding2D(1),
            lambda: layers.UpSampling2D(2),
            lambda: layers.SpatialDropout2D(0.0),
            lambda: layers.TimeDistributed(self.dense()),
            lambda: layers.TimeDistributed(layers.LSTM(3, return_sequences=self.chance())),
            lambda: self.pointwise(4),
        )()

    def video_layer(self, shape):
        return self.pick(
            lambda: layers.ConvLSTM2D(
                2,
                2,
                padding="same",
                return_sequences=self.chance(),
                go_backwards=self.chance(),
                stateful=self.stateful and self.chance(),
                kernel_regularizer=self.pick(None, "l2"),
            ),
            lambda: layers.TimeDistributed(layers.Conv2D(2, 2, **self.common("frames"))),
            lambda: layers.TimeDistributed(layers.GlobalMaxPooling2D()),
            lambda: layers.TimeDistributed(self.inner([shape[1:]], outputs=1)),
            lambda: layers.Conv3D(2, 2, padding="same"),
            lambda: layers.MaxPooling3D((1, 2, 2)),
            layers.GlobalAveragePooling3D,
            lambda: layers.TimeDistributed(layers.Flatten()),
        )()

    def layer_for(self, shape):
        if np.prod(shape) > 120:  # smaller again
            if len(shape) == 1:
                return self.dense(3)
            return self.pick(
                layers.Flatten,
                [layers.GlobalMaxPooling1D, layers.GlobalMaxPooling2D, layers.GlobalMaxPooling3D][
                    len(shape) - 2
                ],
            )()
        if len(shape) == 1:
            return self.pick(
                self.dense,
                self.dense,
                lambda: self.pointwise(2),
                lambda: layers.RepeatVector(self.size(2, 3)),
                lambda: layers.Reshape((shape[0], 1)),
            )()
        return [self.sequence_layer, self.image_layer, self.video_layer][len(shape) - 2](shape)

    # ---- models inside

    def inner(self, shapes, outputs=None):
        """A model that takes these shapes."""
        graph = Graph(self.rng, stateful=self.stateful and self.chance(), depth=self.depth + 1)
        for shape in shapes:
            graph.input(shape)
        if len(shapes) == 1 and self.chance(0.4):
            model = graph.row(shapes[0], self.name("row"))
        else:
            for _ in range(self.size(1, 4)):
                graph.step()
            model = graph.finished(outputs or self.size(1, 2), self.name("model"))
        if self.chance(0.25):
            for layer in model.layers[:: self.size(1, 2)]:
                # That a model is frozen as a whole is not in files.
                if not isinstance(getattr(layer, "layer", layer), models.Model):
                    layer.trainable = False
        return model

    def row(self, shape, name):
        """A Sequential."""
        model = models.Sequential(name=name)
        batch = BATCH if self.stateful else None
        first = layers.Activation("linear", batch_input_shape=(batch, *shape))
        if self.depth < 2 and self.chance(0.3):
            first = self.inner([shape], outputs=1)
        model.add(first)
        for _ in range(self.size(1, 3)):
            now = model.output_shape[1:]
            layer = self.layer_for(now)
            if getattr(layer, "return_state", False) or getattr(layer, "merge_mode", "") is None:
                continue
            try:
                model.add(layer)
            except REFUSALS:
                self.refused += 1
        return model

    # ---- growing

    def take(self, rank=None):
        """One of the tensors, rather a new one."""
        there = [x for x in self.pool if rank is None or len(shape_of(x)) == rank]
        if not there:
            return None
        return there[-1] if self.chance(0.4) else self.pick(*there)

    def keep(self, layer, x):
        """Calls the layer, if Keras does."""
        given = listed(x)
        if any(is_masked(t) for t in given) and not layer.supports_masking:
            return None
        # To find the mask, Keras runs such a model once more, so that averages of normalisations move twice.
        inside = getattr(layer, "layer", None)
        if isinstance(inside, models.Model) and is_masked(given[0]):
            return None
        # Keras counts activity losses of two calls on the same tensor twice, until the model is loaded.
        call = (id(layer), *(id(t) for t in given))
        if call in self.calls:
            return None
        self.calls.add(call)
        options = {}
        if isinstance(layer, layers.BatchNormalization) and self.chance(0.2):
            options["training"] = self.chance()
        made = listed(layer(x, **options))
        if any(None in shape_of(t) or 0 in shape_of(t) for t in made):
            return None
        self.used.update(id(t) for t in given)
        self.pool += made
        self.shared.append((layer, [shape_of(t) for t in given]))
        return made

    def merged(self):
        a = self.take()
        shape = shape_of(a)
        same = [x for x in self.pool if shape_of(x) == shape]
        if len(same) < 2 or self.chance(0.3):
            units = shape[-1]
            other = self.take(len(shape))
            if shape_of(other)[:-1] != shape[:-1]:
                return
            made = self.keep(self.dense(units), other)
            if not made:
                return
            same = [a, made[0]]
        b = self.pick(*same)
        kind = self.pick(
            layers.Add,
            layers.Subtract,
            layers.Multiply,
            layers.Average,
            layers.Maximum,
            layers.Minimum,
            layers.Concatenate,
            lambda: layers.Concatenate(axis=self.size(1, len(shape))),
            lambda: layers.Dot(axes=self.pick(-1, len(shape)), normalize=self.chance()),
        )
        self.keep(kind(), [a, b])

    def again(self):
        """A layer that is there, on something else."""
        fits = []
        for layer, shapes in self.shared:
            found = [[x for x in self.pool if shape_of(x) == shape] for shape in shapes]
            if layer.weights and all(found) and not getattr(layer, "stateful", False):
                fits.append((layer, found))
        if not fits:
            return
        layer, found = self.pick(*fits)
        given = [self.pick(*each) for each in found]
        self.keep(layer, given if len(given) > 1 else given[0])

    def nested(self):
        given = [self.take() for _ in range(self.size(1, 2))]
        model = self.inner([shape_of(x) for x in given])
        if (
            self.keep(model, given if len(given) > 1 else given[0])
            and self.depth == 0
            and self.chance(0.1)
        ):
            model.trainable = False
            self.frozen.append(model)

    def decoder(self):
        """A recurrent layer that begins where another one stopped."""
        x = self.take(2)
        if x is None:
            return
        kind, units = self.pick("GRU", "LSTM", "SimpleRNN"), self.size(2, 3)
        options = self.cell_options(kind, units)
        made = self.keep(
            getattr(layers, kind)(**options, return_state=True, return_sequences=True), x
        )
        if not made:
            return
        target = self.take(2)
        layer = getattr(layers, kind)(**options, return_sequences=self.chance())
        if is_masked(target) and not layer.supports_masking:
            return
        self.pool += listed(layer(target, initial_state=made[1:]))

    def step(self):
        try:
            self.grow()
        except REFUSALS:
            self.refused += 1  # whatever Keras does not do

    def grow(self):
        kind = self.rng.random()
        if kind < 0.12 and self.depth < 2:
            return self.nested()
        if kind < 0.24:
            return self.merged()
        if kind < 0.34:
            return self.again()
        if kind < 0.38:
            return self.decoder()
        x = self.take()
        self.keep(self.layer_for(shape_of(x)), x)

    def finished(self, count, name):
        ends = [x for x in self.pool if id(x) not in self.used] or self.pool[-1:]
        ends = ends[-count:]
        made = [e for e in ends if not any(e is x for x in self.inputs)]
        if not made:
            made = [layers.Activation("tanh")(ends[-1])]
        return self.model(made, name)

    def model(self, outputs, name=None):
        """Keras does not write down inputs that nothing uses."""
        needed = {id(x) for y in outputs for x in get_source_inputs(y)}
        if len(needed) < len(self.inputs):
            if self.depth > 0:
                raise ValueError("an input that nothing uses")
            self.inputs = [x for x in self.inputs if id(x) in needed]
        first = self.inputs if len(self.inputs) > 1 else self.inputs[0]
        return models.Model(first, outputs if len(outputs) > 1 else outputs[0], name=name)


def whole(graph):
    """A model with heads, and what kind of numbers each output gives."""
    if graph.chance(0.2):
        x = graph.input(graph.pick((5,), (4, 3), (5, 4, 2)))
        model = graph.row(shape_of(x), None)
        graph.inputs = listed(model.input)
        return model, ["bare"]
    for _ in range(graph.size(1, 2)):
        graph.input()
    for _ in range(graph.size(2, 9)):
        graph.step()
    ends = [x for x in graph.pool if id(x) not in graph.used] or graph.pool[-1:]
    ends = ends[-graph.size(1, 3) :]
    outputs, kinds = [], []
    for x in ends:
        kind = graph.pick("softmax", "sigmoid", "linear", "bare")
        if kind == "bare" and any(x is i for i in graph.inputs):
            kind = "linear"
        if kind != "bare":
            head = layers.Dense(
                graph.size(2, 4) if kind == "softmax" else graph.size(1, 2),
                activation=kind,
                kernel_regularizer=graph.pick(None, regularizers.l1_l2(0.01, 0.02)),
                kernel_constraint=graph.pick(None, constraints.MinMaxNorm(0.2, 1.5)),
                **graph.common("head"),
            )
            x = head(x)
        outputs.append(x)
        kinds.append(kind)
    model = graph.model(outputs)
    graph.frozen = [m for m in graph.frozen if m in model.layers]
    return model, kinds


# ---- how it is compiled

LOSSES = {
    "softmax": [
        "categorical_crossentropy",
        "sparse_categorical_crossentropy",
        "kullback_leibler_divergence",
        "categorical_hinge",
        lambda: losses.CategoricalCrossentropy(label_smoothing=0.1),
        lambda: losses.SparseCategoricalCrossentropy(),
        lambda: losses.KLDivergence(),
        losses.categorical_crossentropy,
    ],
    "sigmoid": [
        "binary_crossentropy",
        "poisson",
        "squared_hinge",
        "hinge",
        "msle",
        lambda: losses.BinaryCrossentropy(label_smoothing=0.2),
        lambda: losses.BinaryCrossentropy(from_logits=True),
        lambda: losses.MeanSquaredLogarithmicError(),
    ],
    "linear": [
        "mse",
        "mae",
        "mean_squared_error",
        "logcosh",
        "huber_loss",
        "cosine_similarity",
        "cosine_proximity",
        lambda: losses.Huber(delta=0.3),
        lambda: losses.MeanSquaredError(reduction="sum"),
        lambda: losses.LogCosh(),
        losses.mean_absolute_error,
    ],
}
METRICS = {
    "softmax": [
        "accuracy",
        "categorical_accuracy",
        "top_k_categorical_accuracy",
        "categorical_crossentropy",
        lambda: metrics.TopKCategoricalAccuracy(k=2, name="best"),
        lambda: metrics.KLDivergence(),
        lambda: metrics.CategoricalHinge(name="own_name"),
    ],
    "sparse": ["accuracy", "sparse_categorical_accuracy", "sparse_categorical_crossentropy"],
    "sigmoid": [
        "accuracy",
        "binary_accuracy",
        "mse",
        "hinge",
        lambda: metrics.AUC(num_thresholds=20),
        lambda: metrics.Precision(),
        lambda: metrics.Recall(thresholds=[0.3]),
        lambda: metrics.FalsePositives(),
        lambda: metrics.BinaryAccuracy(threshold=0.4, name="binary"),
        lambda: metrics.SensitivityAtSpecificity(0.5, num_thresholds=20),
    ],
    "linear": [
        "mae",
        "mse",
        "mape",
        "cosine_similarity",
        "acc",
        "logcosh",
        lambda: metrics.RootMeanSquaredError(),
        lambda: metrics.MeanAbsoluteError(name="far"),
        lambda: metrics.CosineSimilarity(name="angle"),
        lambda: metrics.LogCoshError(name="cosh"),
    ],
}


def optimizer(d):
    options = {}
    if d.chance(0.3):
        options[d.pick("clipnorm", "clipvalue")] = d.pick(0.1, 0.5, 1.0)
    decay = {"decay": d.pick(0.0, 0.0, 0.1)}
    momentum = {"momentum": d.pick(0.0, 0.9), "nesterov": d.chance()}
    amsgrad = d.chance()
    # Else slopes that are rounding alone become steps: those of a bias before a normalisation.
    scaled = {} if K.floatx() == "float64" else {"epsilon": 1e-3}
    return d.pick(
        lambda: optimizers.SGD(0.01, **momentum, **decay, **options),
        lambda: optimizers.RMSprop(0.01, rho=0.8, **scaled, **decay, **options),
        lambda: optimizers.Adagrad(0.01, **scaled, **decay, **options),
        lambda: optimizers.Adadelta(1.0, **scaled, **decay, **options),
        lambda: optimizers.Adam(0.01, amsgrad=amsgrad, **scaled, **decay, **options),
        lambda: optimizers.Adamax(0.01, **scaled, **decay, **options),
        lambda: optimizers.Nadam(0.01, **scaled, **options),
    )()


def made(choice):
    return choice() if getattr(choice, "__name__", "") == "<lambda>" else choice


def is_sparse(loss):
    return "sparse" in str(loss).lower()


def compiled(d, model, kinds):
    """Compiles the model; targets fit what is returned: a kind for each output, "" without a loss."""
    kinds = ["linear" if k == "bare" else k for k in kinds]
    names, ranks = model.output_names, [K.ndim(y) for y in model.outputs]
    each = []
    for kind, y in zip(kinds, model.outputs):
        choice = made(d.pick(*LOSSES[kind]))
        # Of one number the slope of an angle is rounding alone, which some optimizers make large.
        each.append("mse" if "cosine" in str(choice) and shape_of(y)[-1] == 1 else choice)
    wanted = ["sparse" if is_sparse(loss) else k for loss, k in zip(each, kinds)]
    of_metrics, weighted = [], []
    for kind, rank in zip(wanted, ranks):
        there = METRICS[kind]
        if rank > 2:
            there = [m for m in there if isinstance(m, str) and "top_k" not in m]
        order = [made(there[i]) for i in d.rng.permutation(len(there))]
        of_metrics.append(order[: d.size(0, 2)])
        weighted.append(order[-1:] if d.chance(0.3) else [])
    unique = len(set(names)) == len(names)
    options = {}
    if len(names) == 1:
        options = {"loss": each[0], "metrics": of_metrics[0], "weighted_metrics": weighted[0]}
        if d.chance(0.2):
            options["loss_weights"] = d.pick([0.5], {names[0]: 2.0}) if unique else [0.5]
    elif d.chance() and unique:
        options = {
            "loss": dict(zip(names, each)),
            "metrics": dict(zip(names, of_metrics)),
            "weighted_metrics": dict(zip(names, weighted)),
            "loss_weights": {n: d.pick(0.5, 2, 1.0) for n in names},
        }
        if d.chance(0.15):  # an output that nothing trains
            del options["loss"][names[-1]]
            wanted[-1] = ""
    else:
        options = {"loss": each, "metrics": of_metrics, "weighted_metrics": weighted}
        if d.chance():
            options["loss_weights"] = [d.pick(0.5, 2, 1.0) for _ in names]
    if not any(weighted) and d.chance():
        del options["weighted_metrics"]
    modes = ["temporal" if r >= 3 and d.chance() else None for r in ranks]
    if any(modes):
        options["sample_weight_mode"] = modes if len(modes) > 1 else modes[0]
    for choices in ("loss", "metrics", "weighted_metrics"):
        if not options.get(choices):
            options.pop(choices, None)
    model.compile(optimizer(d), **options)
    return wanted, modes


def targets(d, model, wanted, count):
    dtype = K.floatx()
    result = []
    for y, kind in zip(model.outputs, wanted):
        shape = (count, *shape_of(y))
        if kind in ("softmax", "sparse"):
            labels = d.rng.integers(0, shape[-1], shape[:-1])
            y = np.eye(shape[-1])[labels] if kind == "softmax" else labels[..., None]
            result.append(y.astype(dtype))
        elif kind:
            y = d.rng.random(shape) if kind == "sigmoid" else d.rng.normal(size=shape)
            result.append((np.round(y) if kind == "sigmoid" else y).astype(dtype))
    return result


def sample_weights(d, ys, wanted, modes):
    modes = [m for m, kind in zip(modes, wanted) if kind]
    return [
        d.rng.random(y.shape[: 2 if mode else 1]).astype(K.floatx()) * d.pick(1, 2)
        for y, mode in zip(ys, modes)
    ]


def feeds(d, graph, count):
    result = []
    for x in graph.inputs:
        shape = (count, *shape_of(x))
        if id(x) in graph.words:
            values = d.rng.integers(0, graph.words[id(x)], shape)
            values[:, 0] = 1  # at least one that is not masked
        else:
            values = d.rng.normal(size=shape)
            if len(shape) == 3:
                values[:, 1:][d.rng.random((count, shape[1] - 1)) < 0.2] = (
                    0  # Masking leaves them out
                )
        result.append(values.astype(K.floatx()))
    return result
