"""Every workload of workloads.md on Horngate, through its Python module.

What a program feeds in is a placeholder with an open first dimension; what it would keep as weights
(kernels, biases) is a variable, as in Keras.
"""

import os
import sys
from pathlib import Path

from common import main, np, workload
from data import MANY, OPERANDS, ctc_data, net_data
from nets import Weights, chain

os.environ.setdefault("HORNGATE_QUIET", "1")
os.environ.setdefault("HORNGATE_NO_CONFIG_WRITE", "1")
os.environ["KERAS_BACKEND"] = "horngate"  # the native engine, whatever keras.json says
os.environ.setdefault("KERAS_HOME", str(Path(__file__).resolve().parents[2] / "build" / "keras"))
try:
    import horngate as K
except ImportError:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build" / "python"))
    import horngate as K

np.random.seed(0)  # seeds of random functions are drawn from it
CPU = "cpu"
LAST = "channels_last"


def run(make, *arrays):
    """One K.function of what `make` makes of placeholders for the arrays."""
    inputs = [
        K.placeholder(shape=(None, *a.shape[1:]) if a.ndim else (), dtype=str(a.dtype))
        for a in arrays
    ]
    outputs = make(*inputs)
    function = K.function(inputs, outputs if isinstance(outputs, (list, tuple)) else [outputs])
    feeds = list(arrays)
    return lambda: function(feeds)


def add(name, make):
    """A workload whose operands are all fed."""
    workload(name, CPU)(lambda _: run(make, *OPERANDS[name]()))


def add_with_weights(name, make):
    """A workload whose first operand is fed; the others are variables."""

    @workload(name, CPU)
    def _(_):
        x, *weights = OPERANDS[name]()
        variables = [K.variable(w) for w in weights]
        return run(lambda x: make(x, *variables), x)


# ---- calls, element-wise, reductions -------------------------------------------------------------


def elementwise(x):
    return K.sigmoid(1.1 * x + 0.3) * K.tanh(x) + K.exp(-x * x)


def mean_crossentropy(x, y):
    """From logits, labels as integers."""
    return K.mean(K.sparse_categorical_crossentropy(y, x, from_logits=True))


add("call_add1", lambda x: x + 1.0)
add("call_add1_np", lambda x: x + 1.0)  # K.function takes and gives NumPy: the same
add("call_chain100_s", chain)
add("call_chain100_v1000", chain)
for _size in ("10M", "1M", "1k"):
    add(f"elem_{_size}", elementwise)
add("softmax", K.softmax)
add("lsm_sce", mean_crossentropy)
add("argmax", lambda x: K.argmax(x, axis=-1))
for _axis in (0, 1):
    for _f in (K.sum, K.mean, K.var):
        add(f"{_f.__name__}_ax{_axis}", lambda x, f=_f, axis=_axis: f(x, axis=axis))

# ---- products, convolutions ----------------------------------------------------------------------

for _n in (128, 512, 1024, 2048):
    add(f"matmul_{_n}", K.dot)
add("batch_dot", lambda a, b: K.batch_dot(a, b, axes=(2, 1)))


def dense(x, w, b):
    return K.bias_add(K.dot(x, w), b)


def conv(x, w, stride=1, padding="same"):
    return K.conv2d(x, w, strides=(stride, stride), padding=padding, data_format=LAST)


def pool(x, mode):
    return K.pool2d(x, (2, 2), strides=(2, 2), pool_mode=mode, data_format=LAST)


def batch_norm(x, gamma, beta):
    return K.normalize_batch_in_training(x, gamma, beta, [0, 1, 2], epsilon=1e-3)


def transposed(x, w):
    shape = (K.shape(x)[0], 56, 56, 32)
    return K.conv2d_transpose(x, w, shape, strides=(2, 2), padding="same", data_format=LAST)


