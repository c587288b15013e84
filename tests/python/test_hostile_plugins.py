"""Plug-ins that are broken, of another version, or against the rules: a clear error each, and the process lives.

A plug-in is code and may do anything once it runs; what is promised is that a damaged file is refused before it is
loaded, and that wrong answers to the functions of engine.h are told apart.
"""

import os
import pathlib
import shutil
import struct
import subprocess

import engine_process
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAME = "libhorngate_engine_bad.so"

PROGRAM = """
import horngate as K, numpy as np
x = K.placeholder((2, 3))
v = K.variable(np.zeros((2, 3)))
for i in range(2):
    try:
        print(*K.function([x], [-x], updates=[K.update_add(v, x)])([np.ones((2, 3))])[0].ravel())
    except Exception as e:
        print(type(e).__name__ + ":", e)
try: K.set_engine("native")
except RuntimeError: pass  # the bad one was opened, and is the engine of this process
print("alive", K.get_value(v).sum())
"""

SOURCE = r"""
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include "horngate/engine.h"
namespace {
int fail(hg_status* s, int code, const char* text) { s->code = code; std::strcpy(s->text, text); return 1; }
void release(void* p) { std::free(p); }
int open(const hg_open*, void** e, hg_status* s) { (void)s; *e = nullptr; OPEN return 0; }
int supports(void*, const hg_graph* g, uint32_t n) { SUPPORTS return std::strcmp(g->node[n]->prim, "neg") == 0; }
int compile(void*, const hg_graph* g, void** x, hg_status* s) { (void)g; (void)s; *x = nullptr; COMPILE return 0; }
int run(void*, const hg_buffer* const* in, hg_buffer* const* out, const hg_run*, hg_status* s) {
  (void)in; (void)s; (void)out; (void)release; RUN
  return 0;
}
void free_executable(void*) { FREE }
hg_engine_api api = {HG_ABI, sizeof(hg_engine_api), "bad", "1", CAPS, open, supports, compile, run,
                     free_executable};
}
extern "C" HG_ENGINE_EXPORT const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  (void)host_abi; (void)fail; MAIN
  return &api;
}
"""
GIVES = {"CAPS": "HG_CAP_GIVES_MEMORY"}

# name: (parts of the source, what the error says)
CODE = {
    "main throws": ({"MAIN": 'throw std::runtime_error("no");'}, "hg_engine_main threw"),
    "main throws a number": ({"MAIN": "throw 7;"}, "something other than a std::exception"),
    "main gives nothing": ({"MAIN": "return nullptr;"}, "does not support interface version"),
    "a later version": ({"MAIN": "api.abi = HG_ABI + 1;"}, "has interface version 3; this"),
    "version 0": ({"MAIN": "api.abi = 0;"}, "has interface version 0; this"),
    "a short struct": ({"MAIN": "api.size = 16;"}, "lacks functions that every engine must have"),
    "no open": ({"MAIN": "api.open = nullptr;"}, "lacks functions"),
    "no supports": ({"MAIN": "api.supports = nullptr;"}, "lacks functions"),
    "no compile": ({"MAIN": "api.compile = nullptr;"}, "lacks functions"),
    "no run": ({"MAIN": "api.run = nullptr;"}, "lacks functions"),
    "no free": ({"MAIN": "api.free_executable = nullptr;"}, "lacks functions"),
    "no name": ({"MAIN": "api.name = nullptr;"}, "has no name or no version"),
    "no version": ({"MAIN": "api.version = nullptr;"}, "has no name or no version"),
    "open throws": ({"OPEN": 'throw std::logic_error("shut");'}, "its function open threw"),
    "open fails": ({"OPEN": 'return fail(s, 5, "closed today");'}, "opened: closed today"),
    "open fails without a word": ({"OPEN": "return 1;"}, "opened: no reason given."),
    "open fails without an end": (
        {"OPEN": "std::memset(s->text, 'x', sizeof s->text); return 1;"},
        "opened: xxxx",
    ),
    "supports throws": ({"SUPPORTS": "throw 1;"}, "its function supports threw"),
    "compile throws": ({"COMPILE": "throw std::bad_alloc();"}, "its function compile threw"),
    "compile fails": ({"COMPILE": 'return fail(s, 1, "too odd");'}, "ValueError: too odd"),
    "compile fails with an unknown code": (
        {"COMPILE": 'return fail(s, 99, "too odd");'},
        "RuntimeError: too odd",
    ),
    "compile fails without a word": ({"COMPILE": "return 1;"}, "its function compile failed: no"),
    "run throws": ({"RUN": 'throw std::out_of_range("far");'}, "its function run threw"),
    "run throws a text": ({"RUN": 'throw "text";'}, "something other than a std::exception"),
    "run fails": ({"RUN": 'return fail(s, 3, "index 9");'}, "IndexError: index 9"),
    "run fails without a word": ({"RUN": "return 1;"}, "its function run failed: no reason"),
    "a result of another size": ({"RUN": "out[0]->bytes = 4;"}, "does not have the requested size"),
    "a result that is taken away": ({"RUN": "out[0]->data = nullptr;"}, "has no memory for its 24"),
    "no memory is given": ({**GIVES}, "has no memory for its 24 bytes"),
    "memory that is not aligned": (
        {
            **GIVES,
            "RUN": "out[0]->owner = std::aligned_alloc(64, 128); out[0]->release = release;"
            "out[0]->data = (char*)out[0]->owner + 4;",
        },
        "not aligned to 64 bytes",
    ),
    "memory without a release": (
        {**GIVES, "RUN": "out[0]->data = std::aligned_alloc(64, 64);"},
        "has memory but no release function",
    ),
    "given memory of another size": (
        {
            **GIVES,
            "RUN": "out[0]->data = out[0]->owner = std::aligned_alloc(64, 64);"
            "out[0]->release = release; out[0]->bytes = 1 << 20;",
        },
        "does not have the requested size",
    ),
}
OWN = {"CAPS": "HG_CAP_OWN_MEMORY"}
MEMORY = (
    "api.alloc = [](void*, size_t n, void** d, hg_status* s) { (void)s; *d = std::malloc(n); ALLOC return 0; };"
    "api.free = [](void*, void* d) { std::free(d); };"
    "api.copy = [](void*, void* to, const void* from, size_t n, int, hg_status* s) {"
    " (void)s; COPY std::memcpy(to, from, n); return 0; };"
)


