"""The stub backend.pyi, from the definitions in python/horngate/: what type checkers and editors read."""

import ast

import declarations

FILE = declarations.PACKAGE / "backend.pyi"
WIDTH = 100
HEAD = """Types of the functions of the backend. Made by `make generate` from the definitions; do not edit."""
# Where the names in annotations come from; builtins aside, the others are of horngate.typing.
MODULES = {
    "collections.abc": {"Callable", "Iterable", "Iterator", "Sequence"},
    "contextlib": {"AbstractContextManager"},
    "typing": {"Any"},
}
VARIABLES = {"F": 'F = TypeVar("F", bound=Callable[..., Any])'}
BUILTINS = set("None bool dict float int list object set str tuple type".split())


def annotations(definition):
    every = [*definition.args.args, definition.args.kwarg]
    return [*(a.annotation for a in every if a), definition.returns]


def names_in(definitions):
    for definition in definitions:
        for annotation in annotations(definition):
            if annotation is None:
                raise SystemExit(
                    f"python/horngate: {definition.name}: every argument and the result must have"
                    " a type."
                )
            yield from (n.id for n in ast.walk(annotation) if isinstance(n, ast.Name))


def imported(module, names):
    """An import as ruff would write it."""
    names = sorted(names, key=lambda n: (n[0].islower(), n.lower()))
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {n}," for n in names), ")"])


def written(text):
    """An expression with the quotes that ruff puts."""
    return ast.unparse(text).replace("'", '"')


def line_of(definition):
    """`def name(..) -> ..: ...`, as ruff would write it."""
    args, parts = definition.args, []
    defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults
    for argument, default in zip(args.args, defaults):
        part = f"{argument.arg}: {written(argument.annotation)}"
        parts.append(part if default is None else f"{part} = {written(default)}")
    if args.kwarg:
        parts.append(f"**{args.kwarg.arg}: {written(args.kwarg.annotation)}")
    start, end = f"def {definition.name}(", f") -> {written(definition.returns)}: ..."
    inside = ", ".join(parts)
    if len(start + inside + end) <= WIDTH:
        return start + inside + end
    if len(inside) + 4 <= WIDTH:
        return f"{start}\n    {inside}\n{end}"
    return "\n".join([start, *(f"    {part}," for part in parts), end])


def render():
    functions = declarations.read()
    stubs = [d.overloads or [d.definition] for d in functions.values()]
    used = set(names_in(s for group in stubs for s in group)) - BUILTINS
    variables = used & set(VARIABLES)
    words = used - variables
    typing = words & MODULES["typing"]
    if variables:
        words |= {"Callable"}
        typing |= {"Any", "TypeVar"}
    if any(d.overloads for d in functions.values()):
        typing |= {"overload"}
    lines = [f'"""{HEAD}"""', ""]
    for module in sorted(MODULES):
        names = typing if module == "typing" else words & MODULES[module]
        lines += [imported(module, names)] if names else []
    ours = words - set().union(*MODULES.values())
    lines += ["", imported("horngate.typing", ours), ""]
    lines += [VARIABLES[v] for v in sorted(variables)]
    lines += ["", "__all__ = [", *(f'    "{n}",' for n in functions), "]", ""]
    for group in stubs:
        for stub in group:
            lines += (["@overload"] if len(group) > 1 else []) + [line_of(stub)]
    return "\n".join(lines) + "\n"


def files():
    return {FILE: render()}
