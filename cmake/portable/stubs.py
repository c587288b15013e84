"""Writes libraries to link with in place of the system's, which hold names and versions alone, and of these only what
an older system has: stubs.py FOLDER OBJDUMP CXX FAMILY=VERSION...

What is linked with them asks for nothing newer. A name that is missing is a link error, so nothing is left to chance.
"""

import pathlib
import re
import subprocess
import sys

LIBRARIES = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2"]
# Parts of glibc until 2.34, when they became parts of libc.so.6. Programs must still ask for them.
FORMER = ["libpthread.so.0", "libdl.so.2"]
SYMBOL = re.compile(
    r"^[0-9a-f]+ (?P<flags>.{7}) (?P<section>\S+)\s+(?P<size>[0-9a-f]+) [ (]*"
    r"(?P<family>[A-Z]+)_(?P<version>[0-9.]+)\)? +(?P<name>\S+)$"
)


def numbers(version):
    return tuple(int(part) for part in version.split("."))


def symbols(library, limits, objdump):
    """name -> (version as text, kind, size): the newest of each name that the limits allow."""
    said = subprocess.run([objdump, "-T", library], capture_output=True, text=True, check=True)
    newest = {}
    for match in filter(None, map(SYMBOL.match, said.stdout.splitlines())):
        family, version = match["family"], match["version"]
        if match["section"] in ("*UND*", "*ABS*") or numbers(version) > limits.get(family, ()):
            continue
        kind = "function"
        if match["flags"].endswith("O"):
            kind = "object"
        elif match["section"] in (".tbss", ".tdata"):
            kind = "tls_object"
        before = newest.get(match["name"])
        if before is None or numbers(before[0].split("_")[1]) < numbers(version):
            newest[match["name"]] = (f"{family}_{version}", kind, int(match["size"], 16))
    return newest


SECTIONS = {"function": ".text", "object": ".bss", "tls_object": '.section .tbss,"awT",@nobits'}


def write_stub(folder, soname, table, cxx):
    lines = ['.section .note.GNU-stack,"",@progbits']
    for i, (name, (version, kind, size)) in enumerate(sorted(table.items())):
        size = 1 if kind == "function" else max(size, 1)
        lines += [SECTIONS[kind], f".globl s{i}", f".type s{i},@{kind}", f".size s{i},{size}"]
        lines += [f"s{i}: .skip {size}", f".symver s{i},{name}@@{version},remove"]
    assembly, script = folder / f"{soname}.s", folder / f"{soname}.map"
    assembly.write_text("\n".join(lines) + "\n")
    versions = sorted({version for version, _, _ in table.values()})
    script.write_text("\n".join(f"{version} {{ }};" for version in versions) + "\n")
    options = [f"-Wl,-soname,{soname}"] + ([f"-Wl,--version-script,{script}"] if table else [])
    subprocess.run(
        [cxx, "-shared", "-nostdlib", "-o", folder / soname, assembly, *options], check=True
    )


def main():
    folder, objdump, cxx, *words = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    limits = {family: numbers(version) for family, version in (word.split("=") for word in words)}
    for soname in LIBRARIES:
        found = subprocess.run(
            [cxx, f"-print-file-name={soname}"], capture_output=True, text=True, check=True
        )
        table = symbols(found.stdout.strip(), limits, objdump)
        if not table:
            sys.exit(f"stubs.py: {found.stdout.strip()} has no symbols that old")
        write_stub(folder, soname, table, cxx)
    for soname in FORMER:
        write_stub(folder, soname, {}, cxx)


main()
