"""TensorFlow: tf.function without XLA (graph) and with it (xla); tf_keras is in tf_keras_nets.py."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.update(TF_USE_LEGACY_KERAS="1", CUDA_VISIBLE_DEVICES="", KERAS_BACKEND="tensorflow")
from common import THREADS, main, np, workload  # noqa: E402  (before tensorflow sizes its pools)
from data import MANY, OPERANDS, ctc_data, net_data  # noqa: E402
from nets import Weights, chain  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(THREADS)
tf.config.threading.set_inter_op_parallelism_threads(THREADS)
tf.constant(0.0)  # starts its threads
GRAPH, XLA = "graph", "xla"
BOTH = (GRAPH, XLA)
relu, conv = tf.nn.relu, tf.nn.conv2d


def compiled(variant, f, **options):
    return tf.function(f, jit_compile=(variant == XLA), autograph=False, **options)


def run(variant, f, *arrays):
    g, operands = compiled(variant, f), [tf.constant(a) for a in arrays]
    return lambda: g(*operands)  # its CPU kernels are done when the call returns


def add(name, f, variants=BOTH):
    workload(name, *variants)(lambda variant: run(variant, f, *OPERANDS[name]()))


def elementwise(x):
    return tf.sigmoid(1.1 * x + 0.3) * tf.tanh(x) + tf.exp(-x * x)


add("call_add1", lambda x: x + 1.0)
add("call_chain100_s", chain)
add("call_chain100_v1000", chain)


@workload("call_add1_np", *BOTH)
def _(variant):
    signature = [tf.TensorSpec([1], tf.float32)]
    g, x = compiled(variant, lambda x: x + 1.0, input_signature=signature), np.ones(1, "f")
    return lambda: g(x).numpy()


for _size in ("10M", "1M", "1k"):
    add(f"elem_{_size}", elementwise)
add("softmax", lambda x: tf.nn.softmax(x))
add(
    "lsm_sce",
    lambda x, y: tf.reduce_mean(-tf.gather(tf.nn.log_softmax(x), y, batch_dims=1)),
)
add("argmax", lambda x: tf.argmax(x, -1))
for _axis in (0, 1):
    add(f"sum_ax{_axis}", lambda x, a=_axis: tf.reduce_sum(x, a))
    add(f"mean_ax{_axis}", lambda x, a=_axis: tf.reduce_mean(x, a))
    add(f"var_ax{_axis}", lambda x, a=_axis: tf.math.reduce_variance(x, a))
for _name in ("matmul_128", "matmul_512", "matmul_1024", "matmul_2048", "batch_dot"):
    add(_name, lambda a, b: a @ b)
add("dense_relu", lambda x, w, b: relu(x @ w + b))

add("conv3x3_nhwc", lambda x, w: conv(x, w, 1, "SAME"))
add("conv1x1_nhwc", lambda x, w: conv(x, w, 1, "SAME"))
add("conv7x7s2_nhwc", lambda x, w: conv(x, w, 2, "SAME"))
add("conv3x3_nchw", lambda x, w: conv(x, w, 1, "SAME", data_format="NCHW"))
add("depthwise3x3_nhwc", lambda x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"))
add("conv1d", lambda x, w: tf.nn.conv1d(x, w, 1, "SAME"))
add("conv3d", lambda x, w: tf.nn.conv3d(x, w, [1] * 5, "SAME"))
add(
    "conv2d_transpose",
    lambda x, w: tf.nn.conv2d_transpose(x, w, [32, 56, 56, 32], 2, "SAME"),
)
add(
    "conv3x3_grad",
    lambda x, w: tf.gradients(tf.reduce_sum(tf.square(conv(x, w, 1, "SAME"))), [x, w]),
)
add("maxpool2x2", lambda x: tf.nn.max_pool2d(x, 2, 2, "VALID"))
add("avgpool2x2", lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"))


def fused_batch_norm(x, gamma, beta, *moving):
    y, mean, var = tf.compat.v1.nn.fused_batch_norm(
        x, gamma, beta, *moving, epsilon=1e-3, is_training=not moving
    )[:3]
    return y, mean, var


def batch_norm(x, gamma, beta):
    """Written out, for XLA."""
    mean, var = tf.nn.moments(x, [0, 1, 2])
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, 1e-3), mean, var


add("bn_train", fused_batch_norm, (GRAPH,))
add("bn_train", batch_norm, (XLA,))

# ---- nets ----------------------------------------------------------------------------------------


WEIGHTS = Weights(tf.Variable)


def mlp():
    p = WEIGHTS.mlp()

    def net(x):
        x = relu(x @ p[0] + p[1])
        return relu(x @ p[2] + p[3]) @ p[4] + p[5]

    return p, net


def cnn():
    p = WEIGHTS.cnn()

    def net(x):
        x = relu(conv(x, p[0], 1, "VALID") + p[1])
        x = relu(conv(x, p[2], 1, "VALID") + p[3])
        x = tf.reshape(tf.nn.max_pool2d(x, 2, 2, "VALID"), [-1, 9216])
        return relu(x @ p[4] + p[5]) @ p[6] + p[7]

    return p, net


def resnet20(training=True):
    weights = []

    def layer(w, gamma, beta):
        weights.extend([w, gamma, beta])
        mean, var = WEIGHTS.zeros(*beta.shape), WEIGHTS.ones(*beta.shape)

        def apply(x, stride=1):
            x = conv(x, w, stride, "SAME")
            if not training:
                return fused_batch_norm(x, gamma, beta, mean, var)[0]
            y, m, v = fused_batch_norm(x, gamma, beta)
            mean.assign_sub(0.01 * (mean - m))
            var.assign_sub(0.01 * (var - v))
            return y

        return apply

    stem, blocks, (head, bias) = WEIGHTS.resnet20(layer)
    weights += [short for *_, short in blocks if short is not None] + [head, bias]

    def net(x):
        x = relu(stem(x))
        for stride, first, second, short in blocks:
            y = second(relu(first(x, stride)))
            x = relu(y + (x if short is None else conv(x, short, stride, "SAME")))
        return tf.reduce_mean(x, [1, 2]) @ head + bias

    return weights, net


def lstm():
    wx, wh, b, wo, bo = WEIGHTS.lstm()

    def net(x):
        n, steps = x.shape[:2]
        z = tf.reshape(tf.reshape(x, [-1, 64]) @ wx + b, [n, steps, 512])
        z = tf.TensorArray(tf.float32, steps, element_shape=[n, 512]).unstack(
            tf.transpose(z, [1, 0, 2])
        )

        def step(t, h, c):
            i, f, g, o = tf.split(z.read(t) + h @ wh, 4, -1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            return t + 1, tf.sigmoid(o) * tf.tanh(c), c

        start = (0, tf.zeros([n, 128]), tf.zeros([n, 128]))
        _, h, _ = tf.while_loop(lambda t, h, c: t < steps, step, start, maximum_iterations=steps)
        return h @ wo + bo

    return [wx, wh, b, wo, bo], net


def layer_norm(x, gamma, beta):
    mean, var = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(var + 1e-5) * gamma + beta


def transformer_block(d=256):
    p = WEIGHTS.transformer_block(d)

    def net(x):
        n, t, _ = x.shape

        def dense(x, w, b):
            return tf.reshape(x, [n * t, -1]) @ w + b

        qkv = tf.reshape(dense(layer_norm(x, p[8], p[9]), p[0], p[1]), [n, t, 3, 4, d // 4])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0) @ v
        a = dense(tf.transpose(a, [0, 2, 1, 3]), p[2], p[3])
        x = x + tf.reshape(a, [n, t, d])
        h = relu(dense(layer_norm(x, p[10], p[11]), p[4], p[5]))
        return x + tf.reshape(h @ p[6] + p[7], [n, t, d])

    return p, net


def crossentropy(logits, y):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses)


def sgd(weights):
    def update(grads):
        for w, g in zip(weights, grads):
            w.assign_sub(0.01 * g)

    return update


def adam(weights, b1=0.9, b2=0.999):
    moments = [(WEIGHTS.zeros(*w.shape), WEIGHTS.zeros(*w.shape)) for w in weights]
    steps = tf.Variable(0.0)

    def update(grads):
        steps.assign_add(1.0)
        fixed = {"lr": 1e-3, "beta1": b1, "beta2": b2, "epsilon": 1e-7}
        fixed |= {"beta1_power": tf.pow(b1, steps), "beta2_power": tf.pow(b2, steps)}
        for w, g, (m, v) in zip(weights, grads, moments):
            tf.raw_ops.ResourceApplyAdam(var=w.handle, m=m.handle, v=v.handle, grad=g, **fixed)

    return update


def add_training(name, model, optimizer=adam, loss=crossentropy):
    @workload(name, *BOTH)
    def _(variant):
        weights, net = model()
        update = optimizer(weights)
        x, y = (tf.constant(a) for a in net_data(name))

        def step(x, y):
            with tf.GradientTape() as tape:
                total = loss(net(x), y)
            update(tape.gradient(total, weights))
            return total

        g = compiled(variant, step)
        return lambda: g(x, y).numpy()


add_training("mlp_sgd", mlp, sgd)
add_training("mlp_adam", mlp)
add_training("cnn_adam", cnn)
add_training("lstm_train", lstm)
add_training("resnet20_train", resnet20)
add_training("tblock_train", transformer_block, loss=lambda a, b: tf.reduce_mean(tf.square(a - b)))


def add_inference(name, model):
    @workload(name, *BOTH)
    def _(variant):
        x = tf.constant(net_data(name)[0])
        g = compiled(variant, model()[1], input_signature=[tf.TensorSpec(x.shape, tf.float32)])
        return lambda: g(x).numpy()


add_inference("cnn_inf_b1", cnn)
add_inference("cnn_inf_b128", cnn)
add_inference("resnet20_inf_b1", lambda: resnet20(training=False))
add_inference("lstm_inf_b1", lstm)

# ---- random, CTC ---------------------------------------------------------------------------------

for _name, _f in (
    ("rand_uniform", tf.random.uniform),
    ("rand_normal", tf.random.normal),
    ("rand_truncnormal", tf.random.truncated_normal),
):
    workload(_name, *BOTH)(lambda variant, f=_f: run(variant, lambda: f([MANY])))
add("dropout_mask", lambda x: tf.nn.dropout(x, 0.5))


def add_ctc(name, f):
    """f(backend of tf_keras, probabilities, labels, lengths of both)."""

    @workload(name, GRAPH)
    def _(variant):
        from tf_keras import backend

        return run(variant, lambda *operands: f(backend, *operands), *ctc_data())


add_ctc("ctc_cost", lambda k, p, y, n, m: k.ctc_batch_cost(y, p, n, m))
add_ctc(
    "ctc_grad",
    lambda k, p, y, n, m: tf.gradients(tf.reduce_sum(k.ctc_batch_cost(y, p, n, m)), [p]),
)
add_ctc("ctc_decode_greedy", lambda k, p, y, n, m: k.ctc_decode(p, n[:, 0], greedy=True))
add_ctc(
    "ctc_decode_beam100",
    lambda k, p, y, n, m: k.ctc_decode(p, n[:, 0], greedy=False, beam_width=100),
)

import tf_keras_nets  # noqa: E402, F401  (registers its workloads)
import tf_nets  # noqa: E402, F401

if __name__ == "__main__":
    main()