def own(alloc="", copy=""):
    """An engine with memory of its own; parts of its functions."""
    return {**OWN, "MAIN": MEMORY.replace("ALLOC", alloc).replace("COPY", copy)}


CODE |= {
    "own memory without functions for it": (OWN, "but lacks alloc, free or copy"),
    "own memory and sparse values": (
        {**own(), "CAPS": "HG_CAP_OWN_MEMORY | HG_CAP_SPARSE"},
        "cannot both have its own memory and take sparse values",
    ),
    "alloc throws": (own("throw 1;"), "its function alloc threw"),
    "alloc fails": (own('return fail(s, 5, "all gone");'), "RuntimeError: all gone"),
    "alloc gives nothing": (
        own("*d = nullptr;"),
        "its function alloc returned no memory for 24 bytes",
    ),
    "copy throws": (own("", "throw 1;"), "its function copy threw"),
    "copy fails": (own("", 'return fail(s, 5, "no way in");'), "RuntimeError: no way in"),
    "copy fails without a word": (own("", "return 1;"), "its function copy failed: no reason"),
}
CODE["no name after open"] = ({"OPEN": "take_name();"}, "has no name or no version")


def build(folder, parts):
    """Compiles the plug-in; a part that is not given is nothing."""
    source = SOURCE
    words = {"CAPS": "0", **parts}
    if "take_name" in words.get("OPEN", ""):
        source = source.replace("namespace {\n", "namespace {\nvoid take_name();\n", 1)
        source = source.replace(
            "free_executable};\n}",
            "free_executable};\nvoid take_name() { api.name = nullptr; }\n}",
        )
    for part in ("OPEN", "SUPPORTS", "COMPILE", "RUN", "FREE", "CAPS", "MAIN"):
        source = source.replace(part + " ", words.get(part, "") + " ")
        source = source.replace(part + ",", words.get(part, "") + ",")
        source = source.replace(part + "\n", words.get(part, "") + "\n")
    compile_library(source, folder / NAME)


def compile_library(source, target, *flags):
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler to build a plug-in with")
    file = target.parent / "bad.cpp"
    file.write_text(source)
    include = f"-I{ROOT / 'include'}"
    command = [compiler, "-shared", "-fPIC", include, file, *flags, "-o", target]
    subprocess.run(command, check=True)


