"""SIGKILL while a C++ program saves a model, again and again: sigkill_models.py [--kills 200] [--runners FOLDER]

After each kill the file is one that was saved whole, and after the next save nothing else is in its folder. Prints one JSON
line; the status is 1 when a file was lost, half-written, or something was left behind.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {
    "class_name": "Sequential",
    "config": {
        "name": "net",
        "layers": [
            {
                "class_name": "Dense",
                "config": {
                    "name": "dense",
                    "units": 256,
                    "batch_input_shape": [None, 512],
                    "dtype": "float32",
                },
            }
        ],
    },
}


def is_whole(path):
    try:
        with h5py.File(path, "r") as f:
            kernel = np.asarray(f["model_weights/dense/dense/kernel:0"])
            json.loads(f.attrs["model_config"])
            return kernel.shape == (512, 256) and bool(np.isfinite(kernel).all())
    except (OSError, KeyError, ValueError):
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runners", default=str(ROOT / "build" / "bin"))
    options = parser.parse_args()
    figures = {
        "test": "sigkill_models",
        "kills": options.kills,
        "while_saving": 0,
        "lost": 0,
        "left_behind": 0,
    }
    begin = time.monotonic()
    environment = dict(
        os.environ, KERAS_BACKEND="native", HORNGATE_NO_CONFIG_WRITE="1", HORNGATE_QUIET="1"
    )
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "saved"
        saved.mkdir()
        path = saved / "net.h5"
        once = [{"do": "from_json", "text": json.dumps(CONFIG)}, {"do": "save", "path": str(path)}]
        for name, steps in (("once", once), ("many", once + once[1:] * 2000)):
            (Path(folder) / f"{name}.json").write_text(json.dumps([steps]))

        def start(name):
            program = os.path.join(options.runners, "model_runner")
            words = [
                program,
                os.path.join(folder, f"{name}.json"),
                os.path.join(folder, "result.json"),
            ]
            return subprocess.Popen(words, env=environment)

        assert start("once").wait() == 0
        for _ in range(options.kills):
            before = path.stat().st_mtime_ns
            process = start("many")
            # The first save shows that it has begun; then any moment will do.
            while path.stat().st_mtime_ns == before and process.poll() is None:
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.03))
            figures["while_saving"] += process.poll() is None
            process.kill()
            process.wait()
            figures["lost"] += not is_whole(path)
        assert start("once").wait() == 0
        figures["left_behind"] = len(list(saved.iterdir())) - 1
    figures["seconds"] = round(time.monotonic() - begin, 1)
    figures["ok"] = (
        figures["lost"] == 0 and figures["left_behind"] == 0 and figures["while_saving"] > 0
    )
    print(json.dumps(figures), flush=True)
    return 0 if figures["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
