"""The section of docs/performance.md about the large nets, from the rows of `compare.py --nets`."""

import re

import report

TITLE = "## Large nets"
TEXT = """{title}

The nets of `keras.applications` and an encoder with the sizes of BERT base ([what they are](../bench/compare/workloads.md)),
written by `make bench-peers BENCH_ARGS=--nets`. Our time, and how many times each peer's time that is: of the shortest calls,
in brackets of the medians. All have the same weights; before anything is timed their results are compared, and differ by at
most {far:.0e} of the largest value in these rows. One thread: CPU time; two: wall time, which other work on the machine disturbs.
frugally-deep (`fdeep`) computes on one core, one image after the other.

{tables}

{load}
"""


def table(rows, run):
    """Ours, and ours / theirs of each peer."""
    names = [w for w in report.workloads(rows) if report.times(rows, w, *run)]
    peers = sorted({r["peer"] for r in rows if not report.is_ours(r["peer"])})
    lines = [
        f"| {report.title(*run)} | ours | " + " | ".join(peers) + " |",
        "|---" * (2 + len(peers)) + "|",
    ]
    for w in names:
        times = report.times(rows, w, *run)
        ours = next((t for p, t in times.items() if report.is_ours(p)), None)
        if not ours:
            continue
        cells = (
            f"{ours[0] / times[p][0]:.2f} ({ours[1] / times[p][1]:.2f})" if p in times else ""
            for p in peers
        )
        lines.append(f"| {w} | {report.short(ours[0])} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def section(rows):
    tables = "\n\n".join(table(rows, run) for run in report.runs(rows))
    far = max((r.get("difference", 0.0) for r in rows), default=0.0)
    return TEXT.format(title=TITLE, far=far, tables=tables, load=report.load_notes(rows))


def into_page(rows, path):
    """Replaces the section, or puts it before everyone's times."""
    page = re.sub(rf"{TITLE}\n.*?(?=^## )", "", path.read_text(), flags=re.S | re.M)
    before, mark, after = page.partition("## Everyone's times")
    path.write_text(f"{before}{section(rows)}\n{mark}{after}")
