"""PyTorch: eager, and torch.compile. Data that are channels last are torch's channels_last."""

import os

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
from common import THREADS, main, np, workload  # noqa: E402  (before torch sizes its pools)
from data import MANY, OPERANDS, ctc_data, net_data, resnet20_blocks  # noqa: E402
from nets import chain  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch_nets import training_step  # noqa: E402  (registers the large nets too)

torch.set_num_threads(THREADS)
EAGER, COMPILE = "eager", "compile"
T = torch.from_numpy


def compiled(variant, f):
    if variant == EAGER:
        return f
    torch._dynamo.reset()
    return torch.compile(f, dynamic=False)


def channels_first(x):
    """NHWC data seen as NCHW: the memory stays as it is."""
    return T(x).movedim(-1, 1)


def kernel(w):
    """(..., in, out) to (out, in, ...), channels last in memory."""
    w = T(w).movedim((-1, -2), (0, 1))
    if w.ndim < 4:
        return w.contiguous()
    last = torch.channels_last if w.ndim == 4 else torch.channels_last_3d
    return w.contiguous(memory_format=last)


def add(name, f, variants=(EAGER,), convert=lambda *arrays: [T(np.asarray(a)) for a in arrays]):
    @workload(name, *variants)
    def _(variant):
        operands = convert(*OPERANDS[name]())
        g = compiled(variant, f)

        def run():
            with torch.inference_mode(variant == EAGER), torch.no_grad():
                return g(*operands)

        return run


def add_conv(name, f):
    add(name, f, convert=lambda x, w: (channels_first(x), kernel(w)))


BOTH = (EAGER, COMPILE)


add("call_add1", lambda x: x + 1.0, BOTH)
add("call_chain100_s", chain, BOTH)
add("call_chain100_v1000", chain, BOTH)


@workload("call_add1_np", *BOTH)
def _(variant):
    g, x = compiled(variant, lambda x: x + 1.0), np.ones(1, "f")

    def run():
        with torch.no_grad():
            return g(T(x)).numpy()

    return run


def elementwise(x):
    return torch.sigmoid(1.1 * x + 0.3) * torch.tanh(x) + torch.exp(-x * x)


for _size in ("10M", "1M", "1k"):
    add(f"elem_{_size}", elementwise, BOTH)
add("softmax", lambda x: F.softmax(x, -1), BOTH)
add("lsm_sce", lambda x, y: F.cross_entropy(x, y), BOTH, lambda x, y: (T(x), T(y).long()))
add("argmax", lambda x: x.argmax(-1))
for _axis in (0, 1):
    add(f"sum_ax{_axis}", lambda x, a=_axis: x.sum(a))
    add(f"mean_ax{_axis}", lambda x, a=_axis: x.mean(a))
    add(f"var_ax{_axis}", lambda x, a=_axis: x.var(a, correction=0), BOTH)
for _name in ("matmul_128", "matmul_512", "matmul_1024", "matmul_2048", "batch_dot"):
    add(_name, lambda a, b: a @ b)
add("dense_relu", lambda x, w, b: torch.relu(torch.addmm(b, x, w)), BOTH)

add_conv("conv3x3_nhwc", lambda x, w: F.conv2d(x, w, padding=1))
add_conv("conv1x1_nhwc", lambda x, w: F.conv2d(x, w))
add_conv("conv7x7s2_nhwc", lambda x, w: F.conv2d(x, w, stride=2, padding=3))
add_conv("conv3d", lambda x, w: F.conv3d(x, w, padding=1))
add(
    "conv3x3_nchw",
    lambda x, w: F.conv2d(x, w, padding=1),
    convert=lambda x, w: (T(x), T(w).permute(3, 2, 0, 1).contiguous()),
)
add(
    "depthwise3x3_nhwc",
    lambda x, w: F.conv2d(x, w, padding=1, groups=64),
    convert=lambda x, w: (channels_first(x), kernel(np.swapaxes(w, -1, -2))),
)
add(  # as rows of an image: conv1d has no channels last
    "conv1d",
    lambda x, w: F.conv2d(x, w, padding=(0, 2)),
    convert=lambda x, w: (channels_first(x[:, None]), kernel(w[None])),
)
add(
    "conv2d_transpose",
    lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
    convert=lambda x, w: (channels_first(x), kernel(w)),
)


@workload("conv3x3_grad", EAGER)
def _(_):
    x, w = OPERANDS["conv3x3_grad"]()
    x, w = channels_first(x).requires_grad_(), kernel(w).requires_grad_()
    return lambda: torch.autograd.grad((F.conv2d(x, w, padding=1) ** 2).sum(), [x, w])


