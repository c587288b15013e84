"""A large net as Keras 3 builds it, written as frugally-deep reads it: fdeep_convert.py NET OUT, run by fdeep_runner.py."""

import json
import sys

import keras
from applications import Description, pads_of
from convert_model import model_to_fdeep_json
from keras import layers

PLAIN = ("name", "strides", "padding", "activation", "use_bias", "epsilon", "max_value")
PLAIN += ("filters", "units", "kernel_size", "pool_size", "axis", "scale", "dilation_rate")


def options(config):
    return {k: config[k] for k in PLAIN if k in config and config[k] is not None}


def built(description):
    values, shapes = {}, {}
    for node in description.nodes:
        name, kind, config = node["name"], node["kind"], node["config"]
        shapes[name] = node["shape"]
        if kind == "InputLayer":
            start = values[name] = keras.Input(node["shape"], name=name)
            continue
        inputs = [values[i] for i in node["inputs"]]
        # What Keras means by "same" stays; other padding was a layer of its own.
        own = config.get("padding") == "same"
        sides = [shapes[n][:2] for n in (node["inputs"][0], name)]
        if any(node["pads"]) and not (own and node["pads"] == pads_of(config, *sides)):
            top, left, bottom, right = node["pads"]
            inputs[0] = layers.ZeroPadding2D(((top, bottom), (left, right)))(inputs[0])
        layer = getattr(layers, kind)(**options(config))
        values[name] = layer(inputs if len(inputs) > 1 else inputs[0])
        if node["weights"]:
            layer.set_weights(description.weights(node))
    return keras.Model(start, values[name])


def main():
    description = Description(sys.argv[1])
    with open(sys.argv[2], "w") as file:
        json.dump(model_to_fdeep_json(built(description), no_tests=True), file)


if __name__ == "__main__":
    main()
