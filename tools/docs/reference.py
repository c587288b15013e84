"""Pages of the reference: each K function in Python and C++, then what only C++ has.

Python comes from the text of python/horngate, C++ from what Doxygen read in the headers, so nothing has to be built.
"""

import pathlib

import cpp_pages
import declarations
import functions_doc
import python_pages
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Pages of what only C++ has: title, and the beginnings of the headers' names.
CPP_PAGES = {
    "cpp_arrays": (
        "C++: arrays, shapes, element types",
        ("array.h", "shape.h", "small_vec.h", "dtype.h"),
    ),
    "cpp_graphs": (
        "C++: tensors, functions, arguments",
        ("tensor.h", "function.h", "args.h", "options.h", "ops/"),
    ),
    "cpp_process": (
        "C++: settings, engines, files, looking inside, errors",
        (
            "config.h",
            "cpus.h",
            "engines.h",
            "explain.h",
            "export_onnx.h",
            "error.h",
            "log.h",
            "plot.h",
            "profile.h",
            "save.h",
        ),
    ),
    "cpp_distributed": ("C++: several processes", ("distributed.h", "ranks.h")),
    "keras_models": (
        "C++: models and their files",
        ("keras/model.h", "keras/saving.h", "keras/data.h", "keras/json.h"),
    ),
    "keras_layers": ("C++: layers", ("keras/layer",)),
    "keras_training": (
        "C++: losses, metrics, optimizers, callbacks",
        (
            "keras/losses.h",
            "keras/metrics.h",
            "keras/optimizers.h",
            "keras/callbacks.h",
            "keras/objects.h",
        ),
    ),
}
# Headers that are on none of them, and why.
OTHER_HEADERS = {
    "comm.h": "docs/writing_a_communicator.md is about it",
    "engine.h": "docs/writing_an_engine.md is about it",
    "export.h": "a macro of the other headers",
    "hooks.h": "for bindings to other languages; may change with any version (docs/release.md)",
    "horngate.h": "includes the others",
    "keras.h": "includes the others",
}
# Names of Python, or their beginnings, that are on no page, and why.
OTHER_NAMES = {
    "horngate.keras_compat.": "what puts back and mends what Keras needs; docs/keras.md is about it",
    "horngate.export.export_keras_model": "what `python -m horngate export` runs",
}
REDUCTIONS = ("Average", "Sum", "Min", "Max", "Product")
# As its docstring has it, which the binding makes (python/src/bind_distributed.cpp).
COMM_ERROR = (
    "The ranks cannot go on together. `rank` is the one to blame, or None; `reason` is one of timeout, lost, left, given_up, "
    "mismatch, other."
)
INDEX = """# Reference

Every function, from the headers and docstrings. `K` is `import horngate as K` in Python and `namespace K = horngate;` in C++.
The examples of docstrings run in the tests, with their results; those of headers are compiled. [One table](../functions.md)
has all K functions with the versions of Keras that had them, old spellings, and which have a gradient.

"""


def groups():
    """[(key, title, names)]: those of the catalogue, then what Keras 2.3.1 wants besides, then our own."""
    catalogue = yaml.safe_load((ROOT / "api" / "functions.yaml").read_text())
    for key, title in catalogue["groups"].items():
        yield key, title, [e["name"] for e in catalogue["functions"] if e["group"] == key]
    yield "beyond", "beyond the reference pages", sorted(catalogue["beyond"])
    own = functions_doc.own_functions(catalogue)
    if own:
        yield "own", "of our own", sorted(own)


def page(title, text, lines):
    return f"# {title}\n\n{text}\n\n" + "\n".join(lines) + "\n"


