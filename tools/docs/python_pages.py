"""A Python function of the reference: its signature and docstring as a directive of Sphinx."""

import ast
import re
import textwrap

SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Example|Examples):$", re.M)


def sections(docstring):
    """{title: text}; what comes before the first title is under ""."""
    parts = SECTION.split(docstring)
    found = {"": parts[0].strip()}
    for title, text in zip(parts[1::2], parts[2::2]):
        found[title] = textwrap.dedent(text).strip("\n")
    return found


def parameters(text):
    """[(name, description)] of an Args section; names are `**kwargs` too."""
    found = []
    for line in text.splitlines():
        entry = re.match(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)$", line)
        if entry:
            found.append([entry[1], entry[2]])
        elif line.strip():
            found[-1][1] += " " + line.strip()
    return found


def one_line(text):
    return " ".join(text.split())


def directive(declaration, prefix="K"):
    """The lines of a `py:function`, from an ast definition with its docstring."""
    text = ast.get_docstring(declaration.definition)
    return lines_of("function", f"{prefix}.{declaration.signature}", text)


def class_directive(definition, prefix):
    """The lines of a `py:class`, from an ast definition with its docstring, which has the arguments too."""
    [made] = [n for n in definition.body if getattr(n, "name", "") == "__init__"]
    arguments = ast.unparse(made.args).removeprefix("self").removeprefix(", ")
    signature = f"{prefix}.{definition.name}({arguments})"
    return lines_of("class", signature, ast.get_docstring(definition))


def lines_of(kind, signature, docstring):
    parts = sections(docstring)
    lines = [f"````{{py:{kind}}} {signature}", "", parts[""], ""]
    for name, text in parameters(parts.get("Args", "")):
        lines.append(f":param {name.replace('*', chr(92) + '*')}: {text}")
    for title, field in (("Returns", "returns"), ("Yields", "returns")):
        if title in parts:
            lines.append(f":{field}: {one_line(parts[title])}")
    if "Raises" in parts:
        lines.append(f":raises: {one_line(parts['Raises'])}")
    example = parts.get("Example") or parts.get("Examples")
    if example:
        lines += ["", "```pycon", example, "```"]
    return [*lines, "````", ""]
