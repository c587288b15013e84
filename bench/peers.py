"""The contenders of bench/run.py: a process each, so that their threads and allocators do not meet.

    python bench/peers.py <contender> <threads>

reads commands as lines of JSON on standard input, {"workload": ..., "seconds": ..., "clock": ...}
with "cpu" or "wall" as clock, and answers each with a line: {"samples": [seconds per call, ...],
"check": [...]} or {"error": ...}. A contender is a class with a method per kind of workload that
gives a callable; a call does the work once, waits for the result and returns it.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ELEMENTS = {"elem_1k": 1_000, "elem_1M": 1_000_000, "elem_10M": 10_000_000}
SIDES = {"matmul_512": 512, "matmul_1024": 1024}
WORKLOADS = ["call_add1", "call_add1_np", *ELEMENTS, *SIDES, "conv3x3_nhwc"]
LEAST_BATCH = 500e-6  # seconds; so that reading the clock costs nothing
SHORT_CALL = 2e-3  # fits between two interruptions; CPU clocks are too coarse for less


def randn(*shape, seed=0):
    import numpy as np

    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


class Contender:
    """What all share: which method makes which workload, on which data."""

    def __init__(self, threads):
        self.threads = threads

    def make(self, workload):
        if workload in ELEMENTS:
            return self.elementwise(randn(ELEMENTS[workload]))
        if workload in SIDES:
            side = SIDES[workload]
            return self.matmul(randn(side, side), randn(side, side, seed=1))
        if workload == "conv3x3_nhwc":
            return self.conv(randn(32, 56, 56, 64), randn(3, 3, 64, 64, seed=1))
        one = randn(1) * 0 + 1
        return self.call(one) if workload == "call_add1" else self.call_numpy(one)

    def call_numpy(self, x):
        return self.call(x)


class Horngate(Contender):
    """A K.function takes and gives NumPy arrays, so both call workloads are the same."""

    def __init__(self, threads):
        super().__init__(threads)
        if importlib.util.find_spec("horngate") is None:
            sys.path.insert(0, str(ROOT / "build" / "python"))
        import horngate
        from horngate._horngate import set_quiet

        set_quiet(True)
        self.k = horngate

    def function(self, arrays, make):
        inputs = [self.k.placeholder(shape=(None, *a.shape[1:])) for a in arrays]
        function = self.k.function(inputs, [make(*inputs)])
        return lambda: function(arrays)[0]

    def call(self, x):
        return self.function([x], lambda x: x + 1.0)

    def elementwise(self, x):
        k = self.k
        return self.function([x], lambda x: k.sigmoid(1.1 * x + 0.3) * k.tanh(x) + k.exp(-x * x))

    def matmul(self, a, b):
        return self.function([a, b], self.k.dot)

    def conv(self, x, w):
        kernel = self.k.variable(w)
        return self.function(
            [x],
            lambda x: self.k.conv2d(x, kernel, padding="same", data_format="channels_last"),
        )


class NumPy(Contender):
    def call(self, x):
        return lambda: x + 1.0

    def elementwise(self, x):
        import numpy as np

        return lambda: 1 / (1 + np.exp(-(1.1 * x + 0.3))) * np.tanh(x) + np.exp(-x * x)

    def matmul(self, a, b):
        return lambda: a @ b

    def conv(self, x, w):
        """NumPy has no convolution: one product per tap on shifted data."""
        import numpy as np

        rows, columns = x.shape[1:3]

        def run():
            padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
            total = np.zeros((*x.shape[:3], w.shape[3]), np.float32)
            for i in range(3):
                for j in range(3):
                    total += padded[:, i : i + rows, j : j + columns] @ w[i, j]
            return total

        return run


class Torch(Contender):
    """Eager, without gradients; NHWC data are seen as NCHW with torch's channels_last order."""

    def __init__(self, threads):
        super().__init__(threads)
        import torch

        self.t = torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)

    def call(self, x):
        x = self.t.from_numpy(x)
        return lambda: x + 1.0

    def call_numpy(self, x):
        return lambda: (self.t.from_numpy(x) + 1.0).numpy()

    def elementwise(self, x):
        t, x = self.t, self.t.from_numpy(x)
        return lambda: t.sigmoid(1.1 * x + 0.3) * t.tanh(x) + t.exp(-x * x)

    def matmul(self, a, b):
        a, b = self.t.from_numpy(a), self.t.from_numpy(b)
        return lambda: a @ b

    def conv(self, x, w):
        x = self.t.from_numpy(x).permute(0, 3, 1, 2)
        w = self.t.from_numpy(w).permute(3, 2, 0, 1)
        w = w.contiguous(memory_format=self.t.channels_last)
        conv2d = self.t.nn.functional.conv2d
        return lambda: conv2d(x, w, padding=1)


