"""ONNX Runtime: inference, graphs built by hand. ONNX has no channels-last convolution: NCHW data."""

import os

from common import THREADS, main, np, workload
from data import OPERANDS, net_data, randn, resnet20_blocks
import onnx
import onnxruntime
from onnx import helper
from ort_nets import MICROSOFT, add_nets

CPU = "inf"


class Graph:
    """Nodes and constants; each method gives the name of a result."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, a):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.ascontiguousarray(a), name))
        return name

    def normal(self, *shape, scale=1.0):
        return self.constant(randn(*shape, scale=scale))

    def op(self, kind, *operands, results=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, list(operands), names, **attributes))
        return names[0] if results == 1 else names

    def run(self, result, spins=False, **feeds):
        """A session that gives one result. spins: its threads wait for work actively while it runs."""
        inputs = [
            helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for k, a in feeds.items()
        ]
        kind = self.nodes[-1].op_type
        dtype = onnx.TensorProto.INT64 if kind == "ArgMax" else onnx.TensorProto.FLOAT
        outputs = [helper.make_tensor_value_info(result, dtype, None)]
        graph = helper.make_graph(self.nodes, "bench", inputs, outputs, self.constants)
        opset = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=9)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that go on spinning would take the CPUs from whoever is measured next.
        spin = "1" if spins else os.environ.get("ORT_SPIN", "0")
        options.add_session_config_entry("session.intra_op.allow_spinning", spin)
        options.add_session_config_entry("session.force_spinning_stop", "1" if spins else "0")
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return lambda: session.run(None, feeds)


def add(name, make):
    """make(graph, names of the operands...) gives the result."""

    @workload(name, CPU)
    def _(_):
        graph, arrays = Graph(), OPERANDS[name]()
        feeds = dict(zip("xyz", arrays))
        return graph.run(make(graph, *feeds), **feeds)


def add_with_constants(name, make):
    """The same, but only the first operand is fed: the others are weights."""

    @workload(name, CPU)
    def _(_):
        graph, (x, *weights) = Graph(), OPERANDS[name]()
        return graph.run(make(graph, "x", *weights), x=x)


def chain(g, x, b):
    for _ in range(100):
        x = g.op("Add", x, b)
    return x


def elementwise(g, x):
    scaled = g.op("Mul", x, g.constant(np.float32([1.1])))
    left = g.op("Sigmoid", g.op("Add", scaled, g.constant(np.float32([0.3]))))
    right = g.op("Exp", g.op("Neg", g.op("Mul", x, x)))
    return g.op("Add", g.op("Mul", left, g.op("Tanh", x)), right)


for _name in ("call_add1", "call_add1_np"):
    add(_name, lambda g, x: g.op("Add", x, g.constant(np.float32([1]))))
add("call_chain100_s", chain)
add("call_chain100_v1000", chain)
for _size in ("10M", "1M", "1k"):
    add(f"elem_{_size}", elementwise)
add("softmax", lambda g, x: g.op("Softmax", x, axis=-1))
add("argmax", lambda g, x: g.op("ArgMax", x, axis=-1, keepdims=0))
for _axis in (0, 1):
    add(
        f"sum_ax{_axis}",
        lambda g, x, a=_axis: g.op("ReduceSum", x, g.constant(np.int64([a])), keepdims=0),
    )
    add(f"mean_ax{_axis}", lambda g, x, a=_axis: g.op("ReduceMean", x, axes=[a], keepdims=0))
for _name in ("matmul_128", "matmul_512", "matmul_1024", "matmul_2048", "batch_dot"):
    add(_name, lambda g, x, y: g.op("MatMul", x, y))
add_with_constants(
    "dense_relu",
    lambda g, x, w, b: g.op("Relu", g.op("Gemm", x, g.constant(w), g.constant(b))),
)
add_with_constants(
    "conv3x3_nchw",
    lambda g, x, w: g.op("Conv", x, g.constant(w.transpose(3, 2, 0, 1)), pads=[1] * 4),
)

# ---- nets ----------------------------------------------------------------------------------------


def dense(g, x, inputs, outputs):
    return g.op("Gemm", x, g.normal(inputs, outputs), g.normal(outputs))


def cnn(g):
    y = g.op("Relu", g.op("Conv", "x", g.normal(32, 1, 3, 3), g.normal(32)))
    y = g.op("Relu", g.op("Conv", y, g.normal(64, 32, 3, 3), g.normal(64)))
    y = g.op("Flatten", g.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]))
    return dense(g, g.op("Relu", dense(g, y, 9216, 128)), 128, 10)


def resnet20(g):
    def conv(x, before, c, k, stride):
        w = g.normal(c, before, k, k, scale=0.1)
        return g.op("Conv", x, w, pads=[k // 2] * 4, strides=[stride, stride])

    def norm(x, c):
        one, zero = g.constant(np.ones(c, "f")), g.constant(np.zeros(c, "f"))
        return g.op("BatchNormalization", x, one, zero, zero, one)

    x = g.op("Relu", norm(conv("x", 3, 16, 3, 1), 16))
    for stride, before, c in resnet20_blocks():
        y = g.op("Relu", norm(conv(x, before, c, 3, stride), c))
        short = x if before == c else conv(x, before, c, 1, stride)
        x = g.op("Relu", g.op("Add", norm(conv(y, c, c, 3, 1), c), short))
    return dense(g, g.op("Flatten", g.op("GlobalAveragePool", x)), 64, 10)


def lstm(g):
    weights = [g.normal(1, *s, scale=0.1) for s in ((512, 64), (512, 128), (1024,))]
    _, h, _ = g.op("LSTM", "x", *weights, results=3, hidden_size=128)
    return dense(g, g.op("Squeeze", h, g.constant(np.int64([0]))), 128, 10)


def add_net(name, make, order):
    @workload(name, CPU)
    def _(_):
        graph = Graph()
        x = np.ascontiguousarray(net_data(name)[0].transpose(order))
        return graph.run(make(graph), x=x)


add_net("cnn_inf_b1", cnn, (0, 3, 1, 2))
add_net("cnn_inf_b128", cnn, (0, 3, 1, 2))
add_net("resnet20_inf_b1", resnet20, (0, 3, 1, 2))
add_net("lstm_inf_b1", lstm, (1, 0, 2))

add_nets(workload, CPU, Graph)

if __name__ == "__main__":
    main()
