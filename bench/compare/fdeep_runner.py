"""The large nets of images on frugally-deep, which is in neither Debian nor PyPI: HORNGATE_FDEEP names a folder with clones
of frugally-deep and FunctionalPlus; Debian has Eigen and nlohmann-json. One core, one image after the other."""

import ctypes
import os
import subprocess
from pathlib import Path

import common
import numpy as np
from applications import BATCHES, FOLDER, NETS, images, net_of
from common import workload

HERE = Path(__file__).resolve().parent
FDEEP = Path(os.environ["HORNGATE_FDEEP"])
CONVERTER = FDEEP / "frugally-deep" / "keras_export"
TF = Path(os.environ["HORNGATE_PEERS"]) / "tf" / "bin" / "python"


def newer(made, of):
    return made.exists() and made.stat().st_mtime > of.stat().st_mtime


def library():
    source, made = HERE / "fdeep_net.cpp", FOLDER / "fdeep_net.so"
    if not newer(made, source):
        parts = [FDEEP / name / "include" for name in ("frugally-deep", "FunctionalPlus")]
        include = [f"-I{p}" for p in [*parts, "/usr/include/eigen3"]]
        # As its own page says how to build it.
        flags = ["-std=c++14", "-O3", "-march=native", "-fPIC", "-shared", "-pthread"]
        subprocess.run(["g++", *flags, *include, source, "-o", made], check=True)
    found = ctypes.CDLL(str(made))
    found.net_load.restype = ctypes.c_void_p
    return found


def converted(net):
    described, made = FOLDER / f"{net}.json", FOLDER / f"{net}.fdeep.json"
    if not newer(made, described):
        environment = {**os.environ, "PYTHONPATH": f"{HERE}:{CONVERTER}", "KERAS_BACKEND": "tensorflow"}
        partly = made.with_suffix(".part")
        command = [TF, HERE / "fdeep_convert.py", net, partly]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        partly.rename(made)
    return made


def add(name):
    @workload(name, "predict")
    def _(_):
        x, lib = images(name), library()
        path = str(converted(net_of(name)[0])).encode()
        net = ctypes.c_void_p(lib.net_load(path, *map(ctypes.c_size_t, x.shape[1:])))
        out = np.empty((len(x), 1000), np.float32)
        places = [ctypes.c_void_p(a.ctypes.data) for a in (x, out)]

        def run():
            lib.net_predict(net, places[0], ctypes.c_size_t(len(x)), places[1])
            return out

        return run


if common.THREADS == 1:
    for _net in NETS:
        for _batch in BATCHES:
            add(f"{_net}_b{_batch}")

if __name__ == "__main__":
    common.main()
