"""Compares what both sides gave: compare.py OURS THEIRS. Prints a table, one line per function, and
ends with a non-zero status for a difference that explained.yaml does not explain."""

import fnmatch
import pickle
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml
from catalogue import catalogue_names

TOLERANCE = {"float16": 1e-3, "float32": 1e-5, "float64": 1e-11}
FOLDER = Path(__file__).parent


@dataclass
class Row:
    """What was seen of one function."""

    draws: int = 0
    value: float = 0.0
    gradient: float | None = None
    unexplained: list = field(default_factory=list)
    explained: set = field(default_factory=set)


def distance(a, b):
    """Largest difference, relative to the largest value if that is above 1; or a text."""
    if a.shape != b.shape:
        return f"shape {a.shape}, theirs {b.shape}"
    if a.dtype != b.dtype:
        # a plain int of Python is what its side makes of it
        return f"dtype {a.dtype}, theirs {b.dtype}"
    if a.dtype.kind != "f":
        wrong = int(np.sum(a != b))
        return (
            f"{wrong} of {a.size} differ: {a.ravel()[:6]}, theirs {b.ravel()[:6]}" if wrong else 0.0
        )
    a, b = a.astype("float64"), b.astype("float64")
    finite = np.isfinite(b)
    if not np.array_equal(np.isnan(a), np.isnan(b)) or not np.array_equal(
        a[~finite], b[~finite], equal_nan=True
    ):
        return f"other infinities or NaNs: {a.ravel()[:8]}, theirs {b.ravel()[:8]}"
    if not finite.any():
        return 0.0
    scale = max(1.0, float(np.max(np.abs(b[finite]))))
    return float(np.max(np.abs(a[finite] - b[finite]))) / scale


