#!/usr/bin/env python3
"""Draws docs/pictures/graph.svg, fusion.svg and trace.svg from what the library says of a small program.

Needs a build (`make build`) and Graphviz: .venv/bin/python tools/docs/pictures.py. With the name of a file it writes the page of
K.plot_function that tools/screenshots.sh takes a picture of.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PICTURES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "pictures"
GRAPH = """
import numpy as np
import horngate as K
x = K.placeholder((None, 3), name="x")
w = K.variable(np.ones((3, 2)), name="w")
f = K.function([x], [K.relu(K.dot(x, w) - 4)])
f([np.ones((2, 3))])
"""
FUSION = """
import numpy as np
import horngate as K
x = K.placeholder((64, 32))
w, b = K.variable(np.ones((32, 8))), K.zeros((8,))
f = K.function([x], [K.mean(K.square(K.tanh(K.dot(x, w) + b) * 0.5 + 1))])
f([np.ones((64, 32))])
"""
TRACE = """
import numpy as np
import horngate as K
from horngate import profile
r = np.random.RandomState(0)
x, y = K.placeholder((None, 28, 28, 1)), K.placeholder((None, 10))
k = K.variable(r.normal(size=(3, 3, 1, 16)) * 0.1)
w = K.variable(r.normal(size=(16 * 14 * 14, 10)) * 0.01)
h = K.pool2d(K.relu(K.conv2d(x, k, padding="same")), (2, 2), strides=(2, 2))
loss = K.mean(K.categorical_crossentropy(y, K.dot(K.batch_flatten(h), w), from_logits=True))
updates = [K.update_sub(p, 0.01 * g) for p, g in zip([k, w], K.gradients(loss, [k, w]))]
step = K.function([x, y], [loss], updates=updates)
feeds = [r.rand(64, 28, 28, 1).astype("float32"), np.eye(10)[r.randint(10, size=64)]]
for _ in range(20): step(feeds)
with profile.trace(PATH):
    step(feeds)
"""
PAGE = """
import numpy as np
import horngate as K
r = np.random.RandomState(0)
x, y = K.placeholder((None, 28, 28, 1), name="images"), K.placeholder((None, 10), name="labels")
with K.name_scope("conv"):
    k = K.variable(r.normal(size=(3, 3, 1, 16)) * 0.1, name="kernel")
    b = K.zeros((16,), name="bias")
    h = K.relu(K.bias_add(K.conv2d(x, k, padding="same"), b))
h = K.pool2d(h, (2, 2), strides=(2, 2))
with K.name_scope("dense"):
    w = K.variable(r.normal(size=(16 * 14 * 14, 10)) * 0.01, name="kernel")
    c = K.zeros((10,), name="bias")
    z = K.bias_add(K.dot(K.batch_flatten(h), w), c)
