"""Peak memory of training steps: bench/compare/memory.py [--peers torch,jax,tf] [--only NETS]

Each library trains each net in a process of its own. What is told is the peak of a step that was
taken before, above what the process had once the library was imported: data, weights, optimizer,
activations and whatever else the library keeps. Pages of program files do not count, or PyTorch
would need 80 MB more.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
from pathlib import Path

from startup import PEERS, environment_of, python_of

ROOT = Path(__file__).resolve().parents[2]
VARIANTS = {"horngate": "cpu", **PEERS}
NETS = ["mlp_sgd", "mlp_adam", "cnn_adam", "resnet20_train", "lstm_train", "tblock_train"]
WARM, STEPS = 3, 5


def status(key):
    """Megabytes that /proc/self/status tells."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key + ":")) / 1024


def forget_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def peak(variant, workload):
    """In a process that has imported its runner: megabytes above what it has now."""
    from common import BUILDERS

    gc.collect()
    idle, idle_own = status("VmRSS"), status("VmRSS") - status("RssFile")
    run = BUILDERS[variant, workload](variant)
    for _ in range(WARM):
        run()
    gc.collect()
    forget_peak()
    for _ in range(STEPS):
        run()
    # Program files stay mapped, so what is there of them now was there at the peak.
    return {"peak_mb": status("VmHWM") - status("RssFile") - idle_own, "idle_mb": idle}


def ask(name, workload, options):
    """What a process of that library says; None when it lacks the workload."""
    variant = VARIANTS[name]
    code = (
        f"import json, {name}_runner, common, memory; key = '{variant}', '{workload}'; "
        "common.unpin(); print(json.dumps(memory.peak(*key) if key in common.BUILDERS else None))"
    )
    own = environment_of(name, Path(options.out) / "keras")
    own |= {"HORNGATE_NO_CONFIG_WRITE": "1", "PEER_THREADS": options.threads}
    said = subprocess.run(
        [str(python_of(name, options)), "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **own},
    )
    if said.returncode:
        sys.exit(f"{name} {workload}: failed\n{said.stderr[-2000:]}")
    return json.loads(said.stdout.splitlines()[-1])


def table(found):
    """found: net -> library -> what peak() told. A net above PyTorch's is marked."""
    names = [n for n in VARIANTS if any(n in f for f in found.values())]
    lines = [
        "| net | " + " | ".join(names) + " | ours / torch |",
        "|---" * (len(names) + 2) + "|",
    ]
    for net, f in found.items():
        cells = [f"{f[n]['peak_mb']:.1f}" if n in f else "-" for n in names]
        ratio = f["horngate"]["peak_mb"] / f["torch"]["peak_mb"] if "torch" in f else None
        said = "-" if ratio is None else f"{ratio:.2f}{' MORE' if ratio > 1 else ''}"
        lines.append(f"| {net} | " + " | ".join(cells) + f" | {said} |")
    idle = {n: [f[n]["idle_mb"] for f in found.values() if n in f] for n in names}
    cells = [f"{min(idle[n]):.0f}" for n in names]
    lines.append("| imported, idle | " + " | ".join(cells) + " | |")
    return "\n".join(lines)


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--peers", default="torch,jax,tf", help="'' for ours alone")
    a.add_argument("--only", default=",".join(NETS))
    a.add_argument("--threads", default="2")
    a.add_argument("--venvs", default=os.environ.get("HORNGATE_PEERS", ROOT / "build/peers/venv"))
    a.add_argument("--python", default=sys.executable, help="one that has NumPy, for ours")
    a.add_argument("--out", default=str(ROOT / "build" / "peers"))
    options = a.parse_args()
    names = ["horngate", *(p for p in options.peers.split(",") if p)]
    found = {}
    for net in options.only.split(","):
        said = {name: ask(name, net, options) for name in names}
        found[net] = {name: s for name, s in said.items() if s}
    (Path(options.out) / "memory.json").write_text(json.dumps(found))
    print(table(found))


if __name__ == "__main__":
    main()