add("maxpool2x2", lambda x: F.max_pool2d(x, 2), convert=lambda x: [channels_first(x)])
add("avgpool2x2", lambda x: F.avg_pool2d(x, 2), convert=lambda x: [channels_first(x)])
add(
    "bn_train",
    lambda x, g, b: torch.native_batch_norm(x, g, b, None, None, True, 0.0, 1e-3),
    BOTH,
    lambda x, g, b: (channels_first(x), T(g), T(b)),
)

# ---- nets ----------------------------------------------------------------------------------------


def initialised(net):
    kernels = [p for p in net.parameters() if p.ndim > 1]
    for seed, p in enumerate(kernels):
        nn.init.xavier_uniform_(p, generator=torch.Generator().manual_seed(seed))
    return net


def mlp():
    layers = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    return nn.Sequential(*layers)


def cnn():
    convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU()]
    dense = [nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10)]
    return nn.Sequential(*convolutions, nn.MaxPool2d(2), nn.Flatten(), *dense)


class Block(nn.Module):
    def __init__(self, stride, before, c):
        super().__init__()
        self.conv1 = nn.Conv2d(before, c, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(c)
        self.short = nn.Identity()
        if before != c:
            self.short = nn.Conv2d(before, c, 1, stride, bias=False)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.short(x))


def resnet20():
    stem = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)]
    return nn.Sequential(*stem, *(Block(*b) for b in resnet20_blocks()), *head)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128, batch_first=True)
        self.dense = nn.Linear(128, 10)

    def forward(self, x):
        return self.dense(self.lstm(x)[0][:, -1])


class TransformerBlock(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff1, self.ff2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x):
        n, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(n, t, 3, 4, d // 4)
        a = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4))
        x = x + self.out(a.transpose(1, 2).reshape(n, t, d))
        return x + self.ff2(F.relu(self.ff1(self.norm2(x))))


def on_images(net, x):
    """Both in channels_last when the input is images."""
    if x.ndim != 4:
        return net, T(x)
    return net.to(memory_format=torch.channels_last), channels_first(x)


def add_training(name, make, variants=BOTH, loss=F.cross_entropy, rate=None):
    @workload(name, *variants)
    def _(variant):
        x, y = net_data(name)
        net, x = on_images(initialised(make()), x)
        y = T(y) if y.dtype == np.float32 else T(y).long()
        if rate:
            optimizer = torch.optim.SGD(net.parameters(), rate)
        else:
            fused = variant == EAGER
            optimizer = torch.optim.Adam(net.parameters(), 1e-3, eps=1e-7, fused=fused)
        forward = compiled(variant, lambda x, y: loss(net(x), y))
        update = compiled(variant, optimizer.step)

        return training_step(optimizer, forward, update, x, y)


add_training("mlp_sgd", mlp, rate=0.01)
add_training("mlp_adam", mlp)
add_training("cnn_adam", cnn)
add_training("lstm_train", Lstm, (EAGER,))
add_training("resnet20_train", resnet20)
add_training("tblock_train", TransformerBlock, loss=F.mse_loss)


def add_inference(name, make):
    @workload(name, *BOTH)
    def _(variant):
        net, x = on_images(initialised(make()).eval(), net_data(name)[0])
        g = compiled(variant, net)

        def run():
            with torch.no_grad():
                return g(x).numpy()

        return run


add_inference("cnn_inf_b1", cnn)
add_inference("cnn_inf_b128", cnn)
add_inference("resnet20_inf_b1", resnet20)
add_inference("lstm_inf_b1", Lstm)

# ---- random, CTC ---------------------------------------------------------------------------------

workload("rand_uniform", EAGER)(lambda _: lambda: torch.rand(MANY))
workload("rand_normal", EAGER)(lambda _: lambda: torch.randn(MANY))
workload("rand_truncnormal", EAGER)(lambda _: lambda: nn.init.trunc_normal_(torch.empty(MANY)))
add("dropout_mask", lambda x: F.dropout(x, 0.5))


def ctc_loss(reduction):
    p, y, n, m = (T(a) for a in ctc_data(np.int64))

    def loss(p):
        logs = torch.log_softmax(torch.log(p + 1e-7), -1).transpose(0, 1)
        return F.ctc_loss(logs, y, n[:, 0], m[:, 0], blank=28, reduction=reduction)

    return p, loss


@workload("ctc_cost", EAGER)
def _(_):
    p, loss = ctc_loss("none")

    def run():
        with torch.inference_mode():
            return loss(p)

    return run


@workload("ctc_grad", EAGER)
def _(_):
    p, loss = ctc_loss("sum")
    p.requires_grad_()
    return lambda: torch.autograd.grad(loss(p), p)


if __name__ == "__main__":
    main()
