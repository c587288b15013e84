"""The catalogue of functions, api/functions.yaml, what we have beyond it, and the signatures that stand."""

import ast
import pathlib

import declarations
import functions_doc
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]

CATALOGUE = yaml.safe_load((ROOT / "api" / "functions.yaml").read_text())
FUNCTIONS = {entry["name"]: entry for entry in CATALOGUE["functions"]}
BEYOND = CATALOGUE["beyond"]
# What no Keras has: the definition in Python is where its signature stands, and the header is compared with it.
OWN = {
    name: found.signature
    for name, found in declarations.read().items()
    if name not in FUNCTIONS and name not in BEYOND
}
NAMES = sorted({*FUNCTIONS, *BEYOND, *OWN})


def standing_signature(name):
    """What the catalogue says; where Keras 2.3.1 made it longer, that."""
    if name in BEYOND or name in OWN:
        return BEYOND.get(name) or OWN[name]
    return functions_doc.standing_signature(FUNCTIONS[name])


def arguments_of(signature, missing):
    """[(name, default)] of a signature in Python form; a default that there is not is `missing`."""
    tree = ast.parse(f"def {signature}: pass").body[0].args
    defaults = [missing] * (len(tree.args) - len(tree.defaults))
    defaults += [ast.literal_eval(d) for d in tree.defaults]
    found = [(a.arg, d) for a, d in zip(tree.args, defaults)]
    return found + ([(tree.kwarg.arg, "**")] if tree.kwarg else [])
