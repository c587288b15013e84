"""Large nets, the same in every library: their layers as data, and weights that every process makes for itself.

Ours is keras.applications. `python applications.py FOLDER [NETS]` (with Keras 2.3.1 on Horngate) writes what the layers are
to FOLDER/NET.json; the peers build the same from it. The encoder, which Keras 2.3.1 has no layers for, is written out in
each library. Kernels are He normal, so that values neither vanish nor grow; statistics of normalisations are random, so
that leaving one out would show; the last kernel is scaled until logits spread, so that a softmax hides nothing.
"""

import json
import sys
from pathlib import Path

import numpy as np
from data import labels, randn, rng

NETS = {  # name: class in keras.applications, side of an image
    "mobilenetv2": ("MobileNetV2", 224),
    "resnet50": ("ResNet50", 224),
    "inceptionv3": ("InceptionV3", 299),
    "densenet121": ("DenseNet121", 224),
    "vgg16": ("VGG16", 224),
}
ENCODER = "encoder"
BATCHES = (1, 8)
INFERENCE = [f"{net}_b{n}" for net in [*NETS, ENCODER] for n in BATCHES]
TRAINING = ["resnet50_train_b8"]
CLASSES = 1000
RATE, MOMENTUM = 1e-3, 0.9
# The encoder has the sizes of BERT base.
LAYERS, WIDTH, HEADS, INNER, STEPS, WORDS = 12, 768, 12, 3072, 128, 30522
EPSILON = 1e-12
FOLDER = Path(__file__).resolve().parents[2] / "build" / "peers" / "nets"


def net_of(workload):
    """The net and the batch of resnet50_b8 or resnet50_train_b8."""
    parts = workload.split("_")
    return parts[0], int(parts[-1][1:])


def images(workload):
    net, n = net_of(workload)
    side = NETS[net][1]
    return randn(n, side, side, 3, seed=7)


def classes(workload):
    return labels(net_of(workload)[1], CLASSES)


def words(workload):
    return labels(net_of(workload)[1] * STEPS, WORDS).reshape(-1, STEPS)


def normal(shape, fan_in, seed):
    return randn(*shape, seed=seed, scale=np.sqrt(2 / fan_in))


def layer_weights(kind, shapes, seed):
    """In the order of Keras; `shapes` of its arrays."""
    if not shapes:
        return []
    if kind == "BatchNormalization":
        rows = [rng([seed, i]).uniform(-1, 1, s).astype(np.float32) for i, s in enumerate(shapes)]
        *scale, shift, mean, variance = rows
        return [1 + x / 4 for x in scale] + [shift / 4, mean / 4, 1 + variance / 4]
    kernel = shapes[0]
    fan_in = kernel[0] * kernel[1] if kind == "DepthwiseConv2D" else np.prod(kernel[:-1])
    biases = [randn(*s, seed=[seed, 1], scale=0.1) for s in shapes[1:]]
    return [normal(kernel, fan_in, [seed, 0]), *biases]


class Description:
    """A net of NET.json. nodes: name, kind, config, inputs, pads (top, left, bottom, right), and the shape of the result."""

    def __init__(self, net):
        found = json.loads((FOLDER / f"{net}.json").read_text())
        self.nodes, self.scale, self.keras = found["nodes"], found["scale"], found["keras"]

    def weights(self, node):
        made = layer_weights(node["kind"], [tuple(s) for s in node["weights"]], node["seed"])
        if node is self.nodes[-1]:
            made[0] = made[0] * np.float32(self.scale)
        return made

    def last_uses(self):
        """Per node the values that nothing reads later."""
        last = {i: k for k, node in enumerate(self.nodes) for i in node["inputs"]}
        return [[i for i, at in last.items() if at == k] for k in range(len(self.nodes))]


