"""What C++ users meet when they write a program: no warnings from headers, and errors that say what to write."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = [c for c in ("g++", "clang++-14", "clang++-19") if shutil.which(c)]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror"]


def compiled(tmp_path, text, compiler="g++", standard="c++20", flags=()):
    file = tmp_path / "program.cpp"
    file.write_text(text)
    command = [compiler, f"-std={standard}", "-fsyntax-only", f"-I{ROOT}/include", *flags, file]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("header", ["horngate/horngate.h", "horngate/keras.h"])
def test_headers_have_no_warnings(tmp_path, compiler, header):
    done = compiled(tmp_path, f"#include <{header}>\nint main() {{}}\n", compiler, flags=WARNINGS)
    assert done.returncode == 0, done.stderr


USES = """#include <horngate/keras.h>
namespace K = horngate;
namespace keras = horngate::keras;
int main() {
  auto x = keras::Input({.shape = {8}});
  auto y = keras::Embedding(10, 4, {.input_length = 8})(x);
  keras::Model model(x, keras::Dense(1)(keras::Flatten()(y)));
  auto loss = [](const K::Tensor& a, const K::Tensor& b) { return K::mean(K::square(a - b), -1); };
  model.compile({.optimizer = "sgd", .loss = loss});
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_programs_have_no_warnings(tmp_path, compiler):
    done = compiled(tmp_path, USES, compiler, flags=WARNINGS)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", [c for c in COMPILERS if c != "g++"])  # the build has g++
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.cpp")), ids=lambda p: p.stem)
def test_examples_compile_with_clang(tmp_path, compiler, example):
    define, data = f'-DHORNGATE_EXAMPLE_DATA="{ROOT}/examples/data"', f"-I{ROOT}/examples"
    done = compiled(tmp_path, example.read_text(), compiler, flags=[*WARNINGS, define, data])
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", ["horngate/horngate.h", "horngate/keras.h"])
def test_an_older_standard_is_one_line(tmp_path, header):
    done = compiled(tmp_path, f"#include <{header}>\nint main() {{}}\n", standard="c++17")
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    assert len(errors) == 2 and "Horngate needs C++20: compile with -std=c++20" in errors[0], errors


PROGRAM = """#include <horngate/horngate.h>
namespace K = horngate;
bool use(const K::Tensor& x, const K::Tensor& y, K::Variable& w) {{ {}; return w.defined(); }}
"""
REFUSED = {
    "return x == y": "K::equal(x, y) compares elements, x.same_as(y) asks",
    "return x == 1.0": "K::equal(x, y) compares elements",
    "return w == w": "K::equal(x, y) compares elements",
    "auto s = K::sum(x, {0, 1})": "ReduceOptions",
    "w += 1": "a variable changes in a function",
    "w *= x": "a variable changes in a function",
}


@pytest.mark.parametrize("code", REFUSED)
def test_what_does_not_compile_says_what_to_write(tmp_path, code):
    done = compiled(tmp_path, PROGRAM.format(code))
    assert done.returncode != 0 and REFUSED[code] in done.stderr, done.stderr


def test_the_frame_of_these_programs_compiles(tmp_path):
    done = compiled(tmp_path, PROGRAM.format("K::Tensor h = w + x; h += y"))
    assert done.returncode == 0, done.stderr
