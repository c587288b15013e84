#!/usr/bin/env python3
"""Runs the scripts of Keras's own examples/ on our module: run_keras_examples.py FOLDER [names].

FOLDER is examples/ of a checkout of Keras (git clone -b 2.3.1 https://github.com/keras-team/keras).
The scripts are run as they are, on generated data, by this Python, which must have
keras==2.3.1, scipy, h5py, matplotlib, Pillow, scikit-learn, opencv-python-headless, cairocffi and
editdistance. Prints which ran, how far, and the loss of the first and last ten batches.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from keras_examples import data  # noqa: E402

BOOT = ROOT / "tools" / "keras_examples" / "boot.py"
ARGUMENTS = {
    "class_activation_maps": ["base.png"],
    "deep_dream": ["base.png", "dream"],
    "neural_doodle": [
        "--nlabels",
        "2",
        "--style-image",
        "style.png",
        "--style-mask",
        "style_mask.png",
    ]
    + ["--target-mask", "target_mask.png", "--target-image-prefix", "doodle"],
    "neural_style_transfer": ["base.png", "style.png", "transfer", "--iter", "1"],
}
# It loads what it saves after the twentieth epoch, so its fit must not be cut.
UNCUT = {"image_ocr"}
# It loads what another one saves.
AFTER = {"lstm_seq2seq_restore": "lstm_seq2seq"}


def environment(home, options):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HORNGATE_", "KERAS_"))}
    paths = [str(ROOT / "build" / "python"), env.get("PYTHONPATH", "")]
    env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    env.update(KERAS_BACKEND="horngate", KERAS_HOME=str(home), MPLBACKEND="Agg")
    env.update(HORNGATE_FIT_SECONDS=str(options.fit), HORNGATE_SCRIPT_SECONDS=str(options.limit))
    return env


def run(script, work, env, limit):
    """The report of boot.py, or one that says how it ended without a report."""
    result, log = work / "result.json", work / f"{script.stem}.log"
    result.unlink(missing_ok=True)
    if script.stem in UNCUT:
        env = dict(env, HORNGATE_FIT_SECONDS=env["HORNGATE_SCRIPT_SECONDS"])
    command = [sys.executable, BOOT, result, script, *ARGUMENTS.get(script.stem, [])]
    with open(log, "w") as f:
        try:
            done = subprocess.run(
                command,
                cwd=work,
                env=env,
                stdout=f,
                stderr=subprocess.STDOUT,
                timeout=limit * 8 + 60,
            )
            status = f"exit status {done.returncode}"
        except subprocess.TimeoutExpired:
            status = "could not be stopped in time"
    if not result.exists():
        return {"why": status, "seconds": 0, "cpu": 0, "batches": 0, "first": None, "last": None}
    return json.loads(result.read_text())


def line(name, report):
    why = report["why"]
    kind = "ran" if why is None else "stopped" if why == "time" else "FAILED"
    numbers = f"{report['cpu']:6.0f} s {report['batches']:6d}"
    if report["first"] is not None:
        numbers += f" {report['first']:10.4g} {report['last']:10.4g}"
    if kind == "FAILED":
        numbers += "  " + why
    return kind, f"{name:32} {kind:8} {numbers}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", help="scripts without .py (default: all)")
    parser.add_argument("--fit", type=float, default=10, help="CPU seconds for each call of fit")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds for each script")
    parser.add_argument("--fresh", action="store_true", help="generate the data anew")
    options = parser.parse_args()

    base = ROOT / "build" / "keras-examples"
    home, work = base / "home", base / "work"
    if options.fresh:
        shutil.rmtree(base, ignore_errors=True)
    env = environment(home, options)
    data.make(home, work, env)

    scripts = {path.stem: path.resolve() for path in sorted(options.folder.glob("*.py"))}
    names = options.names or list(scripts)
    print(
        f"{'script':32} {'':8} {'CPU time':>8} {'batches':>6} {'first loss':>10} {'last loss':>10}"
    )
    kinds = []
    for name in sorted(names, key=lambda name: (name in AFTER, name)):
        kind, text = line(name, run(scripts[name], work, env, options.limit))
        kinds.append(kind)
        print(text, flush=True)
    numbers = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("ran", "stopped", "FAILED"))
    print(f"{len(kinds)} scripts: {numbers} (stopped: after {options.limit:.0f} s of CPU time)")
    sys.exit("FAILED" in kinds)


if __name__ == "__main__":
    main()
