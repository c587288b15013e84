"""Links of all pages in the repository that lead to files of it: the file is there, and so is the heading."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
MADE_BY_THE_SITE = "docs/reference/"  # tools/docs/reference.py


def pages():
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    names = done.stdout.split() or [str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md")]
    return sorted(n for n in names if (ROOT / n).exists())


def prose(text):
    """Without code, in which brackets mean something else."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """Of headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)
    found = set()
    for heading in re.findall(r"^#{1,6} (.*)$", text, re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", pages())
def test_links(page):
    lost = []
    for link in LINK.findall(prose((ROOT / page).read_text())):
        if re.match(r"^[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
        if target.startswith(MADE_BY_THE_SITE):
            continue
        path = ROOT / target
        if not path.exists() or (anchor and anchor not in anchors(path)):
            lost.append(link)
    assert lost == []


def test_every_picture_stands_on_a_page():
    """And is small: people load them on phones."""
    text = "".join((ROOT / page).read_text() for page in pages())
    for picture in (ROOT / "docs/pictures").iterdir():
        assert f"pictures/{picture.name})" in text, picture
        assert picture.stat().st_size < 150_000, picture


def test_every_page_is_on_the_site():
    """Sphinx's own check, without Sphinx: each page of docs/ is in the table of contents."""
    listed = set()
    for block in re.findall(
        r"```\{toctree\}\n(.*?)```", (ROOT / "docs/index.md").read_text(), re.S
    ):
        listed |= {line for line in block.splitlines() if line and not line.startswith(":")}
    docs = {
        str(p.relative_to(ROOT / "docs").with_suffix("")) for p in (ROOT / "docs").rglob("*.md")
    }
    assert docs - {"index"} <= listed
