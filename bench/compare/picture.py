"""The picture of docs/performance.md: a dot per workload and run, on a logarithmic scale."""

import math

WIDTH, LEFT, RIGHT, ROW, TOP = 860, 170, 30, 16, 60
LEAST, MOST = 0.04, 2.0  # ratios beyond are drawn at the edge
COLOURS = {(1, "default"): "#1f6feb", (1, "pinned"): "#8250df"}
MORE_COLOURS = {"default": "#1a7f37", "pinned": "#bf8700"}


def place(ratio):
    r = min(max(ratio, LEAST), MOST)
    share = math.log(r / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def colour(run):
    return COLOURS.get(run) or MORE_COLOURS[run[1]]


def words(x, y, text, **attributes):
    more = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{text}</text>'


def line(x, top, bottom, colour):
    return f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}"/>'


def picture(rows):
    import report  # which imports this

    all_runs, names = report.runs(rows), report.workloads(rows)
    height = TOP + ROW * (len(names) + len({report.group(w) for w in names})) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        words(LEFT, 18, "ours / best peer: left of 1 we are faster", font_size=13),
    ]
    for i, run in enumerate(all_runs):
        x = LEFT + 8 + i * 150
        parts.append(f'<circle cx="{x}" cy="33" r="4" fill="{colour(run)}"/>')
        parts.append(words(x + 8, 37, report.title(*run)))
    for tick in (0.05, 0.1, 0.25, 0.5, 1, 1.25, 2):
        parts.append(line(place(tick), TOP - 6, height - 24, "#d73a49" if tick == 1 else "#ddd"))
        parts.append(words(place(tick), height - 10, f"{tick:g}", text_anchor="middle"))
    y, seen = TOP, None
    for w in names:
        if report.group(w) != seen:
            seen = report.group(w)
            parts.append(words(8, y + 10, seen, font_weight="bold"))
            y += ROW
        parts.append(words(LEFT - 8, y + 10, w, text_anchor="end"))
        for run in all_runs:
            r = report.ratio(rows, w, *run)
            if r:
                parts.append(
                    f'<circle cx="{place(r[3]):.1f}" cy="{y + 6}" r="4" fill="{colour(run)}" '
                    f'fill-opacity="0.75"><title>{w}: {r[3]:.2f} of {r[1]}</title></circle>'
                )
        y += ROW
    return "\n".join([*parts, "</svg>", ""])
