"""What Doxygen found in the headers, as directives of Breathe."""

import dataclasses
import functools
import re
import xml.etree.ElementTree

NAMESPACES = (
    "horngate",
    "horngate::distributed",
    "horngate::keras",
    "horngate::keras::losses",
    "horngate::keras::metrics",
)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A function, class, struct, enumeration or name of a type, with its comment."""

    name: str  # with its namespace
    kind: str  # "function", "class", "struct", "enum", "typedef"
    header: str  # "ops/nn.h"
    line: int
    types: tuple = ()  # of a function's parameters
    described: bool = True

    @property
    def short(self):
        return self.name.rpartition("::")[2]

    @property
    def directive(self):
        if self.kind == "function":
            arguments = ", ".join(re.sub(r"\s*([<>&*])\s*", r"\1", t) for t in self.types)
            return [f"```{{doxygenfunction}} {self.name}({arguments})", "```", ""]
        members = [":members:", ":undoc-members:"] if self.kind in ("class", "struct") else []
        return [f"```{{doxygen{self.kind}}} {self.name}", *members, "```", ""]

    @property
    def options(self):
        """Names of the aggregates of options that a function takes."""
        names = (re.sub(r"const\b|&|\s", "", t) for t in self.types)
        return [n for n in names if n.endswith("Options")]


def text_of(element):
    return "" if element is None else "".join(element.itertext()).strip()


class Reference:
    """Entries of all public headers, from Doxygen's XML in a folder."""

    def __init__(self, folder):
        self.folder = folder

    def _root(self, name):
        return xml.etree.ElementTree.parse(self.folder / f"{name}.xml").getroot()

    def _place(self, element):
        location = element.find("location")
        header = location.get("file").partition("horngate/")[2]
        return header, int(location.get("line"))

    def _member(self, namespace, member):
        types = tuple(text_of(p.find("type")) for p in member.findall("param"))
        name, kind = f"{namespace}::{member.findtext('name')}", member.get("kind")
        # Enumerators speak for themselves.
        described = kind == "enum" or bool(text_of(member.find("briefdescription")))
        return Entry(name, kind, *self._place(member), types, described)

    def _compound(self, reference):
        definition = self._root(reference.get("refid")).find("compounddef")
        name, kind = definition.findtext("compoundname"), definition.get("kind")
        return Entry(name, kind, *self._place(definition))

    @functools.cached_property
    def entries(self):
        """In the order of the headers. Operators, templates for types and what has no comment are left out."""
        found = []
        for namespace in NAMESPACES:
            root = self._root("namespace" + namespace.replace("::", "_1_1"))
            for member in root.iter("memberdef"):
                if member.get("kind") in ("function", "enum", "typedef"):
                    found.append(self._member(namespace, member))
            found += [self._compound(inner) for inner in root.iter("innerclass")]
        known = [e for e in found if e.described and "<" not in e.name and "operator" not in e.name]
        return sorted(known, key=lambda e: (e.header, e.line))

    @functools.cached_property
    def functions(self):
        """{name: overloads} of K functions."""
        found = {}
        for entry in self.entries:
            if entry.kind == "function" and entry.name == f"horngate::{entry.short}":
                found.setdefault(entry.short, []).append(entry)
        return found

    @functools.cached_property
    def aggregates(self):
        return {e.short: e for e in self.entries if e.kind == "struct"}
