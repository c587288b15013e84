"""Notebooks as pages: their text, code, and what they printed and drew."""

import base64
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"


def outputs(cell, stem, folder, count):
    """Markdown of a cell's outputs; pictures become files in the folder."""
    lines = []
    for output in cell.get("outputs", []):
        picture = output.get("data", {}).get("image/png")
        if picture:
            name = f"{stem}_{count + len(lines)}.png"
            (folder / name).write_bytes(base64.b64decode(picture))
            lines.append(f"![]({name})\n")
        elif output.get("name") == "stdout":
            lines.append(f"```text\n{''.join(output['text']).rstrip()}\n```\n")
    return lines


def page(path, folder):
    lines = []
    for cell in json.loads(path.read_text())["cells"]:
        text = "".join(cell["source"])
        lines.append(
            text + "\n" if cell["cell_type"] == "markdown" else f"```python\n{text}\n```\n"
        )
        if cell["cell_type"] == "code":
            lines += outputs(cell, path.stem, folder, len(lines))
    return "\n".join(lines)


def write(source):
    """Pages below source/notebooks; gives their names."""
    folder = source / "notebooks"
    folder.mkdir()
    for path in sorted(FOLDER.glob("*.ipynb")):
        (folder / f"{path.stem}.md").write_text(page(path, folder))
    return [p.stem for p in sorted(FOLDER.glob("*.ipynb"))]
