"""From the rows of compare.py to tables, docs/performance.md and its picture.

python report.py build/peers/results.json     # prints the tables
"""

import json
import math
import re
import statistics
import sys
from pathlib import Path

from picture import picture

GROUPS = {  # first fit by the beginning of the name
    "call overhead": ["call_"],
    "element-wise": ["elem_"],
    "reductions": ["sum_", "mean_", "var_", "argmax", "softmax", "lsm_sce"],
    "matmul": ["matmul_", "batch_dot", "dense_"],
    "convolution": ["conv", "depthwise", "maxpool", "avgpool", "bn_"],
    "training steps": ["mlp_", "cnn_adam", "lstm_train", "resnet20_train", "tblock_"],
    "inference": ["cnn_inf", "resnet20_inf", "lstm_inf"],
    "random": ["rand_", "dropout_"],
    "CTC": ["ctc_"],
}
SLOW = 1.25  # a single workload should not be worse
SHORT = 2000  # microseconds
ALL_PEERS = "torch.eager torch.compile jax.jit tf.graph tf.xla tf.keras ort.inf".split()
QUIET = 0.25  # CPUs that others may use
FAR = 3  # times the best peer: not worth more than a round


def group(workload):
    fits = (g for g, names in GROUPS.items() if any(workload.startswith(n) for n in names))
    return next(fits, "others")


def clock(row):
    """One thread: CPU time, which a busy machine does not change. Calls below SHORT fit between two
    interruptions, and the CPU clock is too coarse for them: wall time. So with more threads, because
    waiting for each other is part of the cost."""
    return "cpu_" if row["threads"] == 1 and row["min_us"] > SHORT else ""


