"""The file python/src/bind_regular.cpp: binds every K function whose arguments a table can convert.

A function that a definition in python/horngate/ calls as `_hg.name(..)` is bound here, from its declaration in a
public header, unless a file of python/src/ binds it by hand. By hand goes what converts in a way of its own: tensors
whose dtypes have nothing to do with each other, arguments that are functions, results that are no tensor.
"""

import ast
import re

import declarations
import headers

SOURCES = declarations.PACKAGE.parent / "src"
FILE = SOURCES / "bind_regular.cpp"
CPP_NAMES = {"switch": "switch_"}

HEAD = """\
// Functions whose arguments convert by the table in tools/bindings.py. Made by `make generate` from the headers
// and python/horngate/; do not edit.
// clang-format off
"""
# How an argument becomes what the header asks for; {0} is its name.
CONVERSIONS = {
    "int64_t": 'call.integer({0}, "{0}")',
    "double": 'call.real({0}, "{0}")',
    "bool": "call.truth({0})",
    "Flag": "call.truth({0})",
    "Axis": 'call.axis({0}, "{0}")',
    "Ints": 'call.ints({0}, "{0}")',
    "ShapeArg": 'call.shape({0}, "{0}")',
    "Choice<DType>": "dtype_from_python({0}, call.function())",
    "PaddingChoice": "call.padding({0})",
    "PoolModeChoice": "call.pool_mode({0})",
    "std::string": 'call.text({0}, "{0}")',
    "std::string_view": 'call.text({0}, "{0}")',
    "std::vector<Tensor>": 'call.tensor_list({0}, "{0}")',
    "std::array<int64_t, 2>": 'call.several<2>({0}, "{0}")',
    "std::array<int64_t, 3>": 'call.several<3>({0}, "{0}")',
    "std::optional<int64_t>": 'call.optional_integer({0}, "{0}")',
    "std::optional<double>": "{0}.is_none() ? std::nullopt"
    ' : std::optional<double>(call.real({0}, "{0}"))',
    "DTypeChoice": "call.dtype({0})",
    "DataFormatChoice": "call.data_format({0})",
}


class Irregular(Exception):
    """Why a function must be bound by hand."""


def bound_by_hand():
    """Names that a file of python/src/ gives to the module."""
    found = set()
    for path in SOURCES.glob("*.cpp"):
        if path != FILE:
            text = path.read_text()
            found |= set(re.findall(r'\bdef\(\s*"(\w+)"', text))
            found |= set(re.findall(r'\w<[\w:]+>\(m, "(\w+)"', text))
    return found


def wanted():
    """{name: number of arguments} of what the definitions call under their own name."""
    found = {}
    for name, declaration in declarations.read().items():
        for node in ast.walk(declaration.definition):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"_hg.{name}":
                found[name] = len(node.args)
    return found


def conversion(argument, like):
    if argument.type == "Tensor":
        # One that may be left out may be None.
        kind = "tensor" if argument.default is None else "optional_tensor"
        return f"call.{kind}({argument.name}{like})"
    if argument.type == "Number":
        return f"call.number({argument.name}{like})"
    if argument.type in CONVERSIONS:
        return CONVERSIONS[argument.type].format(argument.name)
    raise Irregular(f"{argument.type} {argument.name} is not in its table")


def statements(arguments, aggregates):
    """The conversions in order, and the values to call with."""
    lines, values, rest, like = [], [], list(arguments), ""
    pair = [a.type for a in rest[:2]]
    if pair == ["Tensor", "Tensor"] or [a.type for a in rest] == ["Number", "Number"]:
        x, y = (a.name for a in rest[:2])
        lines.append(f"const auto [{x}_in, {y}_in] = call.{pair[0].lower()}s({x}, {y});")
        values += [f"{x}_in", f"{y}_in"]
        rest, like = rest[2:], f", {x}_in.dtype()"
    for argument in rest:
        if argument.name == "options":
            fields = [f".{f.name} = {conversion(f, like)}" for f in aggregates[argument.type]]
            lines.append(f"const {argument.type} options{{{', '.join(fields)}}};")
            values.append("options")
            continue
        lines.append(f"const auto {argument.name}_in = {conversion(argument, like)};")
        values.append(f"{argument.name}_in")
        if argument.type == "Tensor" and not like:
            like = f", {argument.name}_in.dtype()"
    return lines, values


def binding(name, count, functions, aggregates):
    """Of several overloads the only one that can be bound."""
    overloads = functions.get(CPP_NAMES.get(name, name), [])
    if not overloads:
        raise Irregular("is not declared in a header")
    found, why = [], None
    for function in overloads:
        try:
            found.append(binding_of(name, count, function, aggregates))
        except Irregular as reason:
            why = reason
    if len(found) > 1:
        raise Irregular("has several overloads that could be meant")
    if not found:
        raise why
    return found[0]


def binding_of(name, count, function, aggregates):
    if function.result != "Tensor":
        raise Irregular(f"its result is {function.result}")
    flat = []
    for a in function.arguments:
        flat += aggregates[a.type] if a.name == "options" else [a]
    if len(flat) != count:
        raise Irregular(f"its definition passes {count} arguments, its header has {len(flat)}")
    lines, values = statements(function.arguments, aggregates)
    return "\n".join(
        [
            f'  m.def("{name}", []({", ".join(f"Any {a.name}" for a in flat)}) {{',
            f'    Call call("{name}");',
            *(f"    {line}" for line in lines),
            f"    return call.result(horngate::{function.name}({', '.join(values)}));",
            "  });",
        ]
    )


def render():
    functions, aggregates = headers.read()
    by_hand, bodies, used = bound_by_hand(), [], set()
    for name, count in wanted().items():
        if name in by_hand:
            continue
        try:
            bodies.append(binding(name, count, functions, aggregates))
        except Irregular as why:
            raise SystemExit(
                f"tools/bindings.py cannot bind {name}: {why}. Bind it in python/src/bind_*.cpp."
            ) from None
        used.add(functions[CPP_NAMES.get(name, name)][0].header)
    includes = [f'#include "horngate/ops/{header}"' for header in sorted(used)]
    return "\n".join(
        [
            HEAD.rstrip(),
            *includes,
            "",
            '#include "call.h"',
            '#include "sections.h"',
            "",
            "namespace horngate::python {",
            "",
            "void bind_regular(nb::module_& m) {",
            *bodies,
            "}",
            "",
            "}  // namespace horngate::python",
            "",
        ]
    )


def files():
    return {FILE: render()}
