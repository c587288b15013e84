"""The page docs/primitives.md: what an engine author needs to know of each primitive."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEAD = """# Primitives

What a graph that reaches an engine is made of. Made by `make generate` from `src/ir/` and `src/prims/`; do not edit.

All shapes are numbers, all operands of an element-wise primitive have one dtype, and two-operand ones broadcast as in
NumPy. Conv kernels are (spatial.., in / groups, out); data is (n, spatial.., c) or, with channels_first, (n, c, spatial..).

| primitive | attributes | meaning |
|---|---|---|
"""


def meaning(name):
    """The comment at the top of the primitive's file, on one line."""
    lines = []
    for line in (ROOT / f"src/prims/{name}.cpp").read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return re.sub(rf"^{name}: ", "", " ".join(lines)).replace("|", "\\|")


def render():
    text = re.sub(r"//.*|^#.*", "", (ROOT / "src/ir/prims.def").read_text(), flags=re.M)
    text = re.sub(r"^(?:UNARY|BINARY)\((\w+), \d+\)", r"PRIM(\1, elementwise, )", text, flags=re.M)
    rows = []
    for name, how, attributes in re.findall(r"PRIM\((\w+), (\w+),((?:[^()]|\([^()]*\))*)\)", text):
        if how == "core" and name != "constant":
            continue
        found = re.findall(r"ATTR\((\w+), (\w+), ", attributes)
        rows.append(f"| `{name}` | {', '.join(f'{n} ({t})' for t, n in found)} | {meaning(name)} |")
    return HEAD + "\n".join(rows) + "\n"


def files():
    return {ROOT / "docs" / "primitives.md": render()}