class Writer:
    """Writes functions of C++, and each aggregate of options once, after the first function that takes it."""

    def __init__(self, reference):
        self.reference, self.written = reference, set()

    def entry(self, entry):
        if entry.name in self.written and entry.kind != "function":
            return []
        self.written.add(entry.name)
        lines = entry.directive
        for name in entry.options:
            options = self.reference.aggregates.get(name)
            if options and options.name not in self.written:
                lines += self.entry(options)
        return lines

    def function(self, name):
        overloads = self.reference.functions.get(functions_doc.CPP_NAMES.get(name, name), [])
        return [line for entry in overloads for line in self.entry(entry)]


def function_pages(writer):
    declared, made = declarations.read(), {}
    for key, title, names in groups():
        lines = []
        for name in names:
            lines += [
                f"## {name}",
                "",
                *python_pages.directive(declared[name]),
                *writer.function(name),
            ]
        made[key] = page(title[0].upper() + title[1:], "Python first, then C++.", lines)
    return made


def module_page():
    """What `horngate` has beyond the names that Keras copies."""
    lines = []
    for name, found in declarations.of_package().items():
        lines += [f"## {name}", "", *python_pages.directive(found)]
    found = declarations.of_module("profile")["trace"]
    lines += ["## profile.trace", "", *python_pages.directive(found, "horngate.profile")]
    lines += ["## typing", "", "`from horngate.typing import Padding`: types for annotations.", ""]
    for name, value in declarations.names_of_types().items():
        what = f"`{value}`" if value else "the class"
        lines += [f"```{{py:data}} horngate.typing.{name}", what, "```", ""]
    text = "What the Python package has that no Keras had. C++ has the functions too, see [there](cpp_process.md)."
    return page("Files, export, engines, looking inside, types", text, lines)


def distributed_page():
    """horngate.distributed."""
    lines = []
    for name, declaration in declarations.of_module("distributed/__init__").items():
        lines += [f"## {name}", "", *python_pages.directive(declaration, "hvd")]
    lines += ["## Reductions", "", "What `op` of `allreduce` and `reducescatter` can be.", ""]
    for name in REDUCTIONS:
        lines += [f"```{{py:data}} hvd.{name}", "```", ""]
    lines += ["## CommError", "", "```{py:exception} hvd.CommError", COMM_ERROR, "```", ""]
    lines += ["## Callbacks of Keras", "", "`from horngate.distributed.callbacks import ..`", ""]
    for definition in declarations.classes_of("distributed/callbacks"):
        lines += python_pages.class_directive(definition, "horngate.distributed.callbacks")
    text = (
        "`from horngate import distributed as hvd`. How to use it: [several processes](../howto/several_processes.md); C++: "
        "[there](cpp_distributed.md)."
    )
    return page("Several processes", text, lines)


def cpp_pages_of(writer):
    """Options stand after the first function that takes them, those of nobody at the end."""
    made, twins = {}, set(declarations.read()) | {"switch_"}
    for key, (title, headers) in CPP_PAGES.items():
        lines, last = [], None
        here = [e for e in writer.reference.entries if e.header.startswith(headers)]
        for header in headers:
            if not any(e.header.startswith(header) for e in here):
                raise ValueError(f"reference.py: nothing is described in {header}")
        for entry in sorted(here, key=lambda e: e.short.endswith("Options")):
            is_twin = entry.name == f"horngate::{entry.short}" and entry.short in twins
            written = [] if is_twin else writer.entry(entry)
            if written and entry.short != last:  # overloads share a heading
                lines += [f"## {entry.short}", ""]
                last = entry.short
            lines += written
        include = "keras.h" if key.startswith("keras") else "horngate.h"
        made[key] = page(title, f"`#include <horngate/{include}>`", lines)
    return made


def pages(xml_folder):
    """{path below docs/: text}."""
    writer = Writer(cpp_pages.Reference(xml_folder))
    made = {**function_pages(writer), "package": module_page(), "distributed": distributed_page()}
    made |= cpp_pages_of(writer)
    index = INDEX + "\n".join(["```{toctree}", ":maxdepth: 1", "", *made, "```", ""])
    return {f"reference/{name}.md": text for name, text in {"index": index, **made}.items()}