def low(shortest):
    """Of the shortest times of a peer's turns the one a quarter up, of three turns the shortest.

    For a tenth of a second now and then a call that reads 64 MB takes half the time, whoever makes it, as if
    two virtual CPUs had a third-level cache each. Whose turn that is says nothing about who is faster."""
    return sorted(shortest)[len(shortest) // 4]


def times(rows, workload, threads, malloc, of_turns=low):
    """peer -> (shortest, median) in microseconds."""
    found = {}
    for r in rows:
        if (r["workload"], r["threads"], r["malloc"]) == (workload, threads, malloc):
            found.setdefault(r["peer"], []).append(r)
    return {
        p: (
            of_turns([r[clock(r) + "min_us"] for r in rs]),
            statistics.median(r[clock(r) + "median_us"] for r in rs),
        )
        for p, rs in found.items()
    }


def is_ours(peer):
    return peer.startswith("horngate")


def ratio(rows, workload, threads, malloc, of_turns=low):
    """Our time, the best peer's name and time, their ratio, ratio of medians; or None."""
    t = times(rows, workload, threads, malloc, of_turns)
    ours = [x for p, x in t.items() if is_ours(p)]
    theirs = {p: x for p, x in t.items() if not is_ours(p)}
    if not ours or not theirs:
        return None
    best = min(theirs, key=lambda p: theirs[p][0])
    median = min(x[1] for x in theirs.values())
    return ours[0][0], best, theirs[best][0], ours[0][0] / theirs[best][0], ours[0][1] / median


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def short(us):
    if us < 1000:
        return f"{us:.3g} us"
    return f"{us / 1000:.3g} ms"


def runs(rows):
    """The (threads, malloc) of these rows, in order."""
    return sorted({(r["threads"], r["malloc"]) for r in rows})


def workloads(rows):
    names = list(dict.fromkeys(r["workload"] for r in rows))
    order = list(GROUPS) + ["others"]
    return sorted(names, key=lambda w: order.index(group(w)))


def print_line(rows, workload, threads, malloc):
    r = ratio(rows, workload, threads, malloc)
    if r is None:
        return
    verdict = "LOSES" if r[3] > 1 else ""
    print(
        f"{threads} {malloc:8}{workload:20}{short(r[0]):>9}  {r[1]:14}{short(r[2]):>9}"
        f"  {r[3]:5.2f} (median {r[4]:.2f}) {verdict}",
        flush=True,
    )


def title(threads, malloc):
    return f"{threads} thread{'s' if threads > 1 else ''}" + (", pinned" * (malloc == "pinned"))


def cell(rows, workload, threads, malloc):
    r = ratio(rows, workload, threads, malloc)
    return "" if r is None else f"{r[3]:.2f} ({r[4]:.2f}) {r[1]}"


def ratio_table(rows):
    """Markdown: ratio (of medians) and the best peer, per workload and run."""
    all_runs = runs(rows)
    head = "| workload | ours | " + " | ".join(title(*r) for r in all_runs) + " |"
    lines = [head, "|---" * (2 + len(all_runs)) + "|"]
    seen = None
    for w in workloads(rows):
        if group(w) != seen:
            seen = group(w)
            means = (mean_of(rows, run, seen) for run in all_runs)
            cells = " | ".join("" if m is None else f"**{m:.2f}**" for m in means)
            lines.append(f"| **{seen}** | | {cells} |")
        first = next((x for x in (ratio(rows, w, *r) for r in all_runs) if x), None)
        cells = " | ".join(cell(rows, w, *r) for r in all_runs)
        lines.append(f"| {w} | {short(first[0]) if first else ''} | {cells} |")
    cells = " | ".join(f"**{mean_of(rows, run):.2f}** of {count(rows, run)}" for run in all_runs)
    lines.append(f"| **all** | | {cells} |")
    return "\n".join(lines)


def mean_of(rows, run, of_group=None):
    names = [w for w in workloads(rows) if of_group in (None, group(w))]
    found = [ratio(rows, w, *run) for w in names]
    return geometric([r[3] for r in found if r])


def count(rows, run):
    return sum(ratio(rows, w, *run) is not None for w in workloads(rows))


def load_notes(rows):
    """How busy the machine was with other things, and what that means."""
    lines = []
    for run in runs(rows):
        others = statistics.median(r["foreign"] for r in rows if (r["threads"], r["malloc"]) == run)
        said = f"- {title(*run)}: others used {others:.1f} CPUs"
        if others > QUIET and run[0] > 1:
            said += ". Wall times of such a run say little: repeat it on an idle machine"
        elif others > QUIET:
            said += "; CPU time counts less of that, but caches and memory were shared"
        lines.append(said + ".")
    if all(threads == 1 for threads, _ in runs(rows)):
        lines.append("- More threads: not measured in this run.")
    return "\n".join(lines)


def losses(rows):
    """Where we lose, worst first, in words."""
    lines = []
    for run in runs(rows):
        found = [(r[3], w, r[1]) for w in workloads(rows) if (r := ratio(rows, w, *run))]
        worse = sorted((x for x in found if x[0] > 1), reverse=True)
        said = ", ".join(
            f"{w} {x:.2f}{f' (over {SLOW})' if x > SLOW else ''} to {p}" for x, w, p in worse
        )
        lucky = [(w, r[3]) for w in workloads(rows) if (r := ratio(rows, w, *run, min))]
        beyond = ", ".join(f"{w} {x:.2f}" for w, x in lucky if x > SLOW)
        one_call = f" By the single shortest call over {SLOW}: {beyond}." if beyond else ""
        lines.append(f"- {title(*run)}: {said or 'nowhere'}.{one_call}")
    return "\n".join(lines)


def peer_table(rows, run):
    """Markdown: everyone's shortest time (median)."""
    peers = sorted({r["peer"] for r in rows}, key=lambda p: (not is_ours(p), p))
    lines = ["| workload | " + " | ".join(peers) + " |", "|---" * (1 + len(peers)) + "|"]
    for w in workloads(rows):
        t = times(rows, w, *run)
        cells = (f"{short(t[p][0])} ({short(t[p][1])})" if p in t else "" for p in peers)
        lines.append(f"| {w} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def text(rows):
    return "\n\n".join(
        [
            "Ours / best peer: ratio of shortest times (of medians). Below 1 we are faster.",
            ratio_table(rows),
            "Where we lose:",
            losses(rows),
            "The machine meanwhile:",
            load_notes(rows),
            peers_of(rows),
        ]
    )


def versions():
    """What was compared, from tools/bench_peers.sh: the one place that names versions."""
    script = (Path(__file__).resolve().parents[2] / "tools" / "bench_peers.sh").read_text()
    return ", ".join(re.findall(r"[a-z_-]+==[0-9.]+", script))


def cpu():
    with open("/proc/cpuinfo") as f:
        names = [x.split(":")[1].strip() for x in f if x.startswith("model name")]
    return f"{names[0]}, {len(names)} CPUs" if names else "an unknown CPU"


def peers_of(rows):
    found = sorted({r["peer"] for r in rows if not is_ours(r["peer"])})
    missing = [p for p in ALL_PEERS if p not in found]
    sizes = {p: len({r["workload"] for r in rows if r["peer"] == p}) for p in found}
    said = "Measured (workloads): " + ", ".join(f"{p} {n}" for p, n in sizes.items()) + "."
    return said + (f" Not in this run: {', '.join(missing)}." if missing else "")


def page(rows, extra=""):
    """docs/performance.md."""
    tables = "\n\n".join(f"### {title(*r)}\n\n{peer_table(rows, r)}" for r in runs(rows))
    return PAGE.format(
        cpu=cpu(),
        versions=versions(),
        peers=peers_of(rows),
        losses=losses(rows),
        load=load_notes(rows),
        ratios=ratio_table(rows),
        extra=extra,
        tables=tables,
        far=FAR,
        short=SHORT // 1000,
    )


def write(rows, folder, extra=""):
    (folder / "performance.md").write_text(page(rows, extra))
    (folder / "performance.svg").write_text(picture(rows))


PAGE = """# Performance

Written by `make bench-peers`: Horngate beside PyTorch, JAX, TensorFlow and ONNX Runtime, in turn on one machine
({cpu}). {versions}. {peers}
[What each workload is](../bench/compare/workloads.md), [how to run it](../bench/compare/README.md).

![Ours / best peer, per workload](performance.svg)

## Where we lose

{losses}

## The machine meanwhile

{load}

## Ours / best peer

Ratio of the shortest times, in brackets of the medians; below 1 we are faster. The best peer is whichever was fastest
at that workload. Bold: geometric means of what was run. One thread: CPU time, or wall time for calls below {short} ms; more
threads: wall time. Of calls below 5 ms the shortest time is that of the turn a quarter up: now and then, whoever's
turn it is, reading 64 MB takes half the time, as if two virtual CPUs that share a cache had one each. *pinned*: malloc
keeps freed memory for everyone, so that what is left is not malloc's doing. Differences of a few
hundredths are within the noise of a run.

{ratios}
{extra}
## Everyone's times

Shortest (median). A peer that needed more than {far} times the best peer's time was measured in one round only.

{tables}
"""

if __name__ == "__main__":
    print(text(json.loads(Path(sys.argv[1]).read_text())))
