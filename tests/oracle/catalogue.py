"""Names of the catalogue, read without a YAML library: the other side's Python has none."""

import re
from pathlib import Path

CATALOGUE = Path(__file__).parents[2] / "api" / "functions.yaml"


def catalogue_names():
    """All functions of the catalogue, and what Keras 2.3.1 wants beyond them."""
    text = CATALOGUE.read_text()
    functions = text.split("\nfunctions:\n", 1)[1]
    names = re.findall(r"^  - name: (\w+)$", functions, re.M)
    beyond = text.split("required_by_2_3_1_not_in_seeds:\n", 1)[1].split("  supplied_by", 1)[0]
    return names + re.findall(r"^    - (\w+)$", beyond, re.M)


if __name__ == "__main__":
    print(len(catalogue_names()), *catalogue_names())