def same_distribution(a, b):
    """Distance of two samples' distribution functions (Kolmogorov and Smirnov); 0 if it is as small
    as chance makes it in 999 of 1,000 cases."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype} {a.shape}, theirs {b.dtype} {b.shape}"
    a, b = np.sort(a.ravel().astype("float64")), np.sort(b.ravel().astype("float64"))
    at = np.concatenate([a, b])
    d = np.max(np.abs(np.searchsorted(a, at, "right") - np.searchsorted(b, at, "right"))) / a.size
    bound = 1.95 * np.sqrt(2 / a.size)
    return 0.0 if d < bound else f"distributions differ by {d:.4f}, more than {bound:.4f}"


def pairs(ours, theirs, what, draw, factor=1.0, compare=distance):
    """(difference or text) of each result."""
    tol, refused = factor * draw["tol"], what == "value" and draw["refused"]
    if isinstance(ours, str) or isinstance(theirs, str):
        if isinstance(ours, str) and isinstance(theirs, str):
            if not refused:
                yield "error", f"{what}: both raise: {ours[:200]} / theirs: {theirs[:200]}"
            return
        side, text = ("ours", ours) if isinstance(ours, str) else ("theirs", theirs)
        yield "error", f"{what}: {side} raises {text[:300]}"
        return
    if len(ours) != len(theirs):
        yield what, f"{what}: {len(ours)} results, theirs {len(theirs)}"
        return
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a is None or b is None:
            if (a is None) != (b is None):
                other = b if a is None else a
                zero = "zeros" if not np.any(other) else "values"
                yield "none", f"{what} {i}: {'ours' if a is None else 'theirs'} None, other {zero}"
            continue
        d = compare(a, b)
        if isinstance(d, str):
            yield what, f"{what} {i}: {d}"
        elif d > tol * TOLERANCE.get(draw["narrow"] or str(b.dtype), 1e-5):
            yield what, f"{what} {i}: differs by {d:.2e}"
        else:
            yield "", d


def differences(a, b):
    """(aspect, text or number) of one draw; aspect is empty where both agree."""
    if a["checksum"] != b["checksum"]:
        yield "value", "the sides drew different numbers"
        return
    compare = same_distribution if a["statistics"] else distance
    yield from pairs(a["outs"], b["outs"], "value", a, 1.0, compare)
    refused = isinstance(a["outs"], str) or isinstance(b["outs"], str)
    if "open" in a and not refused:
        yield from ((p, d) for p, d in pairs(a["open"], b["outs"], "open", a, 1.0, compare) if p)
    if "static" in a and not refused and a["static"] is not None:
        shapes = [y.shape for y in a["outs"]]
        if len(a["static"]) == len(shapes) and a["static"] != shapes:
            yield "static", f"static: int_shape {a['static']}, results {shapes}"
    if "grads" in a and "grads" in b:
        for part, d in pairs(a["grads"], b["grads"], "gradient", a, 2.0):
            yield part or "gradient-ok", d
        if "open_grads" in a:
            made = pairs(a["open_grads"], b["grads"], "open gradient", a, 2.0)
            yield from ((p, d) for p, d in made if p)


def explain(entries, name, label, aspect, text):
    """The entry that explains it."""
    for e in entries:
        if name not in e["functions"] or not fnmatch.fnmatchcase(label, e.get("draw", "*")):
            continue
        if aspect in e["aspects"] and e.get("text", "") in text:
            return e
    return None


def table(ours, theirs, entries):
    rows, used = {}, set()
    for key, a in ours.items():
        name = key.split("/")[0]
        row = rows.setdefault(name, Row())
        row.draws += 1
        for aspect, d in differences(a, theirs[key]):
            if aspect == "":
                row.value = max(row.value, d)
            elif aspect == "gradient-ok":
                row.gradient = max(row.gradient or 0.0, d)
            else:
                entry = explain(entries, name, a["label"], aspect, d)
                if entry is None:
                    row.unexplained.append(f"{key} {a['dtype']} [{a['label']}] {aspect}: {d}")
                else:
                    row.explained.add(entry["reason"])
                    used.add(id(entry))
    return rows, [e for e in entries if id(e) not in used]


def show(rows):
    width = max(len(n) for n in rows)
    print(f"{'function':{width}} {'draws':>5} {'largest':>9} {'gradient':>9}  differences")
    for name, row in rows.items():
        gradient = "" if row.gradient is None else f"{row.gradient:9.1e}"
        said = "UNEXPLAINED" if row.unexplained else ("explained" if row.explained else "none")
        print(f"{name:{width}} {row.draws:5} {row.value:9.1e} {gradient:>9}  {said}")
    for name, row in rows.items():
        for reason in sorted(row.explained):
            print(f"explained: {name}: {reason}")


def uncovered(rows, has, apart):
    """Sentences about functions that are neither compared nor listed."""
    for name in catalogue_names():
        if name in rows and name in apart:
            yield f"{name} is compared and listed as not in common"
        if name not in rows and name not in apart:
            yield f"{name} is neither compared nor listed as not in common"
        if name in apart and has["theirs"][name] and not apart[name].get("though_there"):
            yield f"{name} is listed as not in common, but theirs has it"


def main(ours_path, theirs_path, whole=True):
    with open(ours_path, "rb") as f:
        ours = pickle.load(f)
    with open(theirs_path, "rb") as f:
        theirs = pickle.load(f)
    known = yaml.safe_load((FOLDER / "explained.yaml").read_text())
    rows, unused = table(ours["draws"], theirs["draws"], known["explained"])
    show(rows)
    bad = [line for row in rows.values() for line in row.unexplained]
    if whole:
        bad += [f"explained.yaml explains what does not happen: {e}" for e in unused]
        bad += uncovered(rows, {"theirs": theirs["has"]}, known["not_in_common"])
    for line in bad:
        print(f"FAIL {line}")
    count = sum(row.draws for row in rows.values())
    print(f"{len(rows)} functions, {count} draws, {len(bad)} unexplained")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], whole="--part" not in sys.argv))
