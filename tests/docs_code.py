"""Runs the code of README.md and docs/: what the pages show works, and prints what they say.

A block that begins with ```python or ```cpp runs. Blocks of one page go on from each other; one of C++ that has a main is
a program by itself. A ```text block right after one is what it prints. Blocks whose first line names a file are steps that
test_adding.py takes.
"""

import dataclasses
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(python|cpp)\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", re.S | re.M)
END = "<end of a block>"


@dataclasses.dataclass
class Block:
    page: str
    number: int
    language: str
    code: str
    printed: str | None

    @property
    def where(self):
        return f"{self.page}, block {self.number}"

    @property
    def is_program(self):
        return bool(re.search(r"^int main\(", self.code, re.M))


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page, language):
    found = FENCE.findall(page.read_text())
    name = str(page.relative_to(ROOT))
    all_blocks = [Block(name, i, *parts) for i, parts in enumerate(found, 1)]
    for block, parts in zip(all_blocks, FENCE.finditer(page.read_text())):
        block.printed = parts[3]
    return [b for b in all_blocks if b.language == language]


def compare(block, output):
    """A line of the page that is `...` stands for any lines."""
    if block.printed is None:
        return
    parts = [re.escape(p) for p in block.printed.strip().split("...")]
    if not re.fullmatch(".*".join(parts), output.strip(), re.S):
        raise AssertionError(f"{block.where} prints\n{output}\nand the page says\n{block.printed}")


# --- Python ---------------------------------------------------------------------------------------

RUNNER = """
import contextlib, io, json, sys
names, out = {"__name__": "__main__"}, []
for where, code in json.load(sys.stdin):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(compile(code, where, "exec"), names)
    out.append(text.getvalue())
print(json.dumps(out))
"""


def run_python(page, folder, environment, python=sys.executable):
    found = blocks(page, "python")
    done = subprocess.run(
        [python, "-c", RUNNER],
        input=json.dumps([(b.where, b.code) for b in found]),
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    for block, output in zip(found, json.loads(done.stdout.splitlines()[-1]), strict=True):
        compare(block, output)


# --- C++ ------------------------------------------------------------------------------------------


def without_includes(code):
    return re.sub(r"^#include.*\n", "", code, flags=re.M)


def functions(page):
    """(name, blocks, text) of what a page's C++ blocks become: programs, and one function of all others."""
    stem = re.sub(r"\W", "_", str(page.relative_to(ROOT)))
    rest = []
    for block in blocks(page, "cpp"):
        if block.is_program:
            name = f"{stem}_{block.number}"
            code = re.sub(r"^int main\(", "int run(", without_includes(block.code), flags=re.M)
            head, _, tail = code.rpartition("\n}")  # only main may end without a return
            code = f"{head}\n  return 0;\n}}{tail}"
            text = f"namespace {name} {{\n{code}\nvoid all() {{ check(run()); end(); }}\n}}\n"
            yield name, [block], text
        else:
            rest.append(block)
    if rest:
        body = "".join(f"{without_includes(b.code)}\nend();\n" for b in rest)
        yield stem, rest, f"namespace {stem} {{\nvoid all() {{\n{body}}}\n}}\n"


# What the names in examples of headers are: those of K functions are looked at by test_cpp_signatures.py.
KERAS_NAMES = "keras::Value x, keras::Value h, keras::Value c, keras::Value a, keras::Value b, keras::Value words, keras::Model net"
HEADER_NAMES = {
    "cpus.h": "",
    "distributed.h": "K::Variable w, K::Variable b, K::Array loss, K::Array gradients, K::Array predictions, K::Array samples, void (*step)()",
    "explain.h": "K::Tensor loss, K::Variable w",
    "log.h": "",
    "plot.h": "K::Function f, K::Tensor x, K::Tensor y",
    "save.h": "K::Variable w, K::Variable b",
    "engines.h": "",
    "export_onnx.h": "K::Tensor x, K::Tensor y",
    "profile.h": "K::Function f, K::Array x",
    "keras/model.h": "keras::Model net, keras::Value x, K::Array images, K::Array labels, K::Array x1, K::Array y1, K::Array x2, K::Array y2",
    "keras/optimizers.h": "K::Tensor x, K::Tensor y, K::Tensor loss, K::Variable w, K::Variable b, keras::Optimizer optimizer",
}


INCLUDE = ROOT / "include" / "horngate"


def header_names():
    """{header: the parameters of its examples} of all that are compiled here."""
    keras = {f"keras/{header.name}": KERAS_NAMES for header in (INCLUDE / "keras").glob("*.h")}
    return {**keras, **HEADER_NAMES}


def header_examples():
    """`Example:` lines of headers as functions, to be compiled."""
    found = []
    for header, parameters in sorted(header_names().items()):
        for code in re.findall(
            r"/// Example: (.*\n(?: *///   .*\n)*)", (INCLUDE / header).read_text()
        ):
            code = re.sub(r"\n *///", "", code).strip().strip("`").rstrip(";")
            found.append(f"void example_{len(found)}({parameters}) {{ {{ {code}; }} }}")
    pragmas = [
        f'#pragma GCC diagnostic ignored "-W{w}"' for w in ("unused-parameter", "unused-result")
    ]
    head = [*pragmas, "namespace header_examples {", "namespace keras = horngate::keras;"]
    return len(found), "\n".join([*head, *found, "}"])


def cpp_program(wanted):
    """One translation unit with what the pages' blocks became, each run by its name."""
    includes, bodies, table = {"#include <horngate/keras.h>"}, [], []
    for page in wanted:
        for name, found, text in functions(page):
            for block in found:
                includes |= set(re.findall(r"^#include.*$", block.code, re.M))
            bodies.append(text)
            table.append(f'  if (name == "{name}") {name}::all();\n')
    needed = {
        "#include <cstdio>",
        "#include <iostream>",
        "#include <string>",
        "#include <stdexcept>",
        "#include <syslog.h>",
    }
    return "\n".join(
        [
            *sorted(includes | needed),
            "#include <horngate/horngate.h>",
            "namespace K = horngate;",
            f'void end() {{ std::cout << std::flush; std::printf("{END}\\n"); std::fflush(stdout); }}',
            'void check(int status) { if (status) throw std::runtime_error("main gives another number than 0"); }',
            *bodies,
            header_examples()[1],
            "int main(int, char** argv) {\n  const std::string name = argv[1];\n"
            + "".join(table)
            + "}",
        ]
    )


def compile_cpp(text, program):
    source = program.with_suffix(".cpp")
    source.write_text(text)
    lib = ROOT / "build" / "lib"
    command = [
        "c++",
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-variable",
        "-Wno-unused-but-set-variable",
    ]
    command += [
        "-I",
        ROOT / "include",
        source,
        "-o",
        program,
        "-L",
        lib,
        f"-Wl,-rpath,{lib}",
        "-pthread",
    ]
    command += ["-lhorngate_keras", "-lhorngate"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:6000]


def run_cpp(program, page, folder, environment):
    for name, found, _ in functions(page):
        done = subprocess.run(
            [program, name], capture_output=True, text=True, cwd=folder, env=environment
        )
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        *outputs, rest = done.stdout.split(END + "\n")
        assert rest == "" and len(outputs) == len(found), done.stdout
        for block, output in zip(found, outputs):
            compare(block, output)
