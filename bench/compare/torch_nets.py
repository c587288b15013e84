"""The large nets on PyTorch, images channels_last. compile: torch.compile; freeze: with weights as constants, which lets it
fold normalisations into convolutions and reorder kernels once."""

import torch
import torch.nn.functional as F
from torch import nn

import applications as apps
from common import workload

EAGER, COMPILE, FREEZE = "eager", "compile", "freeze"
T = torch.from_numpy
ACTIVATIONS = {
    "linear": nn.Identity(),
    "relu": nn.ReLU(),
    "softmax": nn.Softmax(-1),
}


class Padded(nn.Module):
    """A window whose sides are padded differently."""

    def __init__(self, pads, window):
        super().__init__()
        top, left, bottom, right = pads
        self.pads, self.window = (left, right, top, bottom), window

    def forward(self, x):
        return self.window(F.pad(x, self.pads))


def padded(node, make):
    """make(padding) of the window."""
    top, left, bottom, right = pads = node["pads"]
    same = (top, left) == (bottom, right)
    return make((top, left)) if same else Padded(pads, make((0, 0)))


def kernel(w):
    return T(w).permute(3, 2, 0, 1)


def convolution(node, w, bias, groups=1):
    config = node["config"]

    def make(padding):
        outputs, inputs = w.shape[0], w.shape[1] * groups
        made = nn.Conv2d(
            inputs,
            outputs,
            tuple(w.shape[2:]),
            tuple(config["strides"]),
            padding,
            tuple(config["dilation_rate"]),
            groups,
            bias is not None,
        )
        made.weight.data.copy_(w)
        if bias is not None:
            made.bias.data.copy_(T(bias))
        return made

    return nn.Sequential(padded(node, make), ACTIVATIONS[config["activation"]])


def conv2d(node, w, bias=None):
    return convolution(node, kernel(w), bias)


def depthwise(node, w, bias=None):
    return convolution(node, T(w).permute(2, 3, 0, 1), bias, groups=w.shape[2])


def batch_norm(node, *weights):
    config = node["config"]
    *gamma, beta, mean, variance = (T(w) for w in weights)
    made = nn.BatchNorm2d(len(beta), config["epsilon"], 1 - config["momentum"])
    made.bias.data.copy_(beta)
    made.running_mean.copy_(mean)
    made.running_var.copy_(variance)
    if gamma:
        made.weight.data.copy_(gamma[0])
    return made


def dense(node, w, b):
    made = nn.Linear(*w.shape)
    made.weight.data.copy_(T(w).T)
    made.bias.data.copy_(T(b))
    return nn.Sequential(made, ACTIVATIONS[node["config"]["activation"]])


def pool(kind):
    def make(node):
        size, strides = tuple(node["config"]["pool_size"]), tuple(node["config"]["strides"])
        if kind == "max":
            return padded(node, lambda padding: nn.MaxPool2d(size, strides, padding))
        return padded(
            node, lambda padding: nn.AvgPool2d(size, strides, padding, count_include_pad=False)
        )

    return make


