"""What Keras 2.3.1 says of wrong programs, and that it says nothing of right ones."""

import os
import tempfile
import warnings

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")

from horngate.keras_compat import _messages  # noqa: E402
from keras import backend as K  # noqa: E402
from keras import layers, losses, models  # noqa: E402

HINT = ". Did you forget the batch dimension? One sample is a batch of one: x[None]."
LAYER = " comes from no layer. Put the K functions that make it into one: Lambda(lambda t: ..)(x)."


def message(error, function, *args, **options):
    with pytest.raises(error) as caught:
        function(*args, **options)
    return str(caught.value)


def test_a_sample_without_its_batch_axis():
    model = models.Sequential([layers.Dense(2, input_dim=3, name="d")])
    expected = "Error when checking input: expected d_input to have shape (3,) but got array with shape (1,)"
    assert message(ValueError, model.predict, np.zeros(3)) == expected + HINT
    assert message(ValueError, model.predict, {"d_input": np.zeros(3)}) == expected + HINT
    assert message(ValueError, model.predict, [np.zeros(3)]) == expected + HINT
    model = models.Sequential([layers.ReLU(input_shape=(None, 2), name="f")])
    expected = "Error when checking input: expected f_input to have 3 dimensions, but got array with shape (5, 2)"
    assert message(ValueError, model.predict, np.zeros((5, 2))) == expected + HINT


def test_one_of_two_inputs():
    x, y = layers.Input((3,)), layers.Input((2, 2))
    model = models.Model([x, y], layers.concatenate([x, layers.Flatten()(y)]))
    assert message(ValueError, model.predict, [np.zeros((1, 3)), np.zeros((2, 2))]).endswith(HINT)


def test_other_shapes_are_not_asked():
    model = models.Sequential([layers.Dense(2, input_dim=3)])
    model.compile("sgd", "mse")
    for wrong in (np.zeros(4), np.zeros((1, 4)), np.zeros((2, 2, 3))):
        assert "batch dimension" not in message(ValueError, model.predict, wrong)
    # Two labels may be two samples.
    text = message(ValueError, model.train_on_batch, np.zeros((2, 3)), np.zeros(2))
    assert text.startswith("Error when checking target") and "batch dimension" not in text


LOSSES = ["sparse_categorical_crossentropy", losses.sparse_categorical_crossentropy]
if hasattr(losses, "SparseCategoricalCrossentropy"):
    LOSSES.append(losses.SparseCategoricalCrossentropy())


def three_classes(loss):
    model = models.Sequential([layers.Dense(3, activation="softmax", input_dim=2, name="d")])
    model.compile("sgd", loss, metrics=["accuracy"])
    return model


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["fit", "evaluate", "train_on_batch", "test_on_batch"])
def test_labels_out_of_range(loss, name):
    x = np.zeros((4, 2))
    for label in (3, -1, 2.5e9):
        run = getattr(three_classes(loss), name)
        assert message(ValueError, run, x, np.array([0, 1, 2, label])) == (
            'sparse_categorical_crossentropy: labels must be in [0, 3) for output "d" of shape (None, 3);'
            f" got {label:.12g}. Number the classes from 0, or give the output one unit for each."
        )
    run = getattr(three_classes(loss), name)
    run(x, np.array([0, 1, 2, 2]))
    run(x, y=np.array([[0], [1], [2], [2]], dtype="float64"))


def test_fit_looks_at_labels_before_it_trains():
    model = three_classes(LOSSES[0])
    before = model.get_weights()
    message(
        ValueError, model.fit, np.ones((4, 2)), np.array([0, 1, 2, 3]), batch_size=1, shuffle=False
    )
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))


def test_a_loss_that_is_nan_for_another_reason():
    assert np.isnan(three_classes(LOSSES[0]).train_on_batch(np.full((2, 2), np.nan), np.ones(2))[0])


def test_labels_that_have_no_value_yet():
    """Keras 2.2 hands tensors on as if they were arrays."""
    model = three_classes(losses.sparse_categorical_crossentropy)
    wrong = [K.constant([[3]]), None, np.array(["3"]), np.array([])]
    for target in wrong:
        _messages._check_classes(model, [target], losses.sparse_categorical_crossentropy)


def test_labels_of_another_loss_and_output():
    x = layers.Input((2,))
    model = models.Model(
        x,
        [
            layers.Dense(1, name="number")(x),
            layers.Dense(2, activation="softmax", name="class")(x),
        ],
    )
    model.compile("sgd", ["mse", "sparse_categorical_crossentropy"])
    model.train_on_batch(np.zeros((2, 2)), [np.array([7, -7]), np.array([0, 1])])
    text = message(
        ValueError, model.train_on_batch, np.zeros((2, 2)), [np.array([7, -7]), np.array([0, 2])]
    )
    assert '[0, 2) for output "class" of shape (None, 2); got 2.' in text


def test_tensors_that_no_layer_made():
    x = layers.Input((5,))
    between = K.expand_dims(layers.Dense(4)(x))
    shared = layers.Flatten(name="flat")(between)
    top = layers.add([layers.Dense(4)(x), shared])
    expected = (
        "'NoneType' object has no attribute '_inbound_nodes': the tensor "
        f'"{between.name}" of shape (None, 4, 1), that "flat" takes,' + LAYER
    )
    assert message(AttributeError, models.Model, x, top) == expected
    assert message(AttributeError, models.Model, [x], [x, top]) == expected
    text = message(ValueError, models.Model, x, K.relu(x))
    assert text.startswith("Output tensors to a Model must be") and text.endswith("," + LAYER)


def test_other_errors_of_models_stay():
    x, y = layers.Input((5,)), layers.Input((5,))
    text = message(ValueError, models.Model, x, layers.add([x, y]))
    assert text.startswith("Graph disconnected") and LAYER not in text


def shapes_told(function, *inputs, **options):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        layers.Lambda(function, name="told", **options)(
            inputs[0] if len(inputs) == 1 else [*inputs]
        )
    return [w for w in found if "output_shape of" in str(w.message)]


def test_lambda_shapes():
    (warning,) = shapes_told(
        lambda t: K.max(t, axis=1), layers.Input((None, 30)), output_shape=(50,)
    )
    assert str(warning.message) == (
        'Lambda: output_shape of "told" must be that of what its function gives, (None, 30);'
        " got (None, 50). Leave it out."
    )
    assert os.path.samefile(warning.filename, __file__)
    assert shapes_told(lambda t: K.sum(t, axis=1), layers.Input((3,)), output_shape=(1,))


def test_lambda_shapes_that_are_right():
    x = layers.Input((None, 30))
    assert not shapes_told(lambda t: K.max(t, axis=1), x)
    assert not shapes_told(lambda t: K.max(t, axis=1), x, output_shape=(30,))
    assert not shapes_told(lambda t: t, x, output_shape=(7, 30))  # 7 may be right
    assert not shapes_told(lambda t: t[0] + t[1], x, x, output_shape=lambda shapes: shapes[0])


def test_a_value_where_there_is_none_yet():
    x = K.placeholder((None, 2), name="waits")
    for function in (K.eval, K.get_value):
        assert message(ValueError, function, x) == (
            'function: placeholder "waits" of shape (None, 2) is needed but not among the inputs. It has no'
            " value while the graph is built: compute with K functions instead."
        )