add_with_weights("dense_relu", lambda x, w, b: K.relu(dense(x, w, b)))
add_with_weights("conv3x3_nhwc", conv)
add_with_weights(
    "conv3x3_nchw", lambda x, w: K.conv2d(x, w, padding="same", data_format="channels_first")
)
add_with_weights("conv1x1_nhwc", conv)
add_with_weights("conv7x7s2_nhwc", lambda x, w: conv(x, w, 2))
add_with_weights(
    "depthwise3x3_nhwc",
    lambda x, w: K.depthwise_conv2d(x, w, padding="same", data_format=LAST),
)
add_with_weights("conv1d", lambda x, w: K.conv1d(x, w, padding="same", data_format=LAST))
add_with_weights("conv3d", lambda x, w: K.conv3d(x, w, padding="same", data_format=LAST))
add_with_weights("conv2d_transpose", transposed)
add_with_weights("conv3x3_grad", lambda x, w: K.gradients(K.sum(K.square(conv(x, w))), [x, w]))
add("maxpool2x2", lambda x: pool(x, "max"))
add("avgpool2x2", lambda x: pool(x, "avg"))
add_with_weights("bn_train", batch_norm)

# ---- nets: each gives its weights, the function of its input, and updates of moving averages ------


WEIGHTS = Weights(K.variable)


def mlp():
    p = WEIGHTS.mlp()

    def net(x):
        x = K.relu(dense(x, p[0], p[1]))
        return dense(K.relu(dense(x, p[2], p[3])), p[4], p[5])

    return p, net, []


def cnn():
    p = WEIGHTS.cnn()

    def net(x):
        x = K.relu(K.bias_add(conv(x, p[0], padding="valid"), p[1], LAST))
        x = K.relu(K.bias_add(conv(x, p[2], padding="valid"), p[3], LAST))
        x = K.batch_flatten(pool(x, "max"))
        return dense(K.relu(dense(x, p[4], p[5])), p[6], p[7])

    return p, net, []


def resnet20(training=True):
    weights, updates = [], []

    def layer(w, gamma, beta):
        weights.extend([w, gamma, beta])
        mean, var = K.zeros(K.int_shape(beta)), K.ones(K.int_shape(beta))

        def apply(x, stride=1):
            x = conv(x, w, stride)
            if not training:
                return K.batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3)
            y, m, v = batch_norm(x, gamma, beta)
            updates.append(K.moving_average_update(mean, m, 0.99))
            updates.append(K.moving_average_update(var, v, 0.99))
            return y

        return apply

    stem, blocks, (head, bias) = WEIGHTS.resnet20(layer)
    weights += [short for *_, short in blocks if short is not None] + [head, bias]

    def net(x):
        x = K.relu(stem(x))
        for stride, first, second, short in blocks:
            y = second(K.relu(first(x, stride)))
            x = K.relu(y + (x if short is None else conv(x, short, stride)))
        return dense(K.mean(x, axis=[1, 2]), head, bias)

    return weights, net, updates


def lstm():
    wx, wh, b, wo, bo = WEIGHTS.lstm()

    def step(x, states):
        h, c = states
        z = K.bias_add(K.dot(x, wx) + K.dot(h, wh), b)
        i, f, g, o = (z[:, 128 * k : 128 * (k + 1)] for k in range(4))
        c = K.sigmoid(f) * c + K.sigmoid(i) * K.tanh(g)
        h = K.sigmoid(o) * K.tanh(c)
        return h, [h, c]

    def net(x):
        start = K.tile(K.sum(K.zeros_like(x), axis=(1, 2))[:, None], (1, 128))
        h, _, _ = K.rnn(step, x, [start, start], input_length=100)
        return dense(h, wo, bo)

    return [wx, wh, b, wo, bo], net, []


def layer_norm(x, gamma, beta):
    mean, var = K.mean(x, -1, keepdims=True), K.var(x, -1, keepdims=True)
    return (x - mean) / K.sqrt(var + 1e-5) * gamma + beta