def said(folder):
    done = engine_process.python("bad", PROGRAM, HORNGATE_ENGINE_PATH=str(folder))
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout}{done.stderr[-2000:]}"
    *lines, last = done.stdout.splitlines()
    assert last == "alive 0.0", "variables are as they were\n" + done.stdout
    return lines


@pytest.mark.parametrize("kind", CODE)
def test_code_against_the_rules(kind, tmp_path):
    parts, text = CODE[kind]
    build(tmp_path, parts)
    lines = said(tmp_path)
    assert len(lines) == 2 and all(text in line for line in lines), lines


def test_what_throws_when_it_is_freed(tmp_path):
    """There is nobody to tell: the call itself was well."""
    fill = "for (int i = 0; i < 6; ++i) ((float*)out[0]->data)[i] = -1;"
    parts = {"FREE": "throw 1;", "RUN": fill}
    build(tmp_path, parts)
    program = PROGRAM + "import gc; K.clear_session(); gc.collect(); print('still')"
    done = engine_process.python("bad", program, HORNGATE_ENGINE_PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("-1.0 -1.0") and done.stdout.endswith("alive 12.0\nstill\n")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a plug-in that works."""
    folder = tmp_path_factory.mktemp("whole")
    build(folder, {})
    return (folder / NAME).read_bytes()


def patched(data, at, form, value):
    new = bytearray(data)
    struct.pack_into(form, new, at, value)
    return bytes(new)


def segment(data, kind):
    """Where the header of the first segment of a kind lies."""
    (start,), (size, n) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<HH", data, 54)
    for i in range(n):
        if struct.unpack_from("I", data, start + i * size)[0] == kind:
            return start + i * size
    raise LookupError(kind)


def dynamic(data, tag):
    """Where the value of an entry of the dynamic table lies."""
    at, size = struct.unpack_from("<Q", data, segment(data, 2) + 8)[0], len(data)
    while at < size:
        found = struct.unpack_from("<q", data, at)[0]
        if found == tag:
            return at + 8
        assert found != 0, f"no entry {tag}"
        at += 16
    raise LookupError(tag)


FAR = 1 << 40
FILES = {
    "empty": (lambda d: b"", "is not a 64-bit shared library"),
    "text": (lambda d: b"#!/bin/sh\nexit 1\n" * 100, "is not a 64-bit shared library"),
    "zeros": (lambda d: bytes(len(d)), "is not a 64-bit shared library"),
    "a page of HTML": (lambda d: b"<html>not found</html>" * 50, "is not a 64-bit shared library"),
    "the head alone": (lambda d: d[:64], "is cut off"),
    "one page": (lambda d: d[:4096], "is cut off"),
    "half": (lambda d: d[: len(d) // 2], "is cut off"),
    "all but the last byte": (lambda d: d[:-1], "is cut off"),
    "of 32 bits": (lambda d: patched(d, 4, "B", 1), "is not a 64-bit shared library"),
    "of the other byte order": (lambda d: patched(d, 5, "B", 2), "another kind of machine"),
    "of another machine": (lambda d: patched(d, 18, "<H", 243), "another kind of machine"),
    "an object file": (lambda d: patched(d, 16, "<H", 1), "not a shared library"),
    "a program": (lambda d: patched(d, 16, "<H", 2), "not a shared library"),
    "no segments": (lambda d: patched(d, 56, "<H", 0), "has damaged tables"),
    "segments of another size": (lambda d: patched(d, 54, "<H", 7), "has damaged tables"),
    "segments beyond the end": (lambda d: patched(d, 32, "<Q", FAR), "is cut off"),
    "segments at the end of all": (lambda d: patched(d, 32, "<Q", 2**64 - 8), "has damaged tables"),
    "sections beyond the end": (lambda d: patched(d, 40, "<Q", FAR), "is cut off"),
    "a segment beyond the end": (
        lambda d: patched(d, segment(d, 1) + 8, "<Q", FAR),
        "is cut off",
    ),
    "a segment that is smaller in memory": (
        lambda d: patched(d, segment(d, 1) + 40, "<Q", 1),
        "has damaged tables",
    ),
    "an alignment of 3": (lambda d: patched(d, segment(d, 1) + 48, "<Q", 3), "has damaged tables"),
    "no dynamic table": (lambda d: patched(d, segment(d, 2), "<I", 0), "has damaged tables"),
    "a dynamic table far away": (
        lambda d: patched(d, segment(d, 2) + 16, "<Q", FAR),
        "has damaged tables",
    ),
    "strings far away": (lambda d: patched(d, dynamic(d, 5), "<Q", FAR), "has damaged tables"),
    "symbols far away": (lambda d: patched(d, dynamic(d, 6), "<Q", FAR), "has damaged tables"),
    "relocations far away": (lambda d: patched(d, dynamic(d, 7), "<Q", FAR), "has damaged tables"),
    "relocations without end": (
        lambda d: patched(d, dynamic(d, 8), "<Q", 1 << 30),
        "has damaged tables",
    ),
    "a relocation far away": (
        lambda d: patched(d, struct.unpack_from("<Q", d, dynamic(d, 7))[0], "<Q", FAR),
        "has damaged tables",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_damaged_files(kind, whole, tmp_path):
    damage, text = FILES[kind]
    (tmp_path / NAME).write_bytes(damage(whole))
    lines = said(tmp_path)
    assert len(lines) == 2 and all(text in line for line in lines), lines
    assert all("engine bad: the plug-in could not be loaded: " in line for line in lines)


def test_every_length(whole, tmp_path):
    """A download may end anywhere: never a signal."""
    program = (
        "import horngate as K, sys, os\n"
        "path, n = sys.argv[1], int(sys.argv[2])\n"
        "for length in range(n):\n"
        "    if length % 7 and length > 300 and length < n - 300: continue\n"
        "    os.truncate(path, n - 1 - length)\n"
        "    try: K.set_engine('bad')\n"
        "    except RuntimeError as e: assert 'could not be loaded' in str(e), (length, str(e))\n"
        "    else: raise AssertionError(length)\n"
        "print('alive')"
    )
    (tmp_path / NAME).write_bytes(whole)
    done = engine_process.python(
        None, program, str(tmp_path / NAME), str(len(whole)), HORNGATE_ENGINE_PATH=str(tmp_path)
    )
    assert done.stdout == "alive\n", done.stderr[-2000:]


THINGS = {
    "a folder": (lambda p: p.mkdir(), "is a folder"),
    "a pipe": (lambda p: os.mkfifo(p), "is not a regular file"),
    "a device": (lambda p: p.symlink_to("/dev/zero"), "is not a regular file"),
    "a link to nothing": (lambda p: p.symlink_to("nothing"), "cannot be read: No such file"),
    "a link to itself": (lambda p: p.symlink_to(p.name), "cannot be read: Too many levels"),
}


@pytest.mark.parametrize("kind", THINGS)
def test_things_that_are_no_files(kind, tmp_path):
    make, text = THINGS[kind]
    make(tmp_path / NAME)
    lines = said(tmp_path)
    assert len(lines) == 2 and all(text in line for line in lines), lines


@pytest.mark.parametrize(
    "source, text",
    [
        ("int nothing;", "does not export hg_engine_main"),
        ('extern "C" { int hg_engine_main = 3; }', "but it is not a function"),
        ('extern "C" void missing(); void f() { missing(); }', "undefined symbol: missing"),
    ],
    ids=["no entry", "an entry that is data", "a symbol that is missing"],
)
def test_other_libraries(source, text, tmp_path):
    compile_library(source, tmp_path / NAME)
    assert all(text in line for line in said(tmp_path))


def test_a_library_that_needs_another(tmp_path):
    compile_library("void f() {}", tmp_path / "libother.so")
    source = 'extern void f(); extern "C" void g() { f(); }'
    compile_library(source, tmp_path / NAME, f"-L{tmp_path}", "-lother")
    (tmp_path / "libother.so").unlink()
    assert all("libother.so" in line for line in said(tmp_path))


def test_names_that_are_none(tmp_path):
    """A file whose name is no name is no plug-in, and does no harm to the list."""
    for name in (b"\xff\xfe", b"a b", "\u00e9".encode(), b"x\ny"):
        path = os.fsencode(tmp_path) + b"/libhorngate_engine_" + name + b".so"
        with open(path, "wb"):
            pass
    done = engine_process.run(
        engine_process.sys.executable,
        "-c",
        "import horngate as K\ntry: K.set_engine('abacus')\nexcept ValueError as e: print(e)",
        HORNGATE_ENGINE_PATH=str(tmp_path),
    )
    assert done.returncode == 0 and "Engines here: native, " in done.stdout, done.stderr
    assert "\\xff" not in done.stdout and "a b" not in done.stdout and "\u00e9" not in done.stdout
