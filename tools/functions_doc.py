"""The page docs/functions.md, from api/functions.yaml and the headers: every K function at a glance."""

import ast
import pathlib

import declarations
import headers
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "functions.md"
# Which Keras version each edition of the reference page describes.
AGES = {"001": "1.0", "004": "1.1", "000": "2.0", "003": "2.0", "002": "2.1"}
CPP_NAMES = {"switch": "switch_"}

# Tensors come out, but no gradient goes back through them.
NO_GRADIENT = set(
    "all any arange argmax argmin ctc_decode ctc_label_dense_to_sparse equal eye greater"
    " greater_equal in_top_k learning_phase less less_equal lesser lesser_equal not_equal one_hot"
    " ones ones_like random_binomial random_normal random_uniform round shape size"
    " stop_gradient truncated_normal zeros zeros_like".split()
)
# Settings, questions, values, and what graphs begin with: here a gradient has no meaning.
NO_TENSORS = set(
    "backend epsilon set_epsilon floatx set_floatx cast_to_floatx image_data_format"
    " set_image_data_format set_image_dim_ordering image_dim_ordering get_uid reset_uids"
    " clear_session manual_variable_initialization set_learning_phase is_sparse variable constant"
    " is_keras_tensor placeholder is_placeholder random_uniform_variable random_normal_variable"
    " int_shape ndim dtype count_params get_variable_shape eval get_value batch_get_value set_value"
    " batch_set_value update update_add update_sub moving_average_update function"
    " control_dependencies eager is_tensor is_variable name_scope normalize_data_format"
    " symbolic".split()
)

HEAD = """# Functions

Every function of the Keras backend: the {count} of the reference pages, then the {beyond} that Keras 2.3.1 wants besides{own}. Made by
`make generate` from `api/functions.yaml` and the headers; do not edit.

- **Function**: the signature in Python. In C++ it is in the header of the second column, with the same names; what has a
  default is in one aggregate of options when there are several.
- **Keras**: the versions whose pages have it.
- **Old spellings**: names and keywords of older versions. They work in Python, with a warning that says how to write them today.
- **Gradient**: *none* says that `gradients` gives `None` behind it; a dash that there is nothing to differentiate.

Every engine has all of them; [engines.md](engines.md) tells which parts of a function run where.
"""
ROW = "| `{signature}` | `{header}` | {ages} | {old} | {gradient} |"
TABLE = "| Function | C++ | Keras | Old spellings | Gradient |\n|---|---|---|---|---|"


# Arguments that no Keras has, behind those of the catalogue.
ADDED = {"gradients": "strict=False"}


def standing_signature(entry):
    newer = entry["keras_2_3_1"]
    text = newer if "(" in newer else entry["signature"]
    if entry["name"] in ADDED:
        text = f"{text[:-1]}, {ADDED[entry['name']]})"
    return entry["name"] + text[text.index("(") :]


def arguments_of(signature):
    return [a.arg for a in ast.parse(f"def {signature}: pass").body[0].args.args]


def old_spellings(entry):
    """Old names, and keywords that the standing signature lacks."""
    standing, found = arguments_of(standing_signature(entry)), []
    if entry.get("alias_of"):
        return [f"of `{entry['alias_of']}`"]
    for legacy in entry["legacy"]:
        name = legacy["spelling"].partition("(")[0]
        if "mistake" in legacy.get("note", ""):
            continue
        if name != entry["name"]:
            found.append(f"`{name}`")
        else:
            found += [f"`{a}`" for a in arguments_of(legacy["spelling"]) if a not in standing]
    return list(dict.fromkeys(found))


def ages(entry):
    found = {AGES[seed] for seed in entry["seeds"]}
    if entry["keras_2_3_1"] not in ("absent", "not exported"):
        found.add("2.3")
    return ", ".join(sorted(found))


def gradient(name):
    """The docstring of a function of our own says so when it has none."""
    if name in NO_TENSORS:
        return "-"
    text = ast.get_docstring(declarations.read()[name].definition)
    return "none" if name in NO_GRADIENT or "no gradient" in text else "yes"


def row(name, signature, header, age, old):
    return ROW.format(
        signature=signature,
        header=header,
        ages=age,
        old=", ".join(old),
        gradient=gradient(name),
    )


def own_functions(catalogue):
    """{name: signature} of what no Keras has."""
    keras = {entry["name"] for entry in catalogue["functions"]} | set(catalogue["beyond"])
    return {n: d.signature for n, d in declarations.read().items() if n not in keras}


def render():
    catalogue = yaml.safe_load((ROOT / "api" / "functions.yaml").read_text())
    declared, _ = headers.read()

    def header(name):
        found = declared.get(CPP_NAMES.get(name, name))
        # Sparse labels come with the engine's sparse tensors; decorators are Python's own.
        return found[0].header if found else "ctc.h" if name.startswith("ctc") else "-"

    entries, beyond = catalogue["functions"], catalogue["beyond"]
    own = own_functions(catalogue)
    words = f", and {len(own)} of our own" if own else ""
    lines = [HEAD.format(count=len(entries), beyond=len(beyond), own=words)]
    for group, title in catalogue["groups"].items():
        lines += [f"## {title[0].upper()}{title[1:]}", "", TABLE]
        for entry in entries:
            if entry["group"] == group:
                name, signature = entry["name"], standing_signature(entry)
                lines.append(row(name, signature, header(name), ages(entry), old_spellings(entry)))
        lines.append("")
    lines += ["## Beyond the reference pages", "", TABLE]
    lines += [row(name, beyond[name], header(name), "2.3", []) for name in sorted(beyond)]
    if own:
        lines += ["", "## Of our own", "", TABLE]
        lines += [row(name, own[name], header(name), "-", []) for name in own]
    lines += ["", f"{len(entries)} of {catalogue['function_count']}."]
    return "\n".join(lines) + "\n"


def files():
    return {PAGE: render()}