def transformer_block(d=256, heads=4):
    p = WEIGHTS.transformer_block(d)

    def net(x):
        t = K.int_shape(x)[1]
        qkv = K.reshape(dense(layer_norm(x, p[8], p[9]), p[0], p[1]), (-1, t, 3, heads, d // heads))
        qkv = K.permute_dimensions(qkv, (2, 0, 3, 1, 4))
        q, k, v = (K.reshape(qkv[i], (-1, t, d // heads)) for i in range(3))
        a = K.batch_dot(K.softmax(K.batch_dot(q, k, axes=(2, 2)) / 8.0), v, axes=(2, 1))
        a = K.permute_dimensions(K.reshape(a, (-1, heads, t, d // heads)), (0, 2, 1, 3))
        x = x + dense(K.reshape(a, (-1, t, d)), p[2], p[3])
        h = K.relu(dense(layer_norm(x, p[10], p[11]), p[4], p[5]))
        return x + dense(h, p[6], p[7])

    return p, net, []


def sgd(weights, grads, rate=0.01):
    return [K.update_sub(w, rate * g) for w, g in zip(weights, grads)]


def adam(weights, grads, rate=1e-3, b1=0.9, b2=0.999, epsilon=1e-7):
    steps = K.variable(0.0)
    t = steps + 1.0
    rate = rate * (K.sqrt(1.0 - K.pow(K.constant(b2), t)) / (1.0 - K.pow(K.constant(b1), t)))
    updates = [K.update_add(steps, 1.0)]
    for w, g in zip(weights, grads):
        m, v = K.zeros(K.int_shape(w)), K.zeros(K.int_shape(w))
        m_new = b1 * m + (1.0 - b1) * g
        v_new = b2 * v + (1.0 - b2) * K.square(g)
        updates += [K.update(m, m_new), K.update(v, v_new)]
        updates.append(K.update(w, w - rate * m_new / (K.sqrt(v_new) + epsilon)))
    return updates


def add_training(name, model, optimizer=adam, loss=mean_crossentropy):
    @workload(name, CPU)
    def _(_):
        feeds = list(net_data(name))
        weights, net, updates = model()
        x, y = (K.placeholder(shape=(None, *a.shape[1:]), dtype=str(a.dtype)) for a in feeds)
        total = loss(net(x), y)
        updates = updates + optimizer(weights, K.gradients(total, weights))
        function = K.function([x, y], [total], updates=updates)
        return lambda: function(feeds)


add_training("mlp_sgd", mlp, sgd)
add_training("mlp_adam", mlp)
add_training("cnn_adam", cnn)
add_training("lstm_train", lstm)
add_training("resnet20_train", resnet20)
add_training("tblock_train", transformer_block, loss=lambda a, b: K.mean(K.square(a - b)))


def add_inference(name, model):
    workload(name, CPU)(lambda _: run(model()[1], net_data(name)[0]))


add_inference("cnn_inf_b1", cnn)
add_inference("cnn_inf_b128", cnn)
add_inference("resnet20_inf_b1", lambda: resnet20(training=False))
add_inference("lstm_inf_b1", lstm)

# ---- random, CTC ---------------------------------------------------------------------------------

workload("rand_uniform", CPU)(lambda _: run(lambda: K.random_uniform((MANY,))))
workload("rand_normal", CPU)(lambda _: run(lambda: K.random_normal((MANY,))))
workload("rand_truncnormal", CPU)(lambda _: run(lambda: K.truncated_normal((MANY,))))
add("dropout_mask", lambda x: K.dropout(x, 0.5))


def add_ctc(name, make):
    """make(probabilities, labels, lengths of both)."""
    workload(name, CPU)(lambda _: run(make, *ctc_data()))


def decode(p, n, **options):
    sequences, scores = K.ctc_decode(p, K.reshape(n, (-1,)), **options)
    return [*sequences, scores]


add_ctc("ctc_cost", lambda p, y, n, m: K.ctc_batch_cost(y, p, n, m))
add_ctc("ctc_grad", lambda p, y, n, m: K.gradients(K.sum(K.ctc_batch_cost(y, p, n, m)), [p]))
add_ctc("ctc_decode_greedy", lambda p, y, n, m: decode(p, n, greedy=True))
add_ctc("ctc_decode_beam100", lambda p, y, n, m: decode(p, n, greedy=False, beam_width=100))

# ---- large nets ----------------------------------------------------------------------------------

import horngate_nets  # noqa: E402, F401  (after the environment is set)

if __name__ == "__main__":
    main()