loss, weights = K.mean(K.square(z - y)), [k, b, w, c]
updates = [K.update_sub(p, 0.01 * g) for p, g in zip(weights, K.gradients(loss, weights))]
step = K.function([x, y], [loss], updates=updates)
K.plot_function(step, PATH, shapes=[(64, 28, 28, 1), (64, 10)], training=True)
"""
STYLE = (
    'graph [bgcolor="white" ranksep=0.3 nodesep=0.3 fontname="Helvetica,sans-serif" fontsize=13];\n'
    'node [shape=box style="rounded,filled" fillcolor="white" color="#59636e" fontname="Helvetica,sans-serif" '
    'fontsize=13 height=0.35 margin="0.15,0.04"];\nedge [color="#59636e" arrowsize=0.7 fontname="Helvetica,sans-serif" fontsize=11];\n'
)
INPUT = 'fillcolor="#ddebf9" color="#0b5cad"'


def run(program, **variables):
    environment = (
        os.environ
        | {"KERAS_BACKEND": "native", "HORNGATE_QUIET": "1", "HORNGATE_NO_CONFIG_WRITE": "1"}
        | variables
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stderr


def stage(log, name):
    """[(id, operation, operands, type)] of one stage of HORNGATE_LOG."""
    text = log.split(f"--- horngate: {name}\n")[1].split("---")[0]
    found = []
    for line in text.splitlines():
        node = re.match(r"^(%\d+) = (\w+)(?:\(([^;)]*)(.*?)\))? : (\w+)\((.*)\)$", line)
        if node:
            number = re.search(r"value=([-\d.]+)", node[4] or "")
            label = number[1] if node[2] == "constant" and number else node[2]
            found.append(
                (node[1][1:], label, re.findall(r"%(\d+)", node[3] or ""), f"{node[5]} ({node[6]})")
            )
    return found


def draw(name, dot):
    svg = subprocess.run(
        ["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True
    ).stdout
    svg = re.sub(r"<!--.*?-->\n?|<\?xml.*?\?>\n|<!DOCTYPE.*?>\n", "", svg, flags=re.S)
    (PICTURES / name).write_text(svg)


def node(prefix, entry, names, extra=""):
    key, label, _, _ = entry
    is_input = label == "input"
    text = names.pop(0) if is_input else label
    return f'{prefix}{key} [label="{text}" {INPUT if is_input else extra}];'


def edges(prefix, nodes, with_types):
    for key, _, operands, _ in nodes:
        for operand in operands:
            kind = next(n[3] for n in nodes if n[0] == operand)
            yield f'{prefix}{operand} -> {prefix}{key}{f""" [label=" {kind}"]""" if with_types else ""};'


def graph_picture():
    nodes = stage(run(GRAPH, HORNGATE_LOG="program"), "program")
    names = ["x (placeholder)", "w (variable)"]
    lines = [node("n", entry, names) for entry in nodes]
    result = f'out [label="result" {INPUT}]; n{nodes[-1][0]} -> out [label=" {nodes[-1][3]}"];'
    draw(
        "graph.svg",
        "digraph {\n" + STYLE + "\n".join([*lines, *edges("n", nodes, True), result]) + "\n}",
    )


def fusion_picture():
    log = run(FUSION, HORNGATE_LOG="plan,steps")
    nodes = stage(log, "plan")
    steps = re.findall(r"^step \d+: (.*)$", log, re.M)
    names = ["x", "w", "b"]
    before = ['subgraph cluster_a { label="the graph"; color="#d0d7de"; style=rounded;']
    before += [node("a", entry, names) for entry in nodes] + ["}"]
    after = ['subgraph cluster_b { label="what runs"; color="#d0d7de"; style=rounded;']
    after += [f'x2 [label="x" {INPUT}]; w2 [label="w" {INPUT}]; b2 [label="b" {INPUT}];']
    for i, step in enumerate(steps):
        text = re.sub(r"fused\((.*)\)", r"one loop: \1", step)
        if len(text) > 30:
            words = text.split(", ")
            text = ", ".join(words[:3]) + ",\\n" + ", ".join(words[3:])
        after.append(f's{i} [label="{text}" fillcolor="#e6f4ea" color="#1a7f37"];')
    after += ["}", "x2 -> s0; w2 -> s0; b2 -> s1;"] + [
        f"s{i} -> s{i + 1};" for i in range(len(steps) - 1)
    ]
    lines = [*before, *edges("a", nodes, False), *after]
    draw("fusion.svg", "digraph {\n" + STYLE + "\n".join(lines) + "\n}")


def trace_picture():
    """One training step as bars over time, from the file that HORNGATE_PROFILE and profile.trace write."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trace.json"
        run(TRACE.replace("PATH", repr(path)), HORNGATE_NUM_THREADS="1")
        events = json.loads(pathlib.Path(path).read_text())["traceEvents"]
    steps = [e for e in events if e["ph"] == "X" and e["name"] not in ("native", "plan", "compile")]
    steps.sort(key=lambda e: e["ts"])
    begin = steps[0]["ts"]
    length = max(e["ts"] + e["dur"] for e in steps) - begin
    width, left, row = 860, 10, 22
    scale = 520 / length
    shown = [e for e in steps if e["dur"] > length / 200]
    height = 56 + row * len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" rx="8" fill="white"/>',
        f'<text x="{left}" y="20" font-weight="bold" font-size="14">One training step of a small convolutional net, one thread</text>',
        f'<line x1="{left}" y1="32" x2="{left + 520}" y2="32" stroke="#59636e"/>',
        f'<text x="{left + 520}" y="28" text-anchor="end" fill="#59636e">{length / 1000:.1f} ms</text>',
    ]
    for i, e in enumerate(shown):
        x, y, w = left + (e["ts"] - begin) * scale, 40 + i * row, max(e["dur"] * scale, 1.5)
        parts.append(
            f'<rect x="{x:.1f}" y="{y}" width="{w:.1f}" height="16" rx="2" fill="#0b5cad"/>'
        )
        name = e["name"] if len(e["name"]) < 62 else e["name"][:60] + ".."
        parts.append(f'<text x="{x + w + 6:.1f}" y="{y + 12}" fill="#1f2328">{name}</text>')
    (PICTURES / "trace.svg").write_text("\n".join([*parts, "</svg>", ""]))


def main():
    if len(sys.argv) == 2:
        run(PAGE.replace("PATH", repr(sys.argv[1])))
        return
    graph_picture()
    fusion_picture()
    trace_picture()


if __name__ == "__main__":
    main()
