"""What `make docs` is made of, without Sphinx: headers for Doxygen, pages of Python functions, settings, the chart."""

import pathlib
import re

import declarations
import doxygen_filter
import horngate as K
import performance_chart
import python_pages

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
