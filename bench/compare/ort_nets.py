"""The large nets as ONNX graphs, images NCHW; the encoder with ONNX Runtime's own operators of attention."""

import numpy as np

from applications import (
    ENCODER,
    EPSILON,
    HEADS,
    INFERENCE,
    Description,
    encoder_weights,
    images,
    net_of,
    words,
)

MICROSOFT = "com.microsoft"


class Layers:
    """One method per kind of layer, which gives the name of its result."""

    def __init__(self, graph, description):
        self.g, self.shapes = graph, {n["name"]: n["shape"] for n in description.nodes}
        self.turned = {}  # results of Flatten: height, width, channels before

    def activation(self, x, name):
        if name == "linear":
            return x
        if name == "softmax":
            return self.g.op("Softmax", x, axis=-1)
        return self.g.op("Relu", x)

    def window(self, node):
        config = node["config"]
        sizes = config.get("kernel_size") or config["pool_size"]
        return {"kernel_shape": sizes, "strides": config["strides"], "pads": node["pads"]}

    def conv2d(self, node, x, w, *bias, groups=1):
        constants = [self.g.constant(a) for a in (w, *bias)]
        dilations = node["config"]["dilation_rate"]
        y = self.g.op("Conv", x, *constants, group=groups, dilations=dilations, **self.window(node))
        return self.activation(y, node["config"]["activation"])

    def Conv2D(self, node, x, w, *bias):
        return self.conv2d(node, x, w.transpose(3, 2, 0, 1), *bias)

    def DepthwiseConv2D(self, node, x, w, *bias):
        return self.conv2d(node, x, w.transpose(2, 3, 0, 1), *bias, groups=w.shape[2])

    def BatchNormalization(self, node, x, *weights):
        if len(weights) == 3:  # no scale
            weights = np.ones_like(weights[0]), *weights
        constants = [self.g.constant(a) for a in weights]
        return self.g.op("BatchNormalization", x, *constants, epsilon=node["config"]["epsilon"])

    def Activation(self, node, x):
        return self.activation(x, node["config"]["activation"])

    def ReLU(self, node, x):
        most = node["config"]["max_value"]
        if most is None:
            return self.g.op("Relu", x)
        return self.g.op("Clip", x, *(self.g.constant(np.float32(v)) for v in (0, most)))

    def Dense(self, node, x, w, b):
        if x in self.turned:  # rows in the order of NCHW
            h, width, c = self.turned[x]
            w = w.reshape(h, width, c, -1).transpose(2, 0, 1, 3).reshape(w.shape)
        y = self.g.op("Gemm", x, self.g.constant(w), self.g.constant(b))
        return self.activation(y, node["config"]["activation"])

    def MaxPooling2D(self, node, x):
        return self.g.op("MaxPool", x, **self.window(node))

    def AveragePooling2D(self, node, x):
        return self.g.op("AveragePool", x, count_include_pad=0, **self.window(node))

    def GlobalAveragePooling2D(self, node, x):
        return self.g.op("Flatten", self.g.op("GlobalAveragePool", x))

    def Flatten(self, node, x):
        y = self.g.op("Flatten", x)
        self.turned[y] = self.shapes[node["inputs"][0]]
        return y

    def Add(self, node, *x):
        return self.g.op("Add", *x)

    def Concatenate(self, node, *x):
        return self.g.op("Concat", *x, axis=1)


def build(graph, net):
    description = Description(net)
    layers, values = Layers(graph, description), {}
    for node in description.nodes:
        if node["kind"] == "InputLayer":
            values[node["name"]] = "x"
            continue
        inputs = [values[i] for i in node["inputs"]]
        values[node["name"]] = getattr(layers, node["kind"])(
            node, *inputs, *description.weights(node)
        )
    return values[description.nodes[-1]["name"]]


def encoder(g):
    (table, places), norm, layers = encoder_weights()

    def constants(*arrays):
        return [g.constant(a) for a in arrays]

    def layer_norm(x, gamma, beta):
        return g.op("LayerNormalization", x, *constants(gamma, beta), axis=-1, epsilon=EPSILON)

    def dense(x, w, b):
        kernel, bias = constants(w, b)
        return g.op("Add", g.op("MatMul", x, kernel), bias)

    x = g.op("Add", g.op("Gather", g.constant(table), "x"), g.constant(places))
    x = layer_norm(x, *norm)
    for p in layers:
        a = g.op("Attention", x, *constants(*p[0:2]), domain=MICROSOFT, num_heads=HEADS)
        x = layer_norm(g.op("Add", x, dense(a, *p[2:4])), *p[8:10])
        inner = g.op("FastGelu", dense(x, *p[4:6]), domain=MICROSOFT)
        x = layer_norm(g.op("Add", x, dense(inner, *p[6:8])), *p[10:12])
    return x


def add_nets(workload, variant, graph_class):
    """graph_class: Graph of ort_runner.py."""

    def add(name):
        @workload(name, variant)
        def _(_):
            graph, (net, _) = graph_class(), net_of(name)
            if net == ENCODER:
                return graph.run(encoder(graph), spins=True, x=words(name))
            x = np.ascontiguousarray(images(name).transpose(0, 3, 1, 2))
            return graph.run(build(graph, net), spins=True, x=x)

    for name in INFERENCE:
        add(name)
