"""K.plot_function: pictures of what functions are made of, and of what runs."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import horngate as K
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from fuzz import data, generate, source  # noqa: E402

needs_dot = pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
KIND, LABEL, FUNCTION, NAME, ATTRIBUTES, SCOPE, TYPE, BYTES, GROUP, FROM = range(10)
OPERATION, OUTPUT = 3, 4


def perceptron():
    x = K.placeholder((None, 8), name="x")
    with K.name_scope("hidden"):
        w, b = K.variable(np.ones((8, 16)), name="kernel"), K.variable(np.zeros(16), name="bias")
        h = K.relu(K.dot(x, w) + b)
    return x, w, h


def page(path):
    """The graphs of a page: what runs, and what was built."""
    text = path.read_text()
    assert "http" not in re.sub(r"http-equiv", "", text) and "src=" not in text  # no network
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def drawn(function, tmp_path, **options):
    K.plot_function(function, tmp_path / "f.html", **options)
    return page(tmp_path / "f.html")


def operations(graph):
    return [n for n in graph["nodes"] if n[KIND] == OPERATION]


def test_groups_shapes_and_bytes(tmp_path):
    x, w, h = perceptron()
    plan, program = drawn(K.function([x], [h]), tmp_path, shapes=[(5, 8)])
    assert plan["title"] == "What runs"
    assert [n[LABEL] for n in operations(plan)] == ["dot_general", "add", "maximum"]
    product, add, maximum = operations(plan)
    assert product[TYPE] == "float32(5, 16)" and product[BYTES] == 5 * 16 * 4
    assert (maximum[FUNCTION], maximum[SCOPE]) == ("relu", "hidden/")
    assert maximum[ATTRIBUTES] == "first=0."  # constants of one element are no nodes
    assert add[GROUP] == maximum[GROUP] != product[GROUP]
    assert plan["groups"][add[GROUP]] == "fused(add, maximum)"
    assert plan["note"] == "3 operations in 2 steps"
    assert [n[LABEL] for n in plan["nodes"][:3]] == ["x", "hidden/kernel", "hidden/bias"]
    assert operations(program)[0][TYPE] == "float32(None, 16)" and program["groups"] == []


def test_gradients_belong_to_their_layer_and_updates_to_their_variable(tmp_path):
    x, w, h = perceptron()
    [g] = K.gradients(K.sum(h), [w])
    plan, _ = drawn(K.function([x], [], [K.update_sub(w, g)]), tmp_path)
    assert plan["title"] == "What runs, None as 32"
    scopes = {n[SCOPE] for n in operations(plan)}
    assert {"hidden/", "gradients/hidden/"} <= scopes
    [new] = [n for n in plan["nodes"] if n[KIND] == OUTPUT]
    assert (new[LABEL], new[SCOPE]) == ("new hidden/kernel", "hidden/")


def test_before_and_after(tmp_path):
    """What is built twice or for nothing is in the first picture alone."""
    x = K.placeholder((2, 3), name="x")
    unused = K.exp(x) * 0 + K.exp(x)
    plan, program = drawn(K.function([x], [K.tanh(x) + K.tanh(x), unused]), tmp_path)
    labels = [n[LABEL] for n in operations(program)]
    assert labels.count("tanh") == 2 and labels.count("exp") == 2
    labels = [n[LABEL] for n in operations(plan)]
    assert labels.count("tanh") == 1 and labels.count("exp") == 1


def steps_of(program):
    """How many steps the engine says it made."""
    env = {**os.environ, "HORNGATE_LOG": "steps", "KERAS_BACKEND": "native"}
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=True)
    return int(re.search(r"(\d+) steps", done.stderr)[1]), json.loads(done.stdout)


def test_steps_are_those_of_the_engine(tmp_path):
    """On a function whose steps are neither merged nor packed nor taken apart later."""
    program = f"""
