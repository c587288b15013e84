"""What `make docs` is made of, without Sphinx: headers for Doxygen, pages of Python functions, settings, the chart."""

import pathlib
import re

import build
import cpp_pages
import declarations
import doxygen_filter
import horngate as K
import performance_chart
import python_pages
import reference
from horngate import distributed

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_examples_of_headers_become_code():
    text = "/// Doubles.\n/// Example: y = K::twice(x,\n///   2);\nTensor twice(const Tensor& x);\n"
    want = "/// Doubles.\n/// @code{.cpp}\n/// y = K::twice(x,\n/// 2);\n/// @endcode\nTensor twice(const Tensor& x);\n"
    assert doxygen_filter.filtered(text) == want


def test_comments_beside_fields_belong_to_them():
    text = "struct S {\n  int n = 1;  // how many\n};\n"
    assert "int n = 1;  ///< how many" in doxygen_filter.filtered(text)


def test_no_example_of_a_header_is_lost():
    for header in (ROOT / "include").rglob("*.h"):
        text = header.read_text()
        filtered = doxygen_filter.filtered(text)
        assert "/// Example" not in filtered, header
        assert (
            filtered.count("@code") == filtered.count("@endcode") >= text.count("/// Example:")
        ), header


def test_every_python_function_has_its_parameters_and_example():
    declared = declarations.read()
    assert sorted(declared) == sorted(K.__all__)
    for name, declaration in declared.items():
        text = "\n".join(python_pages.directive(declaration))
        assert text.startswith(f"````{{py:function}} K.{name}(") and ">>> " in text
        shown = set(re.findall(r"^:param ([^:]+):", text, re.M))
        wanted = set(declaration.arguments)
        assert wanted <= {n.strip(" \\*") for s in shown for n in s.split(",")}, name


# Modules that define functions of K.
OF_K = ("horngate.export.", "horngate.files.", "horngate.legacy.", "horngate.look.")


def public_names():
    """All names that modules of the package list, as the reference writes them."""
    found = {f"K.{name}" for name in (*K.__all__, *declarations.of_package())}
    for path in declarations.PACKAGE.rglob("*.py"):
        parts = path.relative_to(declarations.PACKAGE).with_suffix("").parts
        if any(p.startswith("_") and p != "__init__" for p in parts):
            continue
        module = ".".join(["horngate", *(p for p in parts if p != "__init__")])
        for name in declarations.listed("/".join(parts)):
            whole = f"{module}.{name}"
            if module == "horngate.distributed":
                whole = f"hvd.{name}"
            elif whole.startswith(OF_K) and f"K.{name}" in found:
                whole = f"K.{name}"
            found.add(whole)
    return found


def test_every_python_name_is_in_the_reference():
    text = reference.module_page() + reference.distributed_page()
    shown = {f"K.{name}" for _, _, names in reference.groups() for name in names}
    shown |= set(re.findall(r"^`{3,}\{py:\w+\} ([\w.]+)", text, re.M))
    public = public_names()
    assert {"K.relu", "K.save", "hvd.rank", "horngate.typing.Padding"} <= public
    lost = {n for n in public - shown if not n.startswith(tuple(reference.OTHER_NAMES))}
    assert lost == set() and all(reference.OTHER_NAMES.values())


def test_every_header_is_in_the_reference():
    include = ROOT / "include" / "horngate"
    headers = {str(p.relative_to(include)) for p in include.rglob("*.h")}
    on_pages = tuple(h for _, some in reference.CPP_PAGES.values() for h in some)
    assert {h for h in headers if not h.startswith(on_pages)} == set(reference.OTHER_HEADERS)
    assert all(reference.OTHER_HEADERS.values())
    for start in on_pages:
        assert any(h.startswith(start) for h in headers), start


def test_every_namespace_is_in_the_reference():
    """Doxygen writes a file for each; cpp_pages.py reads those that it knows."""
    found = set()
    for header in (ROOT / "include/horngate").rglob("*.h"):
        if header.name in reference.OTHER_HEADERS:
            continue
        outer = ""
        for name in re.findall(r"^namespace ([\w:]+) \{", header.read_text(), re.M):
            outer = name if name.startswith("horngate") else f"{outer}::{name}"
            found.add(outer)
            outer = outer.rpartition("::")[0] if name != outer else outer
    assert {n for n in found if not n.endswith("::detail")} == set(cpp_pages.NAMESPACES)


def test_what_the_page_says_of_commerror():
    assert distributed.CommError.__doc__ == reference.COMM_ERROR
    names = {n for n in distributed.__all__ if isinstance(getattr(distributed, n), str)}
    assert names == set(reference.REDUCTIONS)


def test_every_link_leads_somewhere_on_the_site(tmp_path):
    """What Sphinx would refuse, without Sphinx: links to folders that are no page."""
    site = build.Pages(tmp_path)
    for page in site.places:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", (ROOT / page).read_text(), flags=re.S | re.M)
        for found in build.LINK.finditer(text):
            link = found[2]
            if not link.startswith("reference/") and "/reference/" not in link:
                assert site.link(page, link) is not None, f"{page}: {link}"


def test_every_variable_is_on_a_page():
    """HORNGATE_* that the code reads is described, and what is described is read."""
    page = (ROOT / "docs/settings.md").read_text() + (ROOT / "docs/engines.md").read_text()
    read = set()
    for folder in ("src", "python"):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in (".cpp", ".h", ".py"):
                read |= set(re.findall(r'"(HORNGATE_[A-Z_]+[A-Z])["=]', file.read_text()))
    read = {r for r in read if not r.startswith("HORNGATE_TEST")}
    described = set(re.findall(r"HORNGATE_[A-Z_]+[A-Z]", page))
    assert len(read) > 20 and read - described == set()
    assert described - read == set()


def test_the_chart_has_the_figures_of_the_page():
    text = performance_chart.PAGE.read_text()
    found = performance_chart.ratios(text)
    assert list(found)[-1] == "all" and len(found) >= 9 and all(0 < r < 2 for r in found.values())
    picture = performance_chart.render()
    for ratio in found.values():
        assert f">{ratio:.2f}</text>" in picture
    assert set(performance_chart.start(text)) == set(performance_chart.PEERS)
