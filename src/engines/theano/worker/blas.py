"""The BLAS that Theano's compiled code is linked with: the OpenBLAS that comes with SciPy's package."""

import ctypes
import glob
import os
import sysconfig


def load(library, others):
    """Loads it, so that modules that need it find it by name, wherever it is, and it finds its own
    dependencies."""
    for _ in others:
        for path in others:
            try:
                ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
            except OSError:
                continue  # needs one that is loaded later
    ctypes.CDLL(library, ctypes.RTLD_GLOBAL)


def link_flags(cache):
    """Flags for blas.ldflags; empty if there is no BLAS (Theano then multiplies through NumPy)."""
    libraries = os.path.join(sysconfig.get_paths()["platlib"], "scipy.libs")
    found = sorted(glob.glob(os.path.join(libraries, "libopenblas*.so*")))
    if not found or not cache:
        return ""
    load(found[0], sorted(glob.glob(os.path.join(libraries, "*.so*"))))
    folder = os.path.join(cache, "blas")
    link = os.path.join(folder, "libopenblas.so")
    try:
        os.makedirs(folder, exist_ok=True)
        if os.path.realpath(link) != os.path.realpath(found[0]):
            temporary = f"{link}.{os.getpid()}"
            os.symlink(found[0], temporary)
            os.replace(temporary, link)
    except OSError:
        return ""
    return f"-L{folder} -lopenblas"
