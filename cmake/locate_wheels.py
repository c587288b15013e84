# Prints where Python wheels put the C libraries that we build with, one "name=path" per line.
# CMake runs it with the build's own Python, so that a venv and pip's isolated build both work.
import importlib.metadata
import os


def wheel_file(wheel, ending):
    """The path of the wheel's file whose path ends so, or None."""
    try:
        files = importlib.metadata.files(wheel) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    paths = (os.path.realpath(f.locate()) for f in files if str(f).endswith(ending))
    return next((p for p in paths if os.path.exists(p)), None)


def report(name, path):
    if path:
        print(f"{name}={path}")


def up(path, levels):
    for _ in range(levels):
        path = path and os.path.dirname(path)
    return path


report("DNNL_LIBRARY", wheel_file("onednn-cpu-gomp", "/libdnnl.so.3"))
report("DNNL_INCLUDE", up(wheel_file("onednn-devel-cpu-gomp", "include/oneapi/dnnl/dnnl.hpp"), 3))
report("OPENBLAS_LIBRARY", wheel_file("scipy-openblas32", "/libscipy_openblas.so"))
report("OPENBLAS_INCLUDE", up(wheel_file("scipy-openblas32", "include/cblas.h"), 1))
