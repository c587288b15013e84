"""The data of workloads.md: channels last, kernels (..., in, out)."""

import numpy as np

IMAGES = (32, 56, 56, 64)
MANY = 10_000_000


def rng(seed=0):
    return np.random.default_rng(seed)


def randn(*shape, seed=0, scale=1.0):
    return rng(seed).standard_normal(shape, dtype=np.float32) * np.float32(scale)


def labels(n, k, seed=1):
    return rng(seed).integers(0, k, size=(n,)).astype(np.int32)


def glorot(shape, seed):
    """Glorot uniform of a kernel (..., in, out)."""
    taps = int(np.prod(shape[:-2])) if len(shape) > 2 else 1
    limit = np.sqrt(6 / ((shape[-2] + shape[-1]) * taps))
    return rng(seed).uniform(-limit, limit, shape).astype(np.float32)


def normal(*shapes):
    """Standard normal operands, seed 0 for the first, 1 for the second."""
    return lambda: [randn(*s, seed=i) for i, s in enumerate(shapes)]


def ones(n):
    return lambda: [np.ones(n, np.float32)]


def scalars(*values):
    return lambda: [np.array(v, np.float32) for v in values]


def scaled_kernel():
    return [randn(*IMAGES), randn(3, 3, 64, 64, seed=1, scale=0.05)]


# What each function of one or a few operations is called with.
OPERANDS = {
    "call_add1": ones(1),
    "call_add1_np": ones(1),
    "call_chain100_s": scalars(1, 0.5),
    "call_chain100_v1000": normal((1000,), (1000,)),
    "elem_10M": normal((MANY,)),
    "elem_1M": normal((1_000_000,)),
    "elem_1k": normal((1000,)),
    "softmax": normal((4096, 1000)),
    "lsm_sce": lambda: [randn(4096, 1000), labels(4096, 1000)],
    "argmax": normal((4096, 1000)),
    **{f"{f}_ax{a}": normal((4096, 4096)) for a in (0, 1) for f in ("sum", "mean", "var")},
    **{f"matmul_{n}": normal((n, n), (n, n)) for n in (128, 512, 1024, 2048)},
    "batch_dot": normal((64, 128, 64), (64, 64, 128)),
    "dense_relu": normal((128, 784), (784, 512), (512,)),
    "conv3x3_nhwc": normal(IMAGES, (3, 3, 64, 64)),
    "conv3x3_nchw": normal((32, 64, 56, 56), (3, 3, 64, 64)),
    "conv3x3_grad": scaled_kernel,
    "conv1x1_nhwc": normal(IMAGES, (1, 1, 64, 64)),
    "conv7x7s2_nhwc": normal((32, 224, 224, 3), (7, 7, 3, 64)),
    "depthwise3x3_nhwc": normal(IMAGES, (3, 3, 64, 1)),
    "conv1d": normal((32, 1024, 64), (5, 64, 128)),
    "conv3d": normal((8, 16, 32, 32, 16), (3, 3, 3, 16, 32)),
    "conv2d_transpose": normal((32, 28, 28, 64), (3, 3, 32, 64)),  # kernel (..., out, in)
    "maxpool2x2": normal(IMAGES),
    "avgpool2x2": normal(IMAGES),
    "bn_train": lambda: [randn(*IMAGES), np.ones(64, "f"), np.zeros(64, "f")],
    "dropout_mask": ones(MANY),
}
REGRESSION = ("tblock_train",)
INPUTS = {  # of nets: name -> shape of the input
    "mlp_sgd": (128, 784),
    "mlp_adam": (128, 784),
    "cnn_adam": (128, 28, 28, 1),
    "lstm_train": (32, 100, 64),
    "resnet20_train": (32, 32, 32, 3),
    "tblock_train": (8, 128, 256),
    "cnn_inf_b1": (1, 28, 28, 1),
    "cnn_inf_b128": (128, 28, 28, 1),
    "resnet20_inf_b1": (1, 32, 32, 3),
    "lstm_inf_b1": (1, 100, 64),
}


def net_data(name):
    """Input and target of a net: labels, or values for a regression."""
    shape = INPUTS[name]
    y = randn(*shape, seed=8) if name in REGRESSION else labels(shape[0], 10)
    return randn(*shape, seed=7), y


def ctc_data(dtype=np.int32):
    """Probabilities, labels, and both lengths."""
    p = rng(3).random((32, 100, 29), dtype=np.float32)
    p /= p.sum(-1, keepdims=True)
    y = rng(4).integers(0, 28, (32, 20)).astype(dtype)
    return p, y, np.full((32, 1), 100, dtype), np.full((32, 1), 20, dtype)


def resnet20_blocks():
    """(stride, channels before, channels) of each block."""
    before = 16
    for stage, c in enumerate((16, 32, 64)):
        for i in range(3):
            yield 2 if stage and not i else 1, before, c
            before = c
