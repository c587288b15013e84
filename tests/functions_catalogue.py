"""The catalogue of functions, api/functions.yaml, and the signatures that stand."""

import ast
import pathlib

import yaml

CATALOGUE = yaml.safe_load(
    (pathlib.Path(__file__).parents[1] / "api" / "functions.yaml").read_text()
)
FUNCTIONS = {entry["name"]: entry for entry in CATALOGUE["functions"]}
BEYOND = CATALOGUE["beyond"]


def standing_signature(name):
    """What the catalogue says; where Keras 2.3.1 made it longer, that."""
    if name in BEYOND:
        return BEYOND[name]
    entry = FUNCTIONS[name]
    newer = entry["keras_2_3_1"]
    return newer if "(" in newer else entry["signature"]


def arguments_of(signature, missing):
    """[(name, default)] of a signature in Python form; a default that there is not is `missing`."""
    tree = ast.parse(f"def {signature}: pass").body[0].args
    defaults = [missing] * (len(tree.args) - len(tree.defaults))
    defaults += [ast.literal_eval(d) for d in tree.defaults]
    found = [(a.arg, d) for a, d in zip(tree.args, defaults)]
    return found + ([(tree.kwarg.arg, "**")] if tree.kwarg else [])
