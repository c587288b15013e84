"""The onnx engine: faults of its library, and that it trains as native does. Each test is a process
of its own, for a process holds one engine."""

import functools
import pathlib
import shutil
import subprocess

import engine_process
import pytest
from engine_process import RUN

python = functools.partial(engine_process.python, "onnx")
refusal = functools.partial(engine_process.refusal, "onnx")


def library():
    """The runtime's shared library, as the engine finds it; a skip where there is none."""
    done = python("import horngate as K; K.eval(K.constant(1.0) + 1)")
    engine_process.skip_unless_it_runs(done, "onnx")
    maps = "(l.split()[-1] for l in open('/proc/self/maps') if 'libonnxruntime.so' in l)"
    program = RUN + f"print(next({maps}))"
    return pathlib.Path(python(program).stdout.split()[-1])


def test_a_missing_library(tmp_path):
    text = refusal(tmp_path)
    assert f"engine onnx: could not be opened: ONNX Runtime was not found in {tmp_path}." in text
    assert "pip install onnxruntime" in text


def test_a_file_that_is_no_library(tmp_path):
    (tmp_path / "libonnxruntime.so.1.31.1").write_text("not a library")
    assert "libonnxruntime.so.1.31.1 is not a 64-bit shared library" in refusal(tmp_path)


@pytest.mark.parametrize("part", [0.001, 0.5, 0.999])
def test_a_truncated_library(tmp_path, part):
    whole = library()
    cut = tmp_path / whole.name
    shutil.copy(whole, cut)
    with open(cut, "r+b") as file:
        file.truncate(int(whole.stat().st_size * part))
    assert "is cut off" in refusal(tmp_path)


def test_libraries_of_other_versions(tmp_path):
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler to build a library with")
    source = tmp_path / "old.cpp"
    source.write_text(
        "struct Base { const void* (*get)(unsigned); const char* (*version)(); };\n"
        "static const Base base = {[](unsigned) -> const void* { return nullptr; },\n"
        '                          []() { return "1.4.0"; }};\n'
        'extern "C" const Base* OrtGetApiBase() { return &base; }\n'
    )
    target = tmp_path / "libonnxruntime.so.1.4.0"
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", target], check=True)
    assert "is version 1.4.0; 1.17 or later is needed." in refusal(tmp_path)
    source.write_text("int unrelated;\n")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", target], check=True)
    assert "is not ONNX Runtime." in refusal(tmp_path)


def test_it_is_found_in_the_home_folder_and_in_packages(tmp_path):
    whole = library()
    place = tmp_path / "engines" / "onnx" / "onnxruntime" / "capi"
    place.mkdir(parents=True)
    (place / whole.name).symlink_to(whole)
    env = {"HORNGATE_ONNX": "", "HORNGATE_PYTHON_PATHS": ""}
    assert python(RUN, **env, HORNGATE_HOME=str(tmp_path)).stdout == "4.0\n"
    env["HORNGATE_PYTHON_PATHS"] = str(tmp_path / "engines" / "onnx")
    assert python(RUN, **env, HORNGATE_HOME=str(tmp_path / "none")).stdout == "4.0\n"


def test_the_list_of_engines_tells(tmp_path):
    program = "import horngate._horngate as h; print(h.backend())"
    assert python(program).stdout == "onnx\n"


TRAIN = """
import horngate as K, numpy as np
rng = np.random.default_rng(0)
def weight(*shape): return K.variable(rng.uniform(-0.3, 0.3, shape))
x, y = K.placeholder((None, 8, 8, 1)), K.placeholder((None, 5))
ws = [weight(3, 3, 1, 4), weight(64, 12), weight(12, 48), weight(12, 48), weight(12, 5)]
h = K.relu(K.conv2d(x, ws[0], padding="same"))
h = K.pool2d(h, (2, 2), strides=(2, 2), pool_mode="avg")
h = K.normalize_batch_in_training(h, K.ones((4,)), K.zeros((4,)), [0, 1, 2])[0]
h = K.tanh(K.dot(K.batch_flatten(h), ws[1]))
def step(i, s):
    z = K.dot(i, ws[2]) + K.dot(s[0], ws[3])
    f, o, g = K.sigmoid(z[:, :12]), K.sigmoid(z[:, 12:24]), K.tanh(z[:, 24:36])
    c = f * s[1] + (1 - f) * g
    out = o * K.tanh(c)
    return out, [out, c]
seq = K.stack([h, 0.5 * h, -h], axis=1)
last, _, _ = K.rnn(step, seq, [K.zeros_like(h), K.zeros_like(h)])
p = K.softmax(K.dot(last, ws[4]))
loss = K.mean(K.categorical_crossentropy(y, p))
grads = K.gradients(loss, ws)
train = K.function([x, y], [loss], [K.update_sub(w, 0.1 * g) for w, g in zip(ws, grads)])
for i in range(50):
    a = rng.uniform(-1, 1, (16, 8, 8, 1)); b = np.eye(5)[rng.integers(0, 5, 16)]
    print(float(train([a, b])[0]))
"""


def test_training_is_that_of_native():
    library()
    ours, native = python(TRAIN), python(TRAIN, KERAS_BACKEND="native")
    assert ours.returncode == 0, ours.stderr
    assert "runs on native" not in ours.stderr, "a part was not run by the engine"
    curves = [[float(v) for v in done.stdout.split()] for done in (ours, native)]
    assert len(curves[0]) == 50 and curves[0][-1] != curves[0][0]
    assert max(abs(a - b) for a, b in zip(*curves)) < 1e-3
