"""Sphinx's settings for the site; `make docs` builds it (tools/docs/build.py)."""

project = "Horngate"
author = "The Horngate authors"
copyright = "The Horngate authors"
html_title = "Horngate"
html_short_title = "Horngate"

extensions = ["myst_parser", "breathe", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

breathe_projects = {"horngate": "../xml"}
breathe_default_project = "horngate"
breathe_show_include = False
# Constructors that differ in what they require of a type.
suppress_warnings = ["duplicate_declaration.cpp"]
primary_domain = "py"
highlight_language = "none"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["horngate.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#79b8ff", "color-brand-content": "#79b8ff"},
}
# Prompts are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
