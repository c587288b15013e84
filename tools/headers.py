"""What the public headers declare: functions, their comments and examples, options.

Not a C++ parser: it knows how the headers of this project look.
"""

import dataclasses
import pathlib
import re

INCLUDE = pathlib.Path(__file__).resolve().parents[1] / "include" / "horngate"
HEADERS = [INCLUDE / "config.h", INCLUDE / "function.h", *sorted((INCLUDE / "ops").glob("*.h"))]

_ATTRIBUTES = re.compile(
    r'^(\[\[nodiscard\]\]|\[\[deprecated\("[^"]*"\)\]\]|HORNGATE_API|inline|static|constexpr|explicit)\s+'
)
_FUNCTION = re.compile(
    r"^(?P<result>[\w:<>,&* ]+?[&*>\w])\s+(?P<name>\w+)\((?P<arguments>.*)\)$", re.S
)


@dataclasses.dataclass
class Argument:
    """One parameter of a function or one field of an aggregate."""

    type: str
    name: str
    default: str | None


@dataclasses.dataclass
class Function:
    name: str
    header: str
    arguments: list[Argument]
    comment: list[str]
    result: str

    @property
    def examples(self):
        """The lines after `Example:`, one or more statements each."""
        found, inside = [], False
        for line in self.comment:
            if line.startswith("Example:"):
                found.append(line.removeprefix("Example:").strip())
                inside = True
            elif inside and line.startswith("  "):
                found[-1] += " " + line.strip()
            else:
                inside = False
        return found


def split(text, separator=","):
    """Parts between separators that no bracket holds."""
    parts, depth, part = [], 0, ""
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}" or (c == ">" and text[i - 1] != "-"))
        if c == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in [*parts, part] if p.strip()]


def argument(text):
    """`const T& name = default` in its parts."""
    left, *default = split(text, "=")
    found = re.match(r"^(?:const\s+)?(.+?)&?\s+(\w+)$", left, re.S)
    if not found:
        return Argument(left, "", None)
    kind = re.sub(r"\s+", " ", found[1])
    return Argument(kind, found[2], " ".join(default[0].split()) if default else None)


def read():
    """(functions by name, each a list of overloads; aggregates by name, each a list of fields)."""
    functions, aggregates = {}, {}
    for path in HEADERS:
        text = _without_macros(path.read_text())
        for kind, name, body in _blocks(text):
            if kind == "struct":
                aggregates[name] = _fields(body)
        for comment, declaration in _declarations(text):
            function = _function(declaration, comment, path.name)
            if function:
                functions.setdefault(function.name, []).append(function)
    return functions, aggregates


def _without_macros(text):
    """Macros with arguments, and what they make: other spellings of functions that stand beside them."""
    text = re.sub(r"^#define \w+\((?:.*\\\n)*.*\n", "", text, flags=re.M)
    return re.sub(r"^HORNGATE_\w+\(.*\)\n", "", text, flags=re.M)


def _blocks(text):
    for found in re.finditer(
        r"^(struct|class) (?:\[\[\w+\]\] )?(?:HORNGATE_API )?(\w+) \{\n(.*?)^\};", text, re.S | re.M
    ):
        yield found[1], found[2], found[3]


def _fields(body):
    fields = []
    for line in split(re.sub(r"//.*", "", body), ";"):
        line = " ".join(line.split())
        if "(" in line.split("=")[0] or line.startswith("bool operator"):
            continue
        fields.append(argument(line))
    return fields


def _declarations(text):
    """(comment, declaration) of what stands outside of classes."""
    comment, declaration, depth = [], "", 0
    for line in text.splitlines():
        stripped = line.strip()
        if depth == 0 and stripped.startswith("///"):
            comment.append(stripped[3:].removeprefix(" "))
            continue
        if depth == 0 and (not stripped or stripped.startswith(("//", "#", "namespace", "}"))):
            if not stripped and not declaration:
                comment = []
            continue
        code = re.sub(r"//.*", "", line)
        if depth == 0:
            declaration += " " + code.strip()
        opens = code.count("{") - code.count("}")
        begins = depth == 0 and opens > 0
        depth += opens
        if (
            depth == 0
            and not begins
            and (code.rstrip().endswith(";") or opens < 0 or code.rstrip().endswith("}"))
        ):
            yield comment, declaration.strip()
            # Overloads that follow share the comment.
            declaration = ""
            comment = list(comment)
    return


def _function(declaration, comment, header):
    declaration = re.sub(r"\)\s*\{.*", ")", declaration)
    declaration = declaration.rstrip("; ").strip()
    while _ATTRIBUTES.match(declaration):
        declaration = _ATTRIBUTES.sub("", declaration)
    found = _FUNCTION.match(declaration)
    if not found or found["result"].split()[0] in (
        "using",
        "struct",
        "class",
        "template",
        "return",
    ):
        return None
    arguments = [argument(part) for part in split(found["arguments"])]
    return Function(found["name"], header, arguments, comment, found["result"])