class Flatten(nn.Module):
    """In the order of Keras: channels last."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).flatten(1)


class Joined(nn.Module):
    def __init__(self, add):
        super().__init__()
        self.add = add

    def forward(self, *x):
        return x[0] + x[1] if self.add else torch.cat(x, 1)


class GlobalAverage(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


def relu(node):
    most = node["config"]["max_value"]
    return nn.ReLU() if most is None else nn.Hardtanh(0.0, float(most))


LAYERS_OF = {
    "InputLayer": lambda _: nn.Identity(),
    "Conv2D": conv2d,
    "DepthwiseConv2D": depthwise,
    "BatchNormalization": batch_norm,
    "Activation": lambda node: ACTIVATIONS[node["config"]["activation"]],
    "ReLU": relu,
    "Dense": dense,
    "MaxPooling2D": pool("max"),
    "AveragePooling2D": pool("avg"),
    "GlobalAveragePooling2D": lambda _: GlobalAverage(),
    "Flatten": lambda _: Flatten(),
    "Add": lambda _: Joined(add=True),
    "Concatenate": lambda _: Joined(add=False),
}


class Net(nn.Module):
    def __init__(self, description):
        super().__init__()
        self.names = [node["name"] for node in description.nodes]
        self.inputs = [node["inputs"] for node in description.nodes]
        self.last = description.last_uses()
        self.layers = nn.ModuleList(
            LAYERS_OF[node["kind"]](node, *description.weights(node)) for node in description.nodes
        )

    def forward(self, x):
        values = {}
        for name, inputs, last, layer in zip(self.names, self.inputs, self.last, self.layers):
            values[name] = layer(*[values[i] for i in inputs]) if inputs else x
            for i in last:
                del values[i]
        return values[self.names[-1]]


def linear(w, b):
    return dense({"config": {"activation": "linear"}}, w, b)[0]


def layer_norm(gamma, beta):
    made = nn.LayerNorm(apps.WIDTH, apps.EPSILON)
    made.weight.data.copy_(T(gamma))
    made.bias.data.copy_(T(beta))
    return made


class EncoderLayer(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.qkv, self.out = linear(*p[0:2]), linear(*p[2:4])
        self.ff1, self.ff2 = linear(*p[4:6]), linear(*p[6:8])
        self.norm1, self.norm2 = layer_norm(*p[8:10]), layer_norm(*p[10:12])

    def forward(self, x):
        n, t, d = x.shape
        qkv = self.qkv(x).view(n, t, 3, apps.HEADS, d // apps.HEADS)
        a = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4))
        x = self.norm1(x + self.out(a.transpose(1, 2).reshape(n, t, d)))
        return self.norm2(x + self.ff2(F.gelu(self.ff1(x), approximate="tanh")))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        (table, places), norm, layers = apps.encoder_weights()
        self.table = nn.Embedding.from_pretrained(T(table))
        self.places = nn.Parameter(T(places))
        self.norm = layer_norm(*norm)
        self.layers = nn.ModuleList(EncoderLayer(p) for p in layers)

    def forward(self, ids):
        x = self.norm(self.table(ids) + self.places)
        for layer in self.layers:
            x = layer(x)
        return x


def net_and_input(name):
    net, _ = apps.net_of(name)
    if net == apps.ENCODER:
        return Encoder(), T(apps.words(name)).long()
    made = Net(apps.Description(net)).to(memory_format=torch.channels_last)
    return made, T(apps.images(name)).movedim(-1, 1)


def compiled(variant, f):
    if variant == EAGER:
        return f
    torch._dynamo.reset()
    torch._inductor.config.freezing = variant == FREEZE
    return torch.compile(f, dynamic=False)


def training_step(optimizer, forward, update, x, y):
    def run():
        optimizer.zero_grad(set_to_none=True)
        total = forward(x, y)
        total.backward()
        update()
        return total.item()

    return run


def add_inference(name):
    @workload(name, EAGER, COMPILE, FREEZE)
    def _(variant):
        net, x = net_and_input(name)
        g = compiled(variant, net.eval())

        def run():
            with torch.no_grad():
                return g(x).numpy()

        return run


def add_training(name):
    @workload(name, EAGER, COMPILE)
    def _(variant):
        net, x = net_and_input(name)
        net.layers[-1] = net.layers[-1][0]  # logits, for cross_entropy
        net.train()
        y = T(apps.classes(name)).long()
        optimizer = torch.optim.SGD(
            net.parameters(), apps.RATE, apps.MOMENTUM, fused=variant == EAGER
        )
        forward = compiled(variant, lambda x, y: F.cross_entropy(net(x), y))
        update = compiled(variant, optimizer.step)

        return training_step(optimizer, forward, update, x, y)


for _name in apps.INFERENCE:
    add_inference(_name)
for _name in apps.TRAINING:
    add_training(_name)