class Jax(Contender):
    """Compiled by jit; a call waits until the result is ready."""

    def __init__(self, threads):
        super().__init__(threads)
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        self.jax = jax
        jax.devices()  # starts its threads

    def compiled(self, function, *arrays):
        run = self.jax.jit(function)
        arrays = [self.jax.numpy.asarray(a) for a in arrays]
        return lambda: run(*arrays).block_until_ready()

    def call(self, x):
        return self.compiled(lambda x: x + 1.0, x)

    def call_numpy(self, x):
        import numpy as np

        run = self.jax.jit(lambda x: x + 1.0)
        return lambda: np.asarray(run(x))

    def elementwise(self, x):
        j, n = self.jax, self.jax.numpy
        return self.compiled(lambda x: j.nn.sigmoid(1.1 * x + 0.3) * n.tanh(x) + n.exp(-x * x), x)

    def matmul(self, a, b):
        return self.compiled(lambda a, b: a @ b, a, b)

    def conv(self, x, w):
        order = ("NHWC", "HWIO", "NHWC")
        conv = self.jax.lax.conv_general_dilated
        return self.compiled(lambda x, w: conv(x, w, (1, 1), "SAME", dimension_numbers=order), x, w)


class TensorFlow(Contender):
    """tf.function without XLA; its CPU kernels are done when the call returns."""

    def __init__(self, threads):
        super().__init__(threads)
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
        os.environ["KERAS_BACKEND"] = "tensorflow"  # whatever ~/.keras/keras.json says
        import tensorflow

        self.tf = tensorflow
        tensorflow.config.threading.set_intra_op_parallelism_threads(threads)
        tensorflow.config.threading.set_inter_op_parallelism_threads(threads)
        tensorflow.constant(0.0)  # starts its threads

    def compiled(self, function, *arrays):
        run = self.tf.function(function, autograph=False)
        arrays = [self.tf.constant(a) for a in arrays]
        return lambda: run(*arrays)

    def call(self, x):
        return self.compiled(lambda x: x + 1.0, x)

    def call_numpy(self, x):
        signature = [self.tf.TensorSpec(x.shape, self.tf.float32)]
        run = self.tf.function(lambda x: x + 1.0, input_signature=signature)
        return lambda: run(x).numpy()

    def elementwise(self, x):
        t = self.tf
        return self.compiled(lambda x: t.sigmoid(1.1 * x + 0.3) * t.tanh(x) + t.exp(-x * x), x)

    def matmul(self, a, b):
        return self.compiled(lambda a, b: a @ b, a, b)

    def conv(self, x, w):
        return self.compiled(lambda x, w: self.tf.nn.conv2d(x, w, 1, "SAME"), x, w)


