"""docs/packages.md says what tests/packages/packages.toml records."""

import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_page_has_the_recorded_figures():
    data = tomllib.loads((ROOT / "tests/packages/packages.toml").read_text())
    text = (ROOT / "docs/packages.md").read_text().split("| package | Keras |")[1]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines()[2:]]
    listed = rows[: next(i for i, row in enumerate(rows) if len(row) != 4)]
    assert listed == [
        [
            f"{name} {package['version']}",
            package["environment"].removeprefix("Keras "),
            str(package["passed"]),
            str(package["passed"] + package.get("failed", 0)),
        ]
        for name, package in data["packages"].items()
    ]
    for package in data["packages"].values():
        pinned = data["environments"][package["environment"]] + package.get("needs", [])
        assert all("==" in requirement for requirement in pinned)
        assert all(
            group["reason"] and group["tests"] for group in package.get("not_applicable", [])
        )