import json, re, horngate as K, numpy as np
x = K.placeholder((6, 50))
y = K.cumsum(K.exp(x) * 2 + 1, 1)
f = K.function([x], [K.tanh(y) - K.max(y), K.argmax(y, 1)])
f([np.ones((6, 50))])
K.plot_function(f, {str(tmp_path / "f.html")!r})
text = open({str(tmp_path / "f.html")!r}).read()
print(json.dumps(json.loads(re.search('id="data">(.*?)</script>', text, re.S)[1])[0]["note"]))
"""
    steps, note = steps_of(program)
    assert note.endswith(f"in {steps} steps")


@needs_dot
@pytest.mark.parametrize(
    "ending, start", [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_graphviz(ending, start, tmp_path):
    x, _, h = perceptron()
    path = tmp_path / f"f.{ending}"
    K.plot_function(K.function([x], [h]), path)
    assert path.read_bytes().startswith(start)
    if ending == "svg":
        assert "fused(add, maximum)" in path.read_text()


@needs_dot
def test_names_that_mean_something_to_others(tmp_path):
    x = K.placeholder((2,), name='a"b\\c<d>{e}|&')
    f = K.function([x], [x + 1])
    K.plot_function(f, tmp_path / "f.svg")
    assert "a&quot;b\\c&lt;d&gt;{e}|&amp;" in (tmp_path / "f.svg").read_text()
    assert drawn(f, tmp_path)[0]["nodes"][0][LABEL] == 'a"b\\c<d>{e}|&'
    assert "<d>" not in (tmp_path / "f.html").read_text()


def test_random_functions(tmp_path):
    """Loops, branches, several outputs, open sizes, sparse inputs: all can be drawn."""
    seen = {"grouped": 0, "open": 0}
    for seed in range(60):
        program = generate.program_of(seed)
        if program is None:
            continue
        scope = {"K": K, "np": np, "data": {}}
        for leaf in program["leaves"]:
            if leaf["kind"] != "placeholder":
                scope["data"][leaf["name"]] = data.make(leaf["data"], leaf["dims"], leaf["dtype"])
        exec("\n".join(source.graph(program)), scope)
        for graph in drawn(scope["f"], tmp_path):
            for i, n in enumerate(graph["nodes"]):
                assert all(f < i for f in n[FROM]), seed
                assert -1 <= n[GROUP] < max(len(graph["groups"]), 1)
            grouped = any(graph["groups"])
            seen["grouped"] += grouped
            seen["open"] += "open sizes" in graph["title"]
        K.clear_session()
    assert seen["grouped"] > 20, seen


def test_notebooks():
    x, w, h = perceptron()
    assert x._repr_html_() == "<code>tensor &nbsp; x &nbsp; (None, 8) &nbsp; float32</code>"
    assert w._repr_html_().startswith("<code>variable &nbsp; hidden/kernel &nbsp; (8, 16)")
    frame = K.function([x], [h])._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;') and frame.endswith("</iframe>")


def test_wrong_arguments(tmp_path):
    x, _, h = perceptron()
    f = K.function([x], [h])
    with pytest.raises(ValueError, match=r"plot_function: the file must end in \.html, .*; got "):
        K.plot_function(f, tmp_path / "f.jpeg")
    with pytest.raises(ValueError, match='stage must be "plan" or "program"; got "after".'):
        K.plot_function(f, tmp_path / "f.dot", stage="after")
    with pytest.raises(TypeError, match="plot_function: function must be a result of K.function"):
        K.plot_function(h, tmp_path / "f.dot")
    with pytest.raises(
        ValueError, match="shapes must have an entry for each of the 1 inputs; got 2."
    ):
        K.plot_function(f, tmp_path / "f.dot", shapes=[(1, 8), (2, 8)])
    with pytest.raises(RuntimeError, match="no-such"):
        K.plot_function(f, tmp_path / "no-such" / "f.dot")
    assert list(tmp_path.iterdir()) == []


def test_the_page_of_the_documentation(tmp_path, monkeypatch):
    """docs/look_inside.md writes these files; test_docs_code.py compares what it prints."""
    text = (ROOT / "docs/look_inside.md").read_text()
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(block, {"K": K})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["f.dot", "f.html", "g.dot"]
