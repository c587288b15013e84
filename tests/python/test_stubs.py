"""The type stubs agree with the functions; mypy reads them as users do."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import horngate as K
import horngate.typing
import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "horngate"
STUBS = {}
for _node in ast.parse((PACKAGE / "backend.pyi").read_text()).body:
    if isinstance(_node, ast.FunctionDef):
        STUBS.setdefault(_node.name, []).append(_node)

PROGRAM = """
import horngate as K
from horngate.typing import Tensor, Variable

x: Tensor = K.placeholder((None, 28, 28, 1), name="x")
w: Variable = K.variable([[1.0]], constraint=lambda t: K.clip(t, 0, 1))
y: Tensor = K.conv2d(2 * x, w, padding="same", data_format="channels_last")
f = K.function([x], [y, K.mean(y, axis=[1, 2])], updates=[(w, w * 2), K.update_add(w, 1)])
print(f([[0.0]])[0].shape, K.backend(), K.int_shape(y)[0])
last, outputs, states = K.rnn(lambda i, s: (i + s[0], [i]), x, [y], mask=None)
with K.name_scope("dense"):
    z = K.in_train_phase(lambda: K.dropout(x, 0.5, seed=1), x) + last[0]
reveal_type(K.gradients(z, [w]))
reveal_type(K.stop_gradient([x, y]))
"""
WRONG = """
import horngate as K
K.conv2d(K.ones((1, 2, 2, 1)), K.ones((1, 1, 1, 1)), padding="full")
K.softmax(K.ones((2, 2)), axes=1)
K.sum(K.ones((2,)), axis="0")
K.set_epsilon()
K.no_such_function()
"""


@pytest.mark.parametrize("name", sorted(K.__all__))
def test_stub(name):
    assert name in STUBS, "a line in backend.pyi"
    wanted = []
    for p in inspect.signature(getattr(K, name)).parameters.values():
        default = None if p.default is p.empty else repr(p.default)
        wanted.append((p.name, "**" if p.kind is p.VAR_KEYWORD else default))
    for stub in STUBS[name]:
        arguments = stub.args
        none = [None] * (len(arguments.args) - len(arguments.defaults))
        defaults = none + [repr(ast.literal_eval(d)) for d in arguments.defaults]
        got = [(a.arg, d) for a, d in zip(arguments.args, defaults)]
        got += [(arguments.kwarg.arg, "**")] if arguments.kwarg else []
        assert got == wanted
        annotated = arguments.args + ([arguments.kwarg] if arguments.kwarg else [])
        assert all(a.annotation for a in annotated) and stub.returns


def test_nothing_else_is_in_the_stubs():
    assert set(STUBS) == set(K.__all__)
    assert (PACKAGE / "py.typed").exists()


def test_types_are_there():
    """horngate.typing and its stub have the same names."""
    tree = ast.parse((PACKAGE / "typing.pyi").read_text())
    names = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    names |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert names == set(horngate.typing.__all__)
    v = K.zeros((2,))
    assert isinstance(v, horngate.typing.Variable) and isinstance(v * 2, horngate.typing.Tensor)
    assert isinstance(K.function([], [v]), horngate.typing.Function)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef):
                    assert hasattr(getattr(horngate.typing, node.name), member.name), member.name


def mypy(tmp_path, program):
    (tmp_path / "program.py").write_text(program)
    search = {"MYPYPATH": str(pathlib.Path(horngate.typing.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--strict", "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **search},
    )


def test_mypy_takes_a_program(tmp_path):
    done = mypy(tmp_path, PROGRAM)
    assert done.returncode == 0, done.stdout
    assert 'Revealed type is "list[horngate.typing.Tensor | None]"' in done.stdout
    assert 'Revealed type is "list[horngate.typing.Tensor]"' in done.stdout


def test_mypy_finds_mistakes(tmp_path):
    done = mypy(tmp_path, WRONG)
    lines = [line for line in done.stdout.splitlines() if "error" in line]
    assert [int(line.split(":")[1]) for line in lines] == [3, 4, 5, 6, 7], done.stdout
