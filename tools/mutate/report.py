"""docs/mutations.md: how many faults were caught, by what, and which got away."""

from collections import Counter
from datetime import date

from mutate.tree import ROOT

PAGE = ROOT / "docs" / "mutations.md"
HISTORY = ROOT / "tools" / "mutate" / "history.md"  # by hand

INTRODUCTION = """# Planted faults

Written by `make mutate` (`tools/mutate.py`). Faults that someone might make (a sign, an axis, off by
one, a wrong register or buffer, a missing copy) are planted into a copy of the sources, one at a time.
Then come a few seconds of fuzzing ([tests/fuzz](../tests/fuzz)), the tests of the area, the rest of a
minute of fuzzing and all other tests, until something sees the fault: a test that fails, a crash, a
hang, a finding of the fuzzer. What fails without the fault too does not count. The faults are in
`tools/mutate/faults/`, one page per area.
"""


def share(caught, total):
    return f"{100 * caught / total:.1f} %" if total else "-"


def table(title, groups, results):
    lines = [f"| {title} | planted | caught | |", "|---|---|---|---|"]
    for name, members in sorted(groups.items()):
        caught = sum(1 for f in members if results[f.id]["caught"])
        lines.append(f"| {name} | {len(members)} | {caught} | {share(caught, len(members))} |")
    return lines


def grouped(faults, key):
    made = {}
    for fault in faults:
        made.setdefault(key(fault), []).append(fault)
    return made


def code(text):
    return "`" + " ".join(text.split()).replace("|", "\\|") + "`"


def lines_of(listed, results):
    tried = [f for f in listed if f.id in results]
    caught = [f for f in tried if results[f.id]["caught"]]
    away = [f for f in tried if not results[f.id]["caught"]]
    lines = [INTRODUCTION]
    rate = share(len(caught), len(tried))
    lines.append(
        f"**{len(caught)} of {len(tried)} caught ({rate})**, {date.today().isoformat()}. Wanted: 95 %."
    )
    if len(tried) < len(listed):
        lines.append(f"{len(listed) - len(tried)} more are listed and were not tried.")
    lines += ["", *table("area", grouped(tried, lambda f: f.area), results)]
    lines += ["", *table("kind", grouped(tried, lambda f: f.kind.replace("_", " ")), results)]
    lines += ["", "| caught by | faults | fails | crashes | hangs |", "|---|---|---|---|---|"]
    by = Counter(results[f.id]["caught"] for f in caught)
    for name, n in by.most_common():
        here = [results[f.id] for f in caught if results[f.id]["caught"] == name]
        how = Counter(result["how"].split()[0] for result in here)
        lines.append(f"| {name} | {n} | {how['fails']} | {how['crashes']} | {how['hangs']} |")
    lines += ["", "## Those that got away", ""]
    if not away:
        lines.append("None.")
    else:
        lines += ["| fault | where | instead of | stands | why nothing sees it |"]
        lines += ["|---|---|---|---|---|"]
        for f in away:
            reason = f.escape or "(no reason given yet)"
            cells = [f.id, f.file, code(f.find), code(f.replace), " ".join(reason.split())]
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", HISTORY.read_text().rstrip()]
    return lines


def write(listed, results):
    PAGE.write_text("\n".join(lines_of(listed, results)) + "\n")
