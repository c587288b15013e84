"""CuDNNLSTM and CuDNNGRU: the weights of cuDNN, computed as LSTM and GRU."""

from horngate.keras_compat._items import Overlay, item


def _as_columns(kernel, gates):
    """A kernel of LSTM or GRU. cuDNN keeps the matrix of each gate in the other order, a unit a row."""
    import horngate as K

    rows, columns = K.int_shape(kernel)
    units = columns // gates
    parts = (kernel[:, i * units : (i + 1) * units] for i in range(gates))
    return K.concatenate([K.transpose(K.reshape(part, (units, rows))) for part in parts], axis=-1)


def _add_weights(layer, input_dim, gates, bias_initializer):
    """The weights as cuDNN and Keras's files have them, with a bias for inputs and one for states."""

    def add(name, prefix, shape, initializer):
        return layer.add_weight(
            name=name,
            shape=shape,
            initializer=initializer,
            regularizer=getattr(layer, f"{prefix}_regularizer"),
            constraint=getattr(layer, f"{prefix}_constraint"),
        )

    units, columns = layer.units, gates * layer.units
    layer.kernel = add("kernel", "kernel", (input_dim, columns), layer.kernel_initializer)
    layer.recurrent_kernel = add(
        "recurrent_kernel", "recurrent", (units, columns), layer.recurrent_initializer
    )
    layer.bias = add("bias", "bias", (2 * columns,), bias_initializer)


def _lstm_bias_initializer(layer):
    """1 in the second of the biases of the forget gate, if so wanted."""
    import horngate as K
    from keras.initializers import Ones

    if not layer.unit_forget_bias:
        return layer.bias_initializer
    parts = ((layer.bias_initializer, 5), (Ones(), 1), (layer.bias_initializer, 2))

    def initializer(shape, *args, **options):
        return K.concatenate([make((n * layer.units,), *args, **options) for make, n in parts])

    return initializer


def _build_lstm(layer, input_dim):
    from keras.layers import LSTMCell

    _add_weights(layer, input_dim, 4, _lstm_bias_initializer(layer))
    cell = LSTMCell(layer.units, recurrent_activation="sigmoid", implementation=2, name="cell")
    cell.kernel = _as_columns(layer.kernel, 4)
    cell.recurrent_kernel = _as_columns(layer.recurrent_kernel, 4)
    cell.bias = layer.bias[: 4 * layer.units] + layer.bias[4 * layer.units :]
    return cell


class _GRUStep:
    """That of GRU(reset_after=True), which Keras has from 2.1.3 on: the reset gate comes after the product."""

    def __init__(self, layer):
        self._units = layer.units
        self._kernel = _as_columns(layer.kernel, 3)
        self._recurrent_kernel = _as_columns(layer.recurrent_kernel, 3)
        self._bias = layer.bias[: 3 * layer.units]
        self._recurrent_bias = layer.bias[3 * layer.units :]

    def call(self, inputs, states):
        import horngate as K

        n, [h] = self._units, states
        x = K.dot(inputs, self._kernel) + self._bias
        u = K.dot(h, self._recurrent_kernel) + self._recurrent_bias
        z = K.sigmoid(x[:, :n] + u[:, :n])
        r = K.sigmoid(x[:, n : 2 * n] + u[:, n : 2 * n])
        h = z * h + (1 - z) * K.tanh(x[:, 2 * n :] + r * u[:, 2 * n :])
        return h, [h]


def _build_gru(layer, input_dim):
    _add_weights(layer, input_dim, 3, layer.bias_initializer)
    return _GRUStep(layer)


def _process_batch(self, inputs, initial_state):
    import horngate as K

    last, outputs, states = K.rnn(self._step_cell.call, inputs, initial_state)
    return (outputs if self.return_sequences else last), states


@item(
    "CuDNN layers",
    "`CuDNNLSTM` and `CuDNNGRU` refuse a backend that is not called tensorflow, and want a GPU. Here they"
    " are computed as `LSTM` and `GRU(reset_after=True)` from weights in the order of cuDNN, so that files"
    " are as with TensorFlow.",
    "keras.layers.cudnn_recurrent",
)
def cudnn_layers(cudnn_recurrent):
    base = cudnn_recurrent._CuDNNRNN
    # Nothing but the constructor asks for the name.
    cudnn_recurrent.K = Overlay(cudnn_recurrent.K, backend=lambda: "tensorflow")

    def builder(build_cell):
        def build(self, input_shape):
            super(base, self).build(input_shape)
            shape = input_shape[0] if isinstance(input_shape, list) else input_shape
            # Past __setattr__: the cell is no layer of the model, it has no weights of its own.
            self.__dict__["_step_cell"] = build_cell(self, shape[-1])
            self.built = True

        return build

    lstm, gru = cudnn_recurrent.CuDNNLSTM, cudnn_recurrent.CuDNNGRU
    lstm.build, gru.build = builder(_build_lstm), builder(_build_gru)
    lstm._process_batch = gru._process_batch = _process_batch
