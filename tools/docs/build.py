#!/usr/bin/env python3
"""Builds the site into build/docs/html: pages of docs/, the reference, and pages about the project from other folders.

The pages are put together in build/docs/source, Doxygen reads the headers, and Sphinx does the rest; a link that leads
nowhere ends the build with an error. `make docs` calls this with an environment that has Sphinx.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import doxygen_filter
import notebook_pages
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# Pages that stand elsewhere in the repository: where they go.
ELSEWHERE = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "src/README.md": "project/map_of_the_code.md",
    "src/files/README.md": "project/files.md",
    "src/keras/README.md": "project/model_library.md",
    "bench/README.md": "project/benchmarks.md",
    "bench/workloads.md": "project/workloads.md",
    "bench/compare/README.md": "project/peers.md",
    "bench/compare/workloads.md": "project/peers_workloads.md",
    "examples/README.md": "examples.md",
    "examples/keras/README.md": "examples_keras.md",
    "examples/notebooks/README.md": "notebooks/index.md",
    "examples/data/README.md": "project/data.md",
    "tests/fuzz/README.md": "project/fuzzing.md",
    "tests/oracle/README.md": "project/oracle.md",
}
LINK = re.compile(r"(?<!\\)(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


class Pages:
    """Puts the pages of the repository into one folder, with links that fit there."""

    def __init__(self, target):
        self.target = target
        docs = {f"docs/{p.relative_to(ROOT / 'docs')}" for p in (ROOT / "docs").rglob("*.md")}
        self.places = {**{d: d.removeprefix("docs/") for d in docs}, **ELSEWHERE}

    def link(self, page, target):
        """Where a link of a page leads on the site; what is no page becomes a file to download."""
        if re.match(r"^[a-z]+:", target):
            return target
        found = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if found.endswith(".ipynb"):
            return f"{pathlib.PurePath(found).stem}.md"  # linked from the page beside them alone
        for name in (found, f"{found}/README.md"):
            if name in self.places:
                here = os.path.dirname(self.places[page]) or "."
                return os.path.relpath(self.places[name], here)
        return self.file(page, found)

    def file(self, page, name):
        if not (ROOT / name).is_file():
            return None
        place = pathlib.PurePath(
            "files" if not name.startswith("docs/") else ".", name.removeprefix("docs/")
        )
        target = self.target / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        return os.path.relpath(place, os.path.dirname(self.places[page]) or ".")

    def write(self):
        for page, place in self.places.items():
            text = (ROOT / page).read_text()

            def moved(found):
                target = self.link(page, found[2])
                return found[0] if target is None else found[1] + target + found[3]

            out = self.target / place
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(LINK.sub(moved, text))


def project_index():
    names = sorted(
        p.removeprefix("project/").removesuffix(".md")
        for p in ELSEWHERE.values()
        if p.startswith("project/")
    )
    return "\n".join(
        ["# Working on Horngate", "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    )


def run_doxygen(folder):
    """Filtered headers go to folder/headers, Doxygen's XML to folder/xml."""
    for header in (ROOT / "include").rglob("*.h"):
        target = folder / "headers" / header.relative_to(ROOT / "include")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(doxygen_filter.filtered(header.read_text()))
    settings = (HERE / "Doxyfile").read_text() + "\n".join(
        [
            f"INPUT = {folder / 'headers'}",
            f"INCLUDE_PATH = {folder / 'headers'}",
            f"STRIP_FROM_PATH = {folder / 'headers'}",
            f"OUTPUT_DIRECTORY = {folder}",
            "",
        ]
    )
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)


def main():
    began = time.monotonic()
    folder = ROOT / "build" / "docs"
    for part in ("source", "headers", "xml"):
        shutil.rmtree(folder / part, ignore_errors=True)
    source = folder / "source"
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("*.md"))
    names = notebook_pages.write(source)
    Pages(source).write()
    with (source / "notebooks" / "index.md").open("a") as index:
        index.write("\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""]))
    (source / "project" / "index.md").write_text(project_index())
    run_doxygen(folder)
    for name, text in reference.pages(folder / "xml").items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-j",
        "auto",
        "-q",
        "-W",
        "--keep-going",
    ]
    command += ["-d", folder / "doctrees", source, folder / "html", *sys.argv[1:]]
    status = subprocess.run(command).returncode
    if status == 0:
        size = sum(f.stat().st_size for f in (folder / "html").rglob("*") if f.is_file())
        seconds = time.monotonic() - began
        print(f"docs: build/docs/html/index.html, {size / 1e6:.1f} MB, {seconds:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main())