class OnnxRuntime(Contender):
    """NumPy in and out. ONNX knows convolutions of NCHW data only, so those get NCHW data."""

    def __init__(self, threads):
        super().__init__(threads)
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime

    def session(self, nodes, constants=None, **inputs):
        """Nodes are (operator, operands, result[, attributes]); the last result is the graph's."""
        import numpy as np

        h = self.onnx.helper
        made = [h.make_node(n[0], n[1].split(), [n[2]], **(n[3] if n[3:] else {})) for n in nodes]
        floats = self.onnx.TensorProto.FLOAT
        graph = h.make_graph(
            made,
            "bench",
            [h.make_tensor_value_info(name, floats, a.shape) for name, a in inputs.items()],
            [h.make_tensor_value_info(nodes[-1][2], floats, None)],
            [
                self.onnx.numpy_helper.from_array(np.ascontiguousarray(a, np.float32), name)
                for name, a in (constants or {}).items()
            ],
        )
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=9)
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = self.ort.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return lambda: session.run(None, inputs)[0]

    def call(self, x):
        return self.session([("Add", "x one", "y")], {"one": 1}, x=x)

    def elementwise(self, x):
        nodes = [
            ("Mul", "x scale", "scaled"),
            ("Add", "scaled shift", "shifted"),
            ("Sigmoid", "shifted", "sigmoid"),
            ("Tanh", "x", "tanh"),
            ("Mul", "sigmoid tanh", "product"),
            ("Mul", "x x", "square"),
            ("Neg", "square", "negative"),
            ("Exp", "negative", "exp"),
            ("Add", "product exp", "y"),
        ]
        return self.session(nodes, {"scale": 1.1, "shift": 0.3}, x=x)

    def matmul(self, a, b):
        return self.session([("MatMul", "a b", "y")], a=a, b=b)

    def conv(self, x, w):
        import numpy as np

        nodes = [("Conv", "x w", "y", {"pads": [1, 1, 1, 1]})]
        data = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        return self.session(nodes, {"w": w.transpose(3, 2, 0, 1)}, x=data)


# The first two are always there; the others when they can be imported.
CONTENDERS = {
    "horngate": Horngate,
    "numpy": NumPy,
    "torch": Torch,
    "jax": Jax,
    "tensorflow": TensorFlow,
    "onnxruntime": OnnxRuntime,
}
MODULES = {"onnxruntime": ["onnxruntime", "onnx"]}  # where the name is not enough


def available():
    def found(name):
        return all(importlib.util.find_spec(m) for m in MODULES.get(name, [name]))

    return [name for name in CONTENDERS if name == "horngate" or found(name)]


def limit_threads(threads):
    """Before any import: libraries size their pools by these variables and by their CPUs."""
    for name in ("HORNGATE", "OMP", "OPENBLAS", "MKL"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cpus)[-threads:])
    return cpus


def unpin(cpus):
    """Once the pools exist the scheduler may place their threads anywhere."""
    for task in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(task), cpus)
        except OSError:
            pass  # ended meanwhile


def check_values(result):
    """Two numbers that differ when results do, whatever the order of the axes."""
    import numpy as np

    values = np.asarray(result, np.float64)
    return [float(values.sum()), float(np.abs(values).sum())]


def time_batches(run, seconds, clock):
    """Wall time, or the CPU time of all threads: some peers work in threads of their own."""
    wall = time.perf_counter
    start = wall()
    run()
    guess = max(wall() - start, 1e-7)
    clock = time.process_time if clock == "cpu" and guess > SHORT_CALL else wall
    calls = max(1, int(LEAST_BATCH / guess))
    samples = []
    start = wall()
    while not samples or wall() - start < seconds:
        begin = clock()
        for _ in range(calls):
            run()
        samples.append((clock() - begin) / calls)
    return samples


def serve(name, threads):
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print does not belong there
    cpus = limit_threads(threads)
    contender = CONTENDERS[name](threads)
    unpin(cpus)
    answers.write(json.dumps({"ready": name}) + "\n")
    current, run = None, None
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = {}
            if command["workload"] != current:
                run = None  # frees its data first
                current, run = command["workload"], contender.make(command["workload"])
                answer["check"] = check_values(run())
                run()
            answer["samples"] = time_batches(run, command["seconds"], command["clock"])
        except Exception as error:  # the other contenders go on
            current, answer = None, {"error": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
