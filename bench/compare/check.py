"""Are the results of the workloads right? Ours, ours with HORNGATE_PLAIN=1, and a peer's."""

import tempfile
from pathlib import Path

import numpy as np
from data import INPUTS, ctc_data

TOLERANCE = 2e-3  # of the largest value; training: of the loss after three steps
MOMENTS = {  # random workloads: mean and standard deviation
    "rand_uniform": (0.5, 12**-0.5),
    "rand_normal": (0.0, 1.0),
    "rand_truncnormal": (0.0, 0.8796),
    "dropout_mask": (1.0, 1.0),
}

OTHERWISE = {
    ("torch", "conv7x7s2_nhwc"),  # pads both sides alike
    ("torch", "conv2d_transpose"),
    ("torch", "bn_train"),  # gives 1 / deviation in place of the variance
    ("tf", "ctc_decode_beam100"),  # see beam_search
}


def values(runner, variant, workload, folder):
    """Of the third call where calls differ: training, random numbers."""
    path = Path(folder) / f"{runner.name}.npz"
    calls = 3 if workload in INPUTS or workload in MOMENTS else 1
    said = runner.ask("value", workload=workload, variant=variant, path=str(path), calls=calls)
    if "error" in said:
        return said["error"]
    with np.load(path) as f:
        return [f[k] for k in f.files]


def difference(a, b):
    """The largest difference relative to the largest value, or what does not fit."""
    if isinstance(a, str) or isinstance(b, str):
        return next(x for x in (a, b) if isinstance(x, str))
    if len(a) != len(b):
        return f"{len(a)} results, {len(b)} expected"
    worst = [0.0]
    for x, y in zip(a, b):
        if x.dtype.kind == "i" and x.ndim == 2:  # sequences: how far they are filled up may differ
            x, y = filled(x, y.shape[1]), filled(y, x.shape[1])
        if x.size != y.size:
            return f"shape {x.shape}, expected {y.shape}"
        x, y = x.astype(np.float64).ravel(), y.astype(np.float64).ravel()
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            return "not finite"
        if x.size:
            worst.append(float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-30)))
    return max(worst)


def filled(x, width):
    return np.pad(x, ((0, 0), (0, max(0, width - x.shape[1]))), constant_values=-1)


def moments(workload, got):
    if isinstance(got, str):
        return got
    mean, deviation = MOMENTS[workload]
    x = got[0].astype(np.float64)
    return max(abs(x.mean() - mean), abs(x.std() - deviation))


def beam_search(p, width, blank=28):
    """The textbook search over prefixes, of one sample: best sequence and its log probability.

    TensorFlow's keeps other prefixes when the beam is full, so it is no reference here."""
    beam, scale = {(): (1.0, 0.0)}, 0.0  # prefix -> probability of ending in a blank, in a label
    for step in p:
        found = {}
        for prefix, (in_blank, in_label) in beam.items():
            stay = found.setdefault(prefix, [0.0, 0.0])
            stay[0] += (in_blank + in_label) * step[blank]
            if prefix:
                stay[1] += in_label * step[prefix[-1]]
            for c in range(len(step) - 1):
                before = in_blank if prefix and c == prefix[-1] else in_blank + in_label
                if before:
                    found.setdefault((*prefix, c), [0.0, 0.0])[1] += before * step[c]
        best = sorted(found.items(), key=lambda x: -sum(x[1]))[:width]
        total = sum(sum(x) for _, x in best)
        scale += np.log(total)
        beam = {k: (a / total, b / total) for k, (a, b) in best}
    sequence, ends = max(beam.items(), key=lambda x: sum(x[1]))
    return sequence, scale + np.log(sum(ends))


def beam_reference(got, samples=(0, 1, 16)):
    """Ours against the search above, for a few samples: the others take long in Python."""
    if isinstance(got, str):
        return got
    p = np.log(ctc_data()[0].astype(np.float64) + 1e-7)
    p = np.exp(p) / np.exp(p).sum(-1, keepdims=True)
    worst = []
    for i in samples:
        sequence, score = beam_search(p[i], 100)
        if tuple(c for c in got[0][i] if c >= 0) != sequence:
            return f"sample {i}: another sequence"
        worst.append(abs(score - float(got[1][i, 0])) / abs(score))
    return max(worst)


def in_any_order(result):
    """torch and ONNX Runtime have other orders of axes."""
    return result if isinstance(result, str) else [np.sort(a, axis=None) for a in result]


def comparable(peer, workload):
    """torch and ONNX Runtime start nets from weights of their own; some pad or search otherwise."""
    own_weights = peer in ("torch", "ort") and workload in INPUTS
    return not own_weights and (peer, workload) not in OTHERWISE


def compare(workload, got, peers, folder):
    """name -> difference of `got` from each reference."""
    if workload in MOMENTS:
        return {"moments": moments(workload, got)}
    said = {}
    if workload == "ctc_decode_beam100":
        said["search"] = beam_reference(got)
    for peer in peers:
        variant = next((v for v, w in peer.lanes if w == workload), None)
        if variant is None or not comparable(peer.name, workload):
            continue
        theirs = values(peer, variant, workload, folder)
        if peer.name in ("torch", "ort"):
            said[peer.name] = difference(in_any_order(got), in_any_order(theirs))
        else:
            said[peer.name] = difference(got, theirs)
    return said if said or not peers else {"reference": "none"}


def check(options, only, start, chosen):
    """Prints a line per workload; the exit code says whether all fit."""
    ours = start(["horngate"], 2, "default", options)[0]
    plain = start(["horngate"], 1, "pinned", options, HORNGATE_PLAIN="1")[0]
    names = dict.fromkeys(p.split(".")[0] for p in options.peers.split(",") if p)
    peers = start(names, 2, "default", options)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for variant, workload in [x for x in ours.lanes if chosen(x[1], only)]:
            got = values(ours, variant, workload, folder)
            said = {"plain": difference(got, values(plain, variant, workload, folder))}
            said |= compare(workload, got, peers, folder)
            bad = [k for k, x in said.items() if isinstance(x, str) or not x <= TOLERANCE]
            wrong += bool(bad)
            shown = ", ".join(
                f"{k} {x if isinstance(x, str) else format(x, '.1e')}" for k, x in said.items()
            )
            print(f"{'WRONG' if bad else 'ok':6}{workload:20} {shown}", flush=True)
    for runner in [ours, plain, *peers]:
        runner.close()
    print(f"{wrong} of {len(ours.lanes)} differ" if wrong else "all agree")
    return 1 if wrong else 0
