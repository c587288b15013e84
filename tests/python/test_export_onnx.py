"""K.export_onnx: the checker accepts every model, and ONNX Runtime computes from it what we do."""

import os
import pathlib
import sys

import engine_process
import horngate as K
import numpy as np
import pytest
from cases import engines, harness, modes

onnx = pytest.importorskip("onnx", reason="the onnx package is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the onnxruntime package is not installed")
from google.protobuf.message import DecodeError  # noqa: E402

OPSET = 18
ORDERED = ("max", "min", "argmax", "argmin")
# Functions that an inference model cannot hold, and the word that the error then names.
NOT_EXPORTED = {
    "ctc_batch_cost": "ctc_loss",
    "ctc_decode": "ctc_",
    "print_tensor": "print",
}


def session(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", OPSET)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run(path, arrays):
    s = session(path)
    try:
        return s.run(None, {i.name: a for i, a in zip(s.get_inputs(), arrays)})
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail as e:
        if "running Scan node" in str(e) and "Dimension 0 is 0" in str(e):
            pytest.skip("ONNX Runtime's Scan takes no sequences without elements")
        raise


def every_case():
    """(file, case) of all cases that run with open dimensions, each function with a few."""
    for path in sorted(harness.FOLDER.glob("*.py")):
        if not harness.is_case_file(path):
            continue
        seen = set()
        for item in harness.items_of(path, [engines.find("native")]):
            if item.mode == "none" and not item.case.slow and item.case.label not in seen:
                seen.add(item.case.label)
                yield pytest.param(item.case, item.arguments["dtype"], id=item.case.label)


@pytest.mark.parametrize("case, dtype", list(every_case()))
@pytest.mark.parametrize("open_dims", [True, False], ids=["open", "fixed"])
def test_values(case, dtype, open_dims, tmp_path):
    xs, ys = case.build(dtype, open_dims=open_dims)
    arrays = case.arrays(dtype)
    function = K.function(xs, ys)
    wanted = function(arrays)
    path = tmp_path / "model.onnx"
    name = harness.name_of(case.function)
    if name in NOT_EXPORTED:
        with pytest.raises(NotImplementedError, match=NOT_EXPORTED[name]):
            K.export_onnx(function, path)
        return
    K.export_onnx(function, path)
    if any(a.size == 0 for a in arrays):
        if name.startswith("local_conv"):
            pytest.skip("ONNX Runtime's MatMul of matrices without rows ends the process")
    if open_dims and case.label == "rnn(a state that is repeated)":
        pytest.skip("ONNX's Scan keeps the shapes of states, and how often to repeat is not known")
    if "bfloat16" in case.label:
        session(path)
        pytest.skip("the onnxruntime package cannot give bfloat16 to NumPy")
    if any(np.isnan(a).any() for a in arrays if a.dtype.kind == "f") and name in ORDERED:
        pytest.skip("ONNX leaves it to the runtime what the largest of NaN and others is")
    for got, want in zip(run(path, arrays), wanted, strict=True):
        assert got.dtype == want.dtype
        tol = 8 * modes.TOLERANCES.get(str(want.dtype), 0)
        largest = np.abs(want[np.isfinite(want)]).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=tol, atol=tol * (1 + largest))


