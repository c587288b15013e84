"""Cases of Keras's own layer tests, and random ones of ours, through the C++ library and files: forward, gradients, three
steps of training, and the way Keras -> C++ -> Keras -> C++.

tests/models/layer_tests.json has what `layer_test` is called with while Keras 2.3.1's tests run: class, options that are
not the default, shape of the input.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "models"), str(TESTS / "python")]
import keras_cases  # noqa: E402
import test_keras_layers_convolutional as convolutional  # noqa: E402
import test_keras_layers_recurrent as recurrent  # noqa: E402
from draws_spatial import Draw  # noqa: E402
from keras_cases import agree, all_steps, equal, without_seeds  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, models, optimizers  # noqa: E402

RECORDED = json.loads((TESTS / "models" / "layer_tests.json").read_text())
PARTS = 8
# Their random numbers differ from process to process; only how they predict is compared.
NOISE = {
    "Dropout",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "GaussianNoise",
    "GaussianDropout",
    "AlphaDropout",
}


def trains(model):
    """Whether both sides train it alike."""
    for layer in model.layers:
        config = layer.get_config()
        random = config.get("dropout") or config.get("recurrent_dropout")
        # Of masks with two axes of time Keras makes no weights.
        if type(layer).__name__ in NOISE or random or config.get("mask_zero"):
            return False
    return bool(model.trainable_weights)


def recorded(index):
    """A model of one layer, as layer_test makes it, and its input."""
    name, options, shape, *more = RECORDED[index]
    more = more[0] if more else {}
    random = np.random.RandomState(index)
    dtype = more.get("dtype", "float32")
    sizes = [random.randint(1, 4) if n is None else n for n in shape]
    values = (
        random.uniform(0, 10, sizes).astype(dtype) if "int" in dtype else random.normal(size=sizes)
    )
    x = layers.Input(batch_shape=shape if more.get("fixed") else [None, *shape[1:]], dtype=dtype)
    layer = getattr(layers, name).from_config({"name": f"layer_{index}", **options})
    return models.Model(x, layer(x)), [values.astype(dtype)]


def drawn(index):
    """Random options: layers with weights."""
    kinds = [
        ("Conv1D", 1, ["kernel"]),
        ("Conv2D", 2, ["kernel"]),
        ("SeparableConv2D", 2, ["depthwise", "pointwise"]),
    ]
    if index % 2:
        for seed in range(500 + 50 * index, 550 + 50 * index):
            model, batches, _ = recurrent.case(["SimpleRNN", "GRU", "LSTM"][index % 3], seed)
            if not model.stateful:  # those have tests of their own
                return model, batches[0]
    name, rank, weights = kinds[index % 3]
    model, inputs, _ = convolutional.convolution(Draw(name, 500 + index), name, rank, weights)
    return model, inputs if isinstance(inputs, list) else [inputs]


def go_round(made, folder):
    """The models there and back again."""
    cases, wanted = [], []
    for i, (model, inputs) in enumerate(made):
        model.compile(optimizers.SGD(1e-3, momentum=0.9), "mse")
        predicted = model.predict(inputs, batch_size=len(inputs[0]))
        predicted = predicted if isinstance(predicted, list) else [predicted]
        targets = [np.tanh(p).astype(p.dtype) * 0.5 for p in predicted]
        if any(layer.stateful for layer in model.layers):
            model.reset_states()
        first = str(folder / f"{i}.h5")
        model.save(first)
        steps = [{"do": "load", "path": first}, {"do": "to_json"}, {"do": "weights"}]
        x, y = ([keras_cases.described(a) for a in arrays] for arrays in (inputs, targets))
        steps += [{"do": "predict", "x": x}, {"do": "reset_states"}]
        count = 3 if trains(model) else 0
        steps += [{"do": "train", "x": x, "y": y}] * count
        steps += [{"do": "weights"}, {"do": "save", "path": str(folder / f"{i}.back.h5")}]
        cases.append(steps)
        before = model.get_weights()
        losses = [model.train_on_batch(inputs, targets) for _ in range(count)]
        losses = [np.atleast_1d(v) for v in losses]
        wanted.append((model.get_config(), before, predicted, losses, model.get_weights()))
    got = all_steps(cases, folder)
    for one, (config, before, predicted, losses, after) in zip(got, wanted):
        said = json.dumps(keras_cases.plain(config))[:1500]
        assert not isinstance(one, dict), f"{said}: {one}"
        assert json.loads(one[1])["config"] == keras_cases.plain(config), said
        equal(one[2], before, said)
        agree(one[3], predicted, said)
        agree(one[5 : 5 + len(losses)], losses, said)
        agree(one[5 + len(losses)], after, said)
    # On in Python, from what C++ saved, and back to C++.
    last = []
    for i, one in enumerate(got):
        again = models.load_model(str(folder / f"{i}.back.h5"))
        assert without_seeds(again.get_config()) == without_seeds(json.loads(one[1])["config"])
        equal(one[-2], again.get_weights(), one[1])
        state = again.optimizer.get_weights() if len(one) > 7 else []
        again.save(str(folder / f"{i}.h5"))
        steps = [
            {"do": "load", "path": str(folder / f"{i}.h5")},
            {"do": "to_json"},
            {"do": "weights"},
        ]
        last.append(steps + ([{"do": "optimizer_weights"}] if state else []))
        got[i] = (one, state)
    for (one, state), end in zip(got, all_steps(last, folder)):
        assert not isinstance(end, dict), end
        assert without_seeds(json.loads(end[1])) == without_seeds(json.loads(one[1]))
        assert end[2] == one[-2]
        if state:
            equal(end[3], state, end[1])


@pytest.mark.parametrize("part", range(PARTS))
def test_recorded_cases(part, tmp_path):
    go_round([recorded(i) for i in range(part, len(RECORDED), PARTS)], tmp_path)
    K.clear_session()


@pytest.mark.parametrize("part", range(PARTS))
def test_random_cases(part, tmp_path):
    go_round([drawn(i) for i in range(part, 200, PARTS)], tmp_path)
    K.clear_session()


@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_of_recorded_cases(part):
    """By the inputs and by the weights."""
    keras_cases.check([(*recorded(i), False) for i in range(part, len(RECORDED), PARTS)])
    K.clear_session()


def test_there_are_enough():
    assert len(RECORDED) + 200 >= 400 and len({name for name, *_ in RECORDED}) >= 50