def pads_of(config, before, after):
    """Top, left, bottom, right of a window over an image; `before` and `after`: its sides."""
    if config["padding"] != "same":
        return [0] * 4
    sizes = config.get("kernel_size") or config["pool_size"]
    total = [
        max(0, (o - 1) * s + k - i) for i, o, s, k in zip(before, after, config["strides"], sizes)
    ]
    low = [t // 2 for t in total]
    return [*low, *(t - x for t, x in zip(total, low))]


def described(model):
    """The layers of a Keras model. Padding becomes part of the window that reads it."""
    nodes, padded = [], {}
    for seed, entry in enumerate(json.loads(model.to_json())["config"]["layers"]):
        layer, kind, config = (
            model.get_layer(entry["name"]),
            entry["class_name"],
            entry["config"],
        )
        inputs = [x[0] for x in (entry["inbound_nodes"] or [[]])[0]]
        if kind == "ZeroPadding2D":  # before a convolution, or a maximum of what is not negative
            (top, bottom), (left, right) = config["padding"]
            padded[entry["name"]] = inputs[0], [top, left, bottom, right]
            continue
        pads = [0] * 4
        if inputs and inputs[0] in padded:
            inputs, pads = [padded[inputs[0]][0]], padded[inputs[0]][1]
        elif "padding" in config:
            pads = pads_of(config, layer.input_shape[1:3], layer.output_shape[1:3])
        shapes = [list(map(int, w.shape)) for w in layer.get_weights()]
        nodes.append(
            {
                **{"name": entry["name"], "kind": kind, "config": config, "inputs": inputs},
                **{
                    "pads": pads,
                    "shape": list(map(int, layer.output_shape[1:])),
                    "weights": shapes,
                    "seed": seed,
                },
            }
        )
    return nodes


def keras_model(net):
    """With the weights of this file, except for the scale of the last kernel."""
    from keras import applications

    model = getattr(applications, NETS[net][0])(weights=None)
    for seed, layer in enumerate(model.layers):
        shapes = [tuple(w.shape) for w in layer.get_weights()]
        if shapes:
            layer.set_weights(layer_weights(type(layer).__name__, shapes, seed))
    return model


def scale_last(model, scale):
    layer = model.layers[-1]
    kernel, bias = layer.get_weights()
    layer.set_weights([kernel * np.float32(scale), bias])


def write(net, folder):
    from keras.models import Model

    model = keras_model(net)
    features = Model(model.input, model.layers[-2].output).predict(images(f"{net}_b1"))
    logits = features @ model.layers[-1].get_weights()[0]
    said = {"nodes": described(model), "scale": float(2 / logits.std()), "keras": model.to_json()}
    (folder / f"{net}.json").write_text(json.dumps(said))


# ---- the encoder ---------------------------------------------------------------------------------


def encoder_weights():
    """Tables of words and places, scale and shift of their normalisation; then per layer four pairs of kernel and bias
    (query, key and value as one; what follows; the two of the inner layer) and scale and shift of two normalisations."""
    seeds = iter(range(1000, 2000))

    def dense(inputs, outputs):
        return [
            randn(inputs, outputs, seed=next(seeds), scale=0.03),
            randn(outputs, seed=next(seeds), scale=0.1),
        ]

    def norm():
        return [
            1 + randn(WIDTH, seed=next(seeds), scale=0.1),
            randn(WIDTH, seed=next(seeds), scale=0.1),
        ]

    tables = [randn(n, WIDTH, seed=next(seeds)) for n in (WORDS, STEPS)]
    layers = []
    for _ in range(LAYERS):
        pairs = [
            dense(WIDTH, 3 * WIDTH),
            dense(WIDTH, WIDTH),
            dense(WIDTH, INNER),
            dense(INNER, WIDTH),
        ]
        layers.append([w for pair in [*pairs, norm(), norm()] for w in pair])
    return tables, norm(), layers


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for net in sys.argv[2:] or NETS:
        if not (folder / f"{net}.json").exists():
            write(net, folder)


if __name__ == "__main__":
    main()
