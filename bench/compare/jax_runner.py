"""JAX: everything under jit; a call waits until the result is ready."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"
from common import main, np, workload  # noqa: E402  (before jax sizes its pools)
from data import MANY, OPERANDS, ctc_data, net_data  # noqa: E402
from nets import Weights, chain  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

jax.devices()  # starts its threads
JIT = "jit"
relu = jax.nn.relu


def add(name, f):
    @workload(name, JIT)
    def _(_):
        g, operands = jax.jit(f), [jnp.asarray(a) for a in OPERANDS[name]()]
        return lambda: jax.block_until_ready(g(*operands))


def elementwise(x):
    return jax.nn.sigmoid(1.1 * x + 0.3) * jnp.tanh(x) + jnp.exp(-x * x)


def crossentropy(x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()


add("call_add1", lambda x: x + 1.0)
add("call_chain100_s", chain)
add("call_chain100_v1000", chain)


@workload("call_add1_np", JIT)
def _(_):
    g, x = jax.jit(lambda x: x + 1.0), np.ones(1, "f")
    return lambda: np.asarray(g(x))


for _size in ("10M", "1M", "1k"):
    add(f"elem_{_size}", elementwise)
add("softmax", lambda x: jax.nn.softmax(x))
add("lsm_sce", crossentropy)
add("argmax", lambda x: x.argmax(-1))
for _axis in (0, 1):
    add(f"sum_ax{_axis}", lambda x, a=_axis: x.sum(a))
    add(f"mean_ax{_axis}", lambda x, a=_axis: x.mean(a))
    add(f"var_ax{_axis}", lambda x, a=_axis: x.var(a))
for _name in ("matmul_128", "matmul_512", "matmul_1024", "matmul_2048", "batch_dot"):
    add(_name, lambda a, b: a @ b)
add("dense_relu", lambda x, w, b: relu(x @ w + b))


def conv(x, w, stride=1, padding="SAME", order=("NHWC", "HWIO", "NHWC"), groups=1):
    strides = (stride,) * (w.ndim - 2)
    return lax.conv_general_dilated(
        x, w, strides, padding, dimension_numbers=order, feature_group_count=groups
    )


def pool(x, start, op):
    return lax.reduce_window(x, start, op, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def max_pool(x):
    return pool(x, -jnp.inf, lax.max)


def batch_norm(x, gamma, beta):
    mean = x.mean((0, 1, 2))
    var = (x * x).mean((0, 1, 2)) - mean * mean
    return (x - mean) * (gamma * lax.rsqrt(var + 1e-3)) + beta, mean, var


add("conv3x3_nhwc", conv)
add("conv1x1_nhwc", conv)
add("conv7x7s2_nhwc", lambda x, w: conv(x, w, 2))
add("depthwise3x3_nhwc", lambda x, w: conv(x, w.swapaxes(2, 3), groups=64))
add("conv3x3_nchw", lambda x, w: conv(x, w, order=("NCHW", "HWIO", "NCHW")))
add("conv1d", lambda x, w: conv(x, w, order=("NWC", "WIO", "NWC")))
add("conv3d", lambda x, w: conv(x, w, order=("NDHWC", "DHWIO", "NDHWC")))
add(
    "conv2d_transpose",
    lambda x, w: lax.conv_transpose(
        x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=True
    ),
)
add("conv3x3_grad", jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), (0, 1)))
add("maxpool2x2", max_pool)
add("avgpool2x2", lambda x: pool(x, 0.0, lax.add) / 4)
add("bn_train", batch_norm)

# ---- nets: weights, and a function of them and the input -----------------------------------------


WEIGHTS = Weights(jnp.asarray)


def mlp():
    p = WEIGHTS.mlp()

    def net(p, x):
        x = relu(x @ p[0] + p[1])
        return relu(x @ p[2] + p[3]) @ p[4] + p[5]

    return p, net


def cnn():
    p = WEIGHTS.cnn()

    def net(p, x):
        x = relu(conv(x, p[0], 1, "VALID") + p[1])
        x = relu(conv(x, p[2], 1, "VALID") + p[3])
        x = max_pool(x).reshape(-1, 9216)
        return relu(x @ p[4] + p[5]) @ p[6] + p[7]

    return p, net


def resnet20(training=True):
    """Without moving averages; inference has them folded into scale and shift."""
    stem, blocks, head = WEIGHTS.resnet20(lambda *layer: layer)
    strides = [stride for stride, *_ in blocks]
    p = [stem, [weights for _, *weights in blocks], head]

    def apply(x, layer, stride=1):
        w, gamma, beta = layer
        y = conv(x, w, stride)
        return batch_norm(y, gamma, beta)[0] if training else y * (gamma * 1.001**-0.5) + beta

    def net(p, x):
        x = relu(apply(x, p[0]))
        for (first, second, short), stride in zip(p[1], strides):
            y = apply(relu(apply(x, first, stride)), second)
            x = relu(y + (x if short is None else conv(x, short, stride)))
        return x.mean((1, 2)) @ p[2][0] + p[2][1]

    return p, net


def lstm():
    p = WEIGHTS.lstm()

    def net(p, x):
        def step(states, z):
            h, c = states
            i, f, g, o = jnp.split(z + h @ p[1], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        start = (jnp.zeros((x.shape[0], 128)),) * 2
        (h, _), _ = lax.scan(step, start, jnp.swapaxes(x @ p[0] + p[2], 0, 1))
        return h @ p[3] + p[4]

    return p, net


def layer_norm(x, gamma, beta):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * gamma + beta


def transformer_block(d=256):
    p = WEIGHTS.transformer_block(d)

    def net(p, x):
        n, t, _ = x.shape
        qkv = (layer_norm(x, p[8], p[9]) @ p[0] + p[1]).reshape(n, t, 3, 4, d // 4)
        q, k, v = jnp.moveaxis(qkv, (2, 3), (0, 2))
        a = jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / 8.0) @ v
        x = x + jnp.swapaxes(a, 1, 2).reshape(n, t, d) @ p[2] + p[3]
        return x + relu(layer_norm(x, p[10], p[11]) @ p[4] + p[5]) @ p[6] + p[7]

    return p, net


def sgd(p, grads, state):
    return jax.tree.map(lambda p, g: p - 0.01 * g, p, grads), state


def adam(p, grads, state):
    m, v, t = state
    t = t + 1
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, grads)
    p = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), p, m, v)
    return p, (m, v, t)


def add_training(name, model, optimizer=adam, loss=crossentropy):
    @workload(name, JIT)
    def _(_):
        p, net = model()
        x, y = (jnp.asarray(a) for a in net_data(name))
        state = jax.tree.map(jnp.zeros_like, p), jax.tree.map(jnp.zeros_like, p), jnp.zeros(())

        def step(p, state, x, y):
            total, grads = jax.value_and_grad(lambda p: loss(net(p, x), y))(p)
            return *optimizer(p, grads, state), total

        g, now = jax.jit(step, donate_argnums=(0, 1)), [p, state if optimizer is adam else None]

        def run():
            now[0], now[1], total = g(*now, x, y)
            jax.block_until_ready(now[0])
            return jax.block_until_ready(total)

        return run


add_training("mlp_sgd", mlp, sgd)
add_training("mlp_adam", mlp)
add_training("cnn_adam", cnn)
add_training("lstm_train", lstm)
add_training("resnet20_train", resnet20)
add_training("tblock_train", transformer_block, loss=lambda a, b: ((a - b) ** 2).mean())


def add_inference(name, model):
    @workload(name, JIT)
    def _(_):
        p, net = model()
        g, x = jax.jit(net), jnp.asarray(net_data(name)[0])
        return lambda: np.asarray(g(p, x))


add_inference("cnn_inf_b1", cnn)
add_inference("cnn_inf_b128", cnn)
add_inference("resnet20_inf_b1", lambda: resnet20(training=False))
add_inference("lstm_inf_b1", lstm)

# ---- random, CTC ---------------------------------------------------------------------------------


def add_random(name, f, *operands):
    """f(key, operands...); the next key is made in the same call."""

    @workload(name, JIT)
    def _(_):
        arrays = [jnp.asarray(o) for o in operands]
        g = jax.jit(lambda key, *a: (f(key, *a), jax.random.split(key, 1)[0]))
        key = [jax.random.key(0)]

        def run():
            result, key[0] = g(key[0], *arrays)
            return jax.block_until_ready(result)

        return run


def dropout(key, x):
    return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x / 0.5, 0)


add_random("rand_uniform", lambda key: jax.random.uniform(key, (MANY,)))
add_random("rand_normal", lambda key: jax.random.normal(key, (MANY,)))
add_random("rand_truncnormal", lambda key: jax.random.truncated_normal(key, -2.0, 2.0, (MANY,)))
add_random("dropout_mask", dropout, np.ones(MANY, "f"))


def ctc_cost():
    import optax

    p, y, _, _ = ctc_data()
    steps, lengths = jnp.zeros(p.shape[:2]), jnp.zeros(y.shape)
    return p, lambda p: optax.ctc_loss(jnp.log(p + 1e-7), steps, y, lengths, blank_id=28)


def add_ctc(name, wrap):
    @workload(name, JIT)
    def _(_):
        p, cost = ctc_cost()
        g, p = jax.jit(wrap(cost)), jnp.asarray(p)
        return lambda: jax.block_until_ready(g(p))


add_ctc("ctc_cost", lambda cost: cost)
add_ctc("ctc_grad", lambda cost: jax.grad(lambda p: cost(p).sum()))

if __name__ == "__main__":
    main()