def dims(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def small_net():
    x = K.placeholder((None, 8, 8, 3), name="image")
    kernel = K.variable(np.random.uniform(-1, 1, (3, 3, 3, 4)), name="kernel")
    h = K.relu(K.conv2d(x, kernel, padding="same", strides=(2, 2)))
    h = K.in_train_phase(K.dropout(h, 0.5), h)
    h = K.pool2d(h, (2, 2), strides=(2, 2))
    w = K.variable(np.random.uniform(-1, 1, (16, 5)), name="weights")
    return x, K.softmax(K.dot(K.batch_flatten(h), w)), kernel


def test_a_net_of_any_batch(tmp_path):
    x, y, kernel = small_net()
    path = tmp_path / "net.onnx"
    function = K.function([x, K.learning_phase()], [y])
    K.export_onnx(function, path)
    model = onnx.load(path)
    assert [i.name for i in model.graph.input] == ["image"]
    assert dims(model.graph.input[0]) == ["batch", 8, 8, 3]
    assert {"kernel", "weights"} <= {i.name for i in model.graph.initializer}
    np.testing.assert_array_equal(
        onnx.numpy_helper.to_array(next(i for i in model.graph.initializer if i.name == "kernel")),
        K.get_value(kernel),
    )
    s = session(path)
    for n in (1, 3, 7):
        image = np.random.uniform(-1, 1, (n, 8, 8, 3)).astype("float32")
        np.testing.assert_allclose(
            s.run(None, {"image": image})[0], function([image, 0])[0], rtol=1e-5, atol=1e-6
        )


def test_a_recurrent_net_of_any_length(tmp_path):
    x = K.placeholder((None, None, 3), name="x")
    w, u = (K.variable(np.random.uniform(-1, 1, (n, 4))) for n in (3, 4))

    def step(i, states):
        h = K.tanh(K.dot(i, w) + K.dot(states[0], u))
        return h, [h]

    start = K.zeros_like(x[:, 0, :1]) + K.zeros((1, 4))
    last, all_of_them, _ = K.rnn(step, x, [start], go_backwards=True)
    function = K.function([x], [last, all_of_them])
    path = tmp_path / "rnn.onnx"
    K.export_onnx(function, path)
    for n, length in ((1, 1), (2, 5), (3, 9)):
        fed = np.random.uniform(-1, 1, (n, length, 3)).astype("float32")
        for got, want in zip(run(path, [fed]), function([fed]), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_gradient_is_a_graph_too(tmp_path):
    x = K.placeholder((4, 6, 6, 2), name="x")
    kernel = K.variable(np.random.uniform(-1, 1, (3, 3, 2, 3)))
    y = K.pool2d(K.conv2d(x, kernel, padding="same"), (2, 2), strides=(2, 2))
    function = K.function([x], K.gradients(K.sum(y * y), [x, kernel]))
    path = tmp_path / "gradient.onnx"
    K.export_onnx(function, path)
    fed = np.random.uniform(-1, 1, (4, 6, 6, 2)).astype("float32")
    for got, want in zip(run(path, [fed]), function([fed]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_names_of_inputs_and_outputs_are_unlike(tmp_path):
    x, y = K.placeholder((None,), name="v"), K.placeholder((None,), name="v_other")
    K.export_onnx(K.function([x, y], [x, x, y + 1, K.constant(2.0)]), tmp_path / "m.onnx")
    got = run(tmp_path / "m.onnx", [np.float32([1]), np.float32([2, 3])])
    assert [g.tolist() for g in got] == [[1], [1], [3, 4], 2]
    model = onnx.load(tmp_path / "m.onnx")
    names = [v.name for v in (*model.graph.input, *model.graph.output)]
    assert len(set(names)) == 6
    assert dims(model.graph.input[0]) != dims(model.graph.input[1])


def test_variables_are_those_of_the_moment(tmp_path):
    v = K.variable([1.0, 2.0])
    function = K.function([], [v * 2])
    K.export_onnx(function, tmp_path / "m.onnx")
    K.set_value(v, [5.0, 6.0])
    np.testing.assert_array_equal(run(tmp_path / "m.onnx", [])[0], [2, 4])


def error_of(function, path):
    try:
        K.export_onnx(function, path)
    except (ValueError, TypeError, NotImplementedError, RuntimeError) as e:
        return f"{type(e).__name__}: {e}"
    return "no error"


def test_errors(tmp_path):
    path = tmp_path / "m.onnx"
    x, v = K.placeholder((2,), name="x"), K.variable([1.0, 2.0])
    assert error_of(K.function([x], [x], [K.update(v, x)]), path) == (
        "ValueError: export_onnx: the function must not have updates, because a model has no state; got 1."
    )
    assert error_of(len, path).startswith(
        "TypeError: export_onnx: function must be a result of K.function; got"
    )
    text = error_of(K.function([x], [x + K.random_normal((2,), seed=1)]), path)
    assert text.startswith(
        "NotImplementedError: export_onnx: this cannot be written as ONNX: random"
    )
    s = K.placeholder((2, 2), name="s", sparse=True)
    assert error_of(K.function([s], [K.dot(s, K.ones((2, 2)))]), path) == (
        'TypeError: export_onnx: input 0 "s" is sparse, which ONNX does not support.'
    )
    path.write_text("stays")
    text = error_of(K.function([x], [x]), tmp_path / "no folder" / "m.onnx")
    assert text.startswith("RuntimeError: export_onnx: cannot write") and "No such file" in text
    assert path.read_text() == "stays" and os.listdir(tmp_path) == ["m.onnx"]


def test_a_damaged_model_is_noticed(tmp_path):
    """The tests above can fail: the checker does look."""
    x = K.placeholder((2,), name="x")
    K.export_onnx(K.function([x], [K.exp(x)]), tmp_path / "m.onnx")
    data = (tmp_path / "m.onnx").read_bytes()
    (tmp_path / "m.onnx").write_bytes(data.replace(b"Exp", b"Nxp"))
    with pytest.raises(
        (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, DecodeError)
    ):
        session(tmp_path / "m.onnx")


def python(home, *arguments):
    """Another process, in which Keras writes its settings to a folder that goes."""
    return engine_process.run(
        sys.executable, *arguments, KERAS_BACKEND="horngate", KERAS_HOME=str(home)
    )


PROGRAM = pathlib.Path(K.__file__).parents[2] / "bin/horngate"


@pytest.fixture(params=["python", "program"])
def command(request, tmp_path):
    """The two commands: through Keras, and without Python."""
    if request.param == "program":
        if not PROGRAM.exists():
            pytest.skip(f"{PROGRAM} is not built")
        return lambda *arguments: engine_process.run(PROGRAM, "export", *arguments)
    return lambda *arguments: python(tmp_path, "-m", "horngate", "export", *arguments)


def test_what_the_command_refuses(command, tmp_path):
    done = command()
    assert done.returncode != 0 and "usage: horngate export MODEL.h5 OUT.onnx" in done.stderr
    done = command("no-such.h5", tmp_path / "m.onnx")
    assert done.returncode == 1 and "no-such.h5" in done.stderr
    assert not pathlib.Path(tmp_path / "m.onnx").exists()


SAVE = """
import sys, keras, numpy as np
from keras.layers import *
model = keras.models.Sequential([
    Conv2D(4, 3, padding="same", activation="relu", input_shape=(8, 8, 3)), BatchNormalization(),
    MaxPooling2D(), Dropout(0.3), Conv2DTranspose(4, 3, strides=2, padding="same"),
    GlobalAveragePooling2D(), Reshape((2, 2)), LSTM(5, return_sequences=True), GRU(4), Dense(3)])
model.save(sys.argv[1] + "/m.h5")
x = np.random.rand(5, 8, 8, 3).astype("float32")
np.savez(sys.argv[1] + "/values.npz", x=x, y=model.predict(x))
"""


def test_the_command_and_a_model_of_keras(command, tmp_path):
    done = python(tmp_path, "-c", "import keras, h5py; assert keras.__version__ < '2.4'")
    if done.returncode != 0:
        pytest.skip("Keras 2.3.1 is not installed: " + done.stderr.strip().splitlines()[-1])
    done = python(tmp_path, "-c", SAVE, tmp_path)
    assert done.returncode == 0, done.stderr
    done = command(tmp_path / "m.h5", tmp_path / "m.onnx")
    assert done.returncode == 0, done.stderr
    values = np.load(tmp_path / "values.npz")
    [got] = run(tmp_path / "m.onnx", [values["x"]])
    np.testing.assert_allclose(got, values["y"], rtol=1e-5, atol=1e-6)


def permuted_dot(perm, dtype):
    x, y = K.placeholder((3, 3, 3), dtype=dtype), K.placeholder((3, 4), dtype=dtype)
    return [x, y], K.dot(K.permute_dimensions(x, perm), y)


def scaled_product(shape):
    x, y = K.placeholder(shape, dtype="float64"), K.placeholder(shape, dtype="float64")
    turned = K.permute_dimensions(y, (0, 2, 1))
    return [x, y], K.batch_dot(x / 3.0, turned) * 0.1 + K.batch_dot(x, turned * 0.7)


def pooled_padding(data_format, pool_mode, padding):
    x = K.placeholder((2, 4, 5, 3))
    wide = K.spatial_2d_padding(x - 3, ((1, 1), (1, 2)), data_format)
    return [x], K.pool2d(wide, (2, 2), (2, 2), padding, data_format, pool_mode)


# Where ONNX Runtime's own simplifications end the process or change the result, another form is written.
SAFE = {
    **{
        f"permuted {perm} {dtype}": (lambda p=perm, d=dtype: permuted_dot(p, d))
        for perm in ((1, 0, 2), (1, 2, 0), (0, 2, 1), (2, 1, 0))
        for dtype in ("float16", "float32")
    },
    **{
        f"scaled {shape}": (lambda s=shape: scaled_product(s))
        for shape in ((2, 3, 4), (1, 1, 1), (2, 3, 1), (None, None, 4))
    },
    **{
        f"{pool_mode} {padding} {data_format}": (
            lambda f=data_format, m=pool_mode, p=padding: pooled_padding(f, m, p)
        )
        for pool_mode in ("max", "avg")
        for padding in ("valid", "same")
        for data_format in ("channels_first", "channels_last")
    },
}


# In a process of its own: what is tested may end it.
STOCK = """
import sys, numpy as np, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
made = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
fed = np.load(sys.argv[2])
np.save(sys.argv[3], made.run(None, {i.name: fed[i.name] for i in made.get_inputs()})[0])
"""


@pytest.mark.parametrize("kind", SAFE)
def test_a_stock_runtime_changes_no_result(kind, tmp_path):
    inputs, output = SAFE[kind]()
    function = K.function(inputs, [output])
    model, feeds, result = (str(tmp_path / n) for n in ("model.onnx", "feeds.npz", "result.npy"))
    K.export_onnx(function, model)
    rng = np.random.default_rng(0)
    arrays = [
        rng.uniform(-1, 1, [2 if n is None else n for n in K.int_shape(x)]).astype(K.dtype(x))
        for x in inputs
    ]
    names = [i.name for i in onnx.load(model).graph.input]
    np.savez(feeds, **dict(zip(names, arrays)))
    done = engine_process.run(sys.executable, "-c", STOCK, model, feeds, result)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    [expected] = function(arrays)
    limit = {"float16": 4e-3, "float32": 1e-5, "float64": 1e-14}[K.dtype(output)]
    error = np.abs(np.load(result).astype("float64") - expected.astype("float64")).max()
    assert error <= limit, error
