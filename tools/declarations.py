"""What the Python package declares: every K function with its signature, read from the text of python/horngate/.

Nothing is imported, so that it works before anything is built.
"""

import ast
import copy
import dataclasses
import functools
import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python" / "horngate"


@dataclasses.dataclass
class Declaration:
    name: str
    file: str
    definition: ast.FunctionDef
    overloads: list[ast.FunctionDef]

    @property
    def signature(self):
        """As the catalogue has it: names and defaults, no types."""
        arguments = copy.deepcopy(self.definition.args)
        for argument in [*arguments.args, arguments.kwarg]:
            if argument:
                argument.annotation = None
        return f"{self.name}({ast.unparse(arguments)})"

    @property
    def arguments(self):
        return [a.arg for a in self.definition.args.args]


def assigned(tree, name):
    """The value that a module gives to a name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            return node.value
    raise LookupError(f"{name} is not assigned")


@functools.cache
def read():
    """{name: Declaration} of all that backend.py collects, in the order of names."""
    sections = assigned(ast.parse((PACKAGE / "backend.py").read_text()), "_SECTIONS")
    found = {}
    for module in [*(s.id for s in sections.elts), "legacy"]:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text())
        listed = ast.literal_eval(assigned(tree, "__all__")) if module == "legacy" else None
        overloads = {}
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            if any(getattr(d, "id", "") == "overload" for d in node.decorator_list):
                overloads.setdefault(node.name, []).append(node)
            elif listed is None or node.name in listed:
                name = node.name
                found[name] = Declaration(name, f"{module}.py", node, overloads.get(name, []))
    return dict(sorted(found.items()))


def of_module(module):
    """{name: Declaration} of the public functions of one module of the package."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    names = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {n.name: Declaration(n.name, f"{module}.py", n, []) for n in names if n.name[0] != "_"}


@functools.cache
def of_package():
    """{name: Declaration} of what `horngate` gives besides the functions of the backend."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    [getter] = [n for n in tree.body if getattr(n, "name", "") == "__getattr__"]
    places = ast.literal_eval(assigned(getter, "places"))
    return {name: of_module(module)[name] for name, module in sorted(places.items())}


def listed(module):
    """What a module's `__all__` says, [] if it has none or takes another's."""
    try:
        return ast.literal_eval(
            assigned(ast.parse((PACKAGE / f"{module}.py").read_text()), "__all__")
        )
    except (LookupError, ValueError):
        return []


def classes_of(module):
    """Definitions of the classes that a module lists."""
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    return [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name in listed(module)]


def names_of_types():
    """{name: what it stands for} of horngate.typing; "" for a class."""
    tree = ast.parse((PACKAGE / "typing.py").read_text())
    found = dict.fromkeys(listed("typing"), "")
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id in found:
            # Modules are imported there under names that begin with an underscore.
            found[node.targets[0].id] = re.sub(r"\b_(?=\w)", "", ast.unparse(node.value))
    return found
