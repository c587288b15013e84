"""The picture of README.md, from the figures of docs/performance.md: time beside the fastest peer, start, memory."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "performance.svg"
RUN = "2 threads"  # the column of the table
PEERS = {"horngate": "Horngate", "torch": "PyTorch", "jax": "JAX", "tf": "TensorFlow"}
WIDTH, BAR, GAP, LABEL = 860, 18, 8, 150
OURS, THEIRS, LINE, INK, SOFT = "#0b5cad", "#b6bec8", "#c4372b", "#1f2328", "#59636e"
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{label}" '
    'font-family="system-ui, sans-serif" font-size="13">\n<rect width="{width}" height="{height}" rx="8" fill="white"/>'
)


def table(text, begins):
    """Rows of the table whose head begins so, as lists of cells."""
    rows = []
    for line in text.split(f"| {begins} |", 1)[1].splitlines()[2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def ratios(text):
    """{group: ratio} of the geometric means in one column, `all` last."""
    head = re.search(r"^\| workload \| ours \|(.*)\|$", text, re.M)[1]
    column = [c.strip() for c in head.split("|")].index(RUN) + 2
    rows = [r for r in table(text, "workload | ours") if r[0].startswith("**")]
    return {r[0].strip("*"): float(re.search(r"[\d.]+", r[column])[0]) for r in rows}


def workloads(text):
    """How many the means are of."""
    return int(re.search(r"^\| \*\*all\*\* \|.*?of (\d+)", text, re.M)[1])


def start(text):
    """{library: (seconds, megabytes)} from the start of a process to the first training step."""
    rows = table(text, "process start to first MLP step")
    return {r[0]: (float(r[1]), float(r[3])) for r in rows}


def words(x, y, text, colour=INK, anchor="start", weight="normal", size=13):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}" '
        f'font-size="{size}">{text}</text>'
    )


def bar(x, y, length, colour):
    return f'<rect x="{x}" y="{y}" width="{max(length, 1.5):.1f}" height="{BAR}" rx="2" fill="{colour}"/>'


def peers_panel(found, count, top):
    """Time beside the fastest peer: a bar per group, and a line where both need the same."""
    left, scale = 20 + LABEL, 270
    parts = [
        words(20, top - 34, "Time beside the fastest peer", weight="bold", size=15),
        words(
            20,
            top - 15,
            f"of PyTorch, JAX, TensorFlow, ONNX Runtime; {count} workloads, {RUN}",
            SOFT,
            size=12,
        ),
    ]
    bottom = top + len(found) * (BAR + GAP)
    for i, (name, ratio) in enumerate(found.items()):
        y, weight = top + i * (BAR + GAP), "bold" if name == "all" else "normal"
        parts.append(words(left - 8, y + 14, name, anchor="end", weight=weight))
        parts.append(bar(left, y, ratio * scale, OURS))
        # Near the line there is no room beside the bar.
        inside = 0.85 < ratio < 1
        place, colour = (-6, "white") if inside else (6, INK)
        end = "end" if inside else "start"
        parts.append(
            words(left + ratio * scale + place, y + 14, f"{ratio:.2f}", colour, end, weight)
        )
    x = left + scale
    parts.append(
        f'<line x1="{x}" y1="{top - 4}" x2="{x}" y2="{bottom}" stroke="{LINE}" stroke-dasharray="4 3"/>'
    )
    parts.append(words(x, bottom + 14, "1 = the fastest peer", LINE, "middle", size=12))
    return parts


def start_panel(found, top, which, title, unit):
    left, scale = 610, 170
    most = max(v[which] for v in found.values())
    parts = [words(530, top - 14, title, weight="bold", size=15)]
    for i, (key, name) in enumerate(PEERS.items()):
        y, value = top + i * (BAR + GAP), found[key][which]
        parts.append(words(left - 8, y + 14, name, anchor="end"))
        parts.append(bar(left, y, scale * value / most, OURS if key == "horngate" else THEIRS))
        parts.append(words(left + scale * value / most + 6, y + 14, f"{value:.3g} {unit}"))
    return parts


def render():
    text = PAGE.read_text()
    groups, begun = ratios(text), start(text)
    height = 70 + len(groups) * (BAR + GAP) + 30
    label = f"Horngate needs {groups['all']:.2f} of the time of the fastest peer, by geometric mean"
    parts = [HEAD.format(width=WIDTH, height=height, label=label)]
    parts += peers_panel(groups, workloads(text), 70)
    parts += start_panel(begun, 50, 0, "Process start to first training step", "s")
    parts += start_panel(begun, 200, 1, "Peak memory until then", "MB")
    return "\n".join([*parts, "</svg>", ""])


def files():
    return {PICTURE: render()}
