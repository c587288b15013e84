"""Files whose HDF5 is whole and whose model is not: an error that names the file, in little memory, and no crash."""

import copy
import json
import os
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import keras_cases  # noqa: E402
from keras import layers, models  # noqa: E402


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A net that is loaded, and the memory that this takes."""
    path = tmp_path_factory.mktemp("models") / "good.h5"
    x = layers.Input((8, 8, 2), name="x")
    y = layers.Conv2D(3, 3, name="conv")(x)
    y = layers.BatchNormalization(name="norm")(y)
    y = layers.LSTM(4, name="lstm")(layers.Reshape((6, 18), name="rows")(y))
    model = models.Model(x, layers.Dense(2, name="dense")(y))
    model.compile("adam", "mse")
    model.train_on_batch(np.zeros((2, 8, 8, 2)), np.zeros((2, 2)))
    model.save(str(path))
    code, text, memory = check(path)
    assert code == 0, text
    return path, memory


def check(path):
    """`horngate check`: its exit code, what it says, and its peak of memory in MB."""
    command = keras_cases.runner("horngate")
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.dup2(write, 2)
        os.execve(
            command,
            [command, "check", str(path)],
            dict(os.environ, KERAS_BACKEND="native", HORNGATE_QUIET="1"),
        )
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), text, usage.ru_maxrss / 1024


def config(change):
    def apply(file):
        value = json.loads(file.attrs["model_config"])
        found = {layer["name"]: layer for layer in value["config"]["layers"]}
        result = change(value, found)
        file.attrs["model_config"] = (
            result if isinstance(result, (str, bytes)) else json.dumps(value)
        )

    return apply


def option(layer, name, value):
    return config(lambda c, found: found[layer]["config"].update({name: value}))


def training(change):
    def apply(file):
        value = json.loads(file.attrs["training_config"])
        change(value)
        file.attrs["training_config"] = json.dumps(value)

    return apply


def weights(change):
    return lambda file: change(file["model_weights"])


def replaced(number, shape):
    """A weight of the last layer."""

    def apply(file):
        group = file["model_weights/dense"]
        name = group.attrs["weight_names"][number]
        del group[name]
        group[name] = np.zeros(shape, "float32")

    return apply


def names(path, change):
    def apply(file):
        group = file[path]
        key = "layer_names" if path == "model_weights" else "weight_names"
        group.attrs[key] = np.array(change(list(group.attrs[key])), "S")

    return apply


CASES = {
    "no_config": lambda f: f.attrs.__delitem__("model_config"),
    "empty_config": config(lambda c, _: ""),
    "config_is_a_list": config(lambda c, _: "[1, 2]"),
    "config_is_text": config(lambda c, _: '"Model"'),
    "config_cut_off": config(lambda c, _: json.dumps(c)[:-30]),
    "config_10000_deep": config(lambda c, _: "[" * 10_000 + "]" * 10_000),
    "config_objects_10000_deep": config(lambda c, _: '{"a":' * 10_000 + "1" + "}" * 10_000),
    "config_not_unicode": lambda f: f.attrs.create(
        "model_config", b'{"class_name": "\xff\xfe"}', dtype="S30"
    ),
    "unknown_model": config(lambda c, _: c.update(class_name="Subclassed")),
    "class_is_a_number": config(lambda c, _: c.update(class_name=3)),
    "no_layers": config(lambda c, _: c["config"].pop("layers")),
    "layers_empty": config(lambda c, _: c["config"].update(layers=[])),
    "no_inputs": config(lambda c, _: c["config"].update(input_layers=[])),
    "no_outputs": config(lambda c, _: c["config"].update(output_layers=[])),
    "output_of_nowhere": config(lambda c, _: c["config"].update(output_layers=[["nowhere", 0, 0]])),
    "output_node_2_31": config(
        lambda c, _: c["config"].update(output_layers=[["dense", 2**31, 0]])
    ),
    "output_negative": config(lambda c, _: c["config"].update(output_layers=[["dense", -1, 0]])),
    "loop_of_layers": config(
        lambda c, found: found["conv"].update(inbound_nodes=[[["dense", 0, 0, {}]]])
    ),
    "layer_of_itself": config(
        lambda c, found: found["norm"].update(inbound_nodes=[[["norm", 0, 0, {}]]])
    ),
    "tensor_that_is_not_there": config(
        lambda c, found: found["norm"].update(inbound_nodes=[[["conv", 0, 7, {}]]])
    ),
    "place_too_short": config(lambda c, found: found["norm"].update(inbound_nodes=[[["conv"]]])),
    "two_inputs": config(
        lambda c, found: found["dense"].update(
            inbound_nodes=[[["lstm", 0, 0, {}], ["norm", 0, 0, {}]]]
        )
    ),
    "two_of_a_name": config(
        lambda c, _: c["config"]["layers"].append(copy.deepcopy(c["config"]["layers"][-1]))
    ),
    "call_with_a_tensor": config(
        lambda c, found: found["dense"].update(
            inbound_nodes=[[["lstm", 0, 0, {"mask": ["x", 0, 0]}]]]
        )
    ),
    "unknown_layer": config(lambda c, found: found["dense"].update(class_name="Exec")),
    "marshalled_code": config(
        lambda c, found: found["dense"].update(
            class_name="Lambda",
            config={
                "name": "dense",
                "function": ["4wEAAAA=", None, None],
                "function_type": "lambda",
            },
        )
    ),
    "units_2_31": option("dense", "units", 2**31),
    "units_2_62": option("dense", "units", 2**62),
    "units_negative": option("dense", "units", -3),
    "units_zero": option("dense", "units", 0),
    "units_a_text": option("dense", "units", "2"),
    "units_a_fraction": option("dense", "units", 2.5),
    "units_beyond": config(lambda c, _: json.dumps(c).replace('"units": 2,', '"units": 1e400,')),
    "filters_2_40": option("conv", "filters", 2**40),
    "kernel_2_31": option("conv", "kernel_size", [2**31, 2**31]),
    "kernel_of_three": option("conv", "kernel_size", [3, 3, 3]),
    "strides_zero": option("conv", "strides", [0, 0]),
    "padding_unknown": option("conv", "padding", "round"),
    "axis_out_of_range": option("norm", "axis", 9),
    "lstm_of_2_33": option("lstm", "units", 2**33),
    "unrolled_input_of_2_40": config(
        lambda c, found: (found["x"]["config"].update(batch_input_shape=[None, 2**40, 8, 2]))
    ),
    "input_negative": config(
        lambda c, found: found["x"]["config"].update(batch_input_shape=[None, -8, 8, 2])
    ),
    "input_huge": config(
        lambda c, found: found["x"]["config"].update(batch_input_shape=[2**62, 2**62, 8, 2])
    ),
    "input_no_list": config(lambda c, found: found["x"]["config"].update(batch_input_shape=8)),
    "reshape_overflows": option("rows", "target_shape", [2**40, 2**40]),
    "activation_unknown": option("dense", "activation", "__import__('os').system('true')"),
    "initializer_unknown": option(
        "dense", "kernel_initializer", {"class_name": "eval", "config": {}}
    ),
    "dtype_unknown": option("dense", "dtype", "float33"),
    "no_weights": lambda f: f.__delitem__("model_weights"),
    "a_layer_too_few": names("model_weights", lambda n: n[:-1]),
    "a_layer_too_many": names("model_weights", lambda n: [*n, b"dense"]),
    "a_layer_not_there": names("model_weights", lambda n: [*n[:-1], b"nowhere"]),
    "a_weight_too_few": names("model_weights/dense", lambda n: n[:-1]),
    "a_weight_twice": names("model_weights/dense", lambda n: [*n, n[0]]),
    "a_weight_not_there": names("model_weights/dense", lambda n: [b"nowhere", n[1]]),
    "a_weight_is_a_group": names("model_weights/dense", lambda n: [b"dense", n[1]]),
    "a_weight_of_another_shape": replaced(0, (4, 3)),
    "a_weight_transposed": replaced(0, (2, 4)),
    "a_weight_of_no_axes": replaced(1, ()),
    "a_weight_empty": replaced(1, (0,)),
    "a_layer_is_data": weights(
        lambda g: (g.__delitem__("dense"), g.create_dataset("dense", data=np.zeros(3)))
    ),
    "training_cut_off": lambda f: f.attrs.__setitem__(
        "training_config", f.attrs["training_config"][:40]
    ),
    "no_optimizer": training(lambda c: c.pop("optimizer_config")),
    "unknown_optimizer": training(lambda c: c["optimizer_config"].update(class_name="TFOptimizer")),
    "unknown_loss": training(lambda c: c.update(loss="os.system")),
    "losses_for_nobody": training(lambda c: c.update(loss={"nowhere": "mse"})),
    "unknown_metric": training(lambda c: c.update(metrics=[["mse", "nothing"]])),
    "metrics_deep": training(lambda c: c.update(metrics=[[[[["mse"]]]]])),
    "state_of_other_shapes": names("optimizer_weights", lambda n: [n[0], *n[:0:-1]]),
}


@pytest.mark.parametrize("name", CASES)
def test_models_that_are_not_whole(name, good, tmp_path):
    path, usual = good
    bad = tmp_path / f"{name}.h5"
    bad.write_bytes(path.read_bytes())
    with h5py.File(bad, "r+") as file:
        CASES[name](file)
    code, text, memory = check(bad)
    assert code == 1, (code, text)
    assert bad.name in text and "bug" not in text, text
    assert memory < usual + 64, (memory, usual)


def test_there_are_forty_kinds():
    assert len(CASES) >= 40
