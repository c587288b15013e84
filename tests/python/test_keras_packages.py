"""What packages built on Keras lean on, beyond what Keras's own tests touch."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import pytest

with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as home:
    patch.setenv("KERAS_BACKEND", "horngate")
    patch.setenv("KERAS_HOME", home)  # Keras writes its keras.json there
    keras = pytest.importorskip("keras", reason="Keras is not installed (make build does it)")

from keras import backend as K  # noqa: E402
from keras import layers, models  # noqa: E402


def test_the_truth_of_a_variable_is_true():
    """`if self.bias:` asks whether a layer has one."""
    for value in (0.0, np.zeros((2, 2)), np.zeros((0,))):
        variable = K.variable(value)
        assert variable and bool(variable)
        with pytest.raises(TypeError, match="a tensor has no truth value"):
            bool(variable + 1)
    with pytest.raises(TypeError, match="a tensor has no truth value"):
        bool(K.placeholder((1,)))
    with pytest.raises(TypeError, match="a tensor has no truth value"):
        bool(K.constant(1))


def test_tensors_have_no_length_to_ask_for():
    """keras-rl asks hasattr(output, "__len__") to tell a list of outputs from one."""
    for x in (K.placeholder((2,)), K.variable([1.0]), K.constant([1.0]) + 1):
        assert not hasattr(x, "__len__")
        with pytest.raises(TypeError):
            len(x)


def test_function_takes_nested_lists_of_values():
    a, b, c = (K.placeholder((2,)) for _ in range(3))
    f = K.function([a, b, c], [a + 10 * b + 100 * c])
    one, two, three = np.array([1, 1]), np.array([2, 2]), np.array([3, 3])
    for values in ([one, [two, three]], [[one, two], three], [[one, [two]], (three,)]):
        np.testing.assert_array_equal(f(values)[0], [321, 321])
    # A list of numbers is a value, as ever.
    np.testing.assert_array_equal(f([[1, 1], [2, 2], [3, 3]])[0], [321, 321])
    with pytest.raises(ValueError, match="takes 3 inputs; got 2"):
        f([[one, two]])


def test_function_takes_bare_tensors():
    x = K.placeholder((2,))
    value = np.array([1.0, 2.0])
    for given in (value, [value]):
        [y] = K.function(x, [x + 1])(given)
        np.testing.assert_array_equal(y, [2, 3])
        y = K.function(x, x + 1)(given)
        assert isinstance(y, np.ndarray) and y.shape == (2,)
        np.testing.assert_array_equal(y, [2, 3])
    np.testing.assert_array_equal(K.function([x], x + 1)([value]), [2, 3])


def test_function_skips_none_among_values():
    x, y = K.placeholder((2,)), K.placeholder((2,))
    f = K.function([x, y], [x + 1])
    np.testing.assert_array_equal(f([np.ones(2), None])[0], [2, 2])
    z = K.variable([5.0, 5.0])
    np.testing.assert_array_equal(K.function([x, z], [x + z])([np.ones(2), None])[0], [6, 6])
    # Also inside of a nested list.
    f = K.function([x, z, y], [x + z])
    np.testing.assert_array_equal(f([[np.ones(2), None], np.ones(2)])[0], [6, 6])


@pytest.mark.parametrize(
    "function, declared",
    [
        (lambda x: K.sum(x, axis=-1), (1,)),  # the result has one axis less
        (lambda x: K.sum(x, axis=-1, keepdims=True), (1,)),
        (lambda x: x, (2, 2)),  # and here one more is declared
    ],
)
def test_what_lambda_declares_is_believed(function, declared):
    x = layers.Input((4,))
    y = layers.Lambda(function, output_shape=declared)(x)
    assert K.int_shape(y) == y._keras_shape == (None, *declared)
    model = models.Model(x, y)
    assert model.output_shape == (None, *declared)
    model.compile("sgd", lambda y_true, y_pred: K.sum(y_pred))
    assert K.ndim(model.targets[0]) == 1 + len(declared)


def test_a_loss_made_by_a_lambda_trains_with_a_target_of_its_shape():
    """As keras-rl's agents and Keras's examples of CTC do it: the loss is the model's output."""
    x, y_true = layers.Input((4,)), layers.Input((3,))
    y = layers.Dense(3)(x)
    squares = layers.Lambda(lambda p: K.sum(K.square(p[0] - p[1]), axis=-1), output_shape=(1,))
    loss = squares([y_true, y])
    model = models.Model([x, y_true], loss)
    model.compile("sgd", lambda _, y_pred: y_pred)
    values = np.random.RandomState(0).rand(2, 8, 4)
    first = model.train_on_batch([values[0], values[1, :, :3]], np.zeros((8, 1)))
    for _ in range(20):
        last = model.train_on_batch([values[0], values[1, :, :3]], np.zeros((8, 1)))
    assert last < first


def test_a_picture_smaller_than_the_windows():
    """As Keras's deep_dream meets it: a model that takes any size has nothing to say about a small one."""
    x = layers.Input((None, None, 3))
    y = layers.MaxPooling2D()(layers.Conv2D(4, 3, activation="relu")(x))
    model = models.Model(x, y)
    for size, left in ((2, 0), (3, 0), (4, 1), (9, 3)):
        assert model.predict(np.ones((2, size, size, 3))).shape == (2, left, left, 4)
    dream = K.function([x], [K.sum(K.square(y)), *K.gradients(K.sum(K.square(y)), [x])])
    loss, gradient = dream([np.ones((1, 2, 2, 3))])
    assert loss == 0 and gradient.shape == (1, 2, 2, 3) and not gradient.any()
    with pytest.raises(ValueError, match="windows of 3 elements do not fit on axis 1"):
        layers.Conv2D(4, 3)(layers.Input((2, 2, 3)))


def test_an_empty_keras_json_means_the_defaults(tmp_path):
    """Keras writes the file in two steps, and takes an empty one for no settings."""
    (tmp_path / "keras.json").write_text("")
    env = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    env["KERAS_HOME"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", "import horngate; print(horngate.backend())"],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert done.stdout == "native\n", done.stderr
    assert (tmp_path / "keras.json").read_text() == ""


# Waits for a change in python/src/function.cpp: today it warns, and then raises a RuntimeError.
def test_function_warns_of_values_over():
    x = K.placeholder((2,))
    f = K.function([x], [x + 1])
    with pytest.warns(
        UserWarning, match="function: takes 1 input; got 2. What is over is ignored."
    ):
        np.testing.assert_array_equal(f([np.ones(2), np.zeros(3)])[0], [2, 2])
