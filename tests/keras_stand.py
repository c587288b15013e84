"""A stand-in for Keras before 2.2, with its loader's habits, and programs that run on it."""

import os
import subprocess
import sys

RUN = ("-m", "horngate", "run")

LOADER = """
import os
assert os.environ["KERAS_BACKEND"] in {"theano", "tensorflow"}, "the loader of Keras"
_BACKEND = "its own"
"""

COMMON = """
from collections import defaultdict
_FLOATX, _EPSILON, _UIDS = "float32", 1e-7, defaultdict(int)
def floatx(): return _FLOATX
def epsilon(): return _EPSILON
def set_floatx(value): global _FLOATX; _FLOATX = value
def set_epsilon(value): global _EPSILON; _EPSILON = value
"""
COMMON_1 = """
_IMAGE_DIM_ORDERING = {ordering!r}
def image_dim_ordering(): return _IMAGE_DIM_ORDERING
def set_image_dim_ordering(value): global _IMAGE_DIM_ORDERING; _IMAGE_DIM_ORDERING = value
def get_uid(prefix=""): _UIDS[prefix] += 1; return _UIDS[prefix]
def reset_uids(): _UIDS.clear()
"""
COMMON_2 = """
_IMAGE_DATA_FORMAT = "channels_last"
def image_data_format(): return _IMAGE_DATA_FORMAT
def set_image_data_format(value): global _IMAGE_DATA_FORMAT; _IMAGE_DATA_FORMAT = value
"""


class Stand:
    """A folder with such a Keras, and programs that run on it."""

    def __init__(self, folder):
        self.folder = folder
        self.python = sys.executable
        self.keras("1.2.2")

    def keras(self, version):
        package = self.folder / "keras"
        (package / "backend").mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(f"from . import backend\n__version__ = '{version}'\n")
        (package / "backend" / "__init__.py").write_text(LOADER)
        one = COMMON_1.format(ordering="th" if version < "1.1" else "tf")
        (package / "backend" / "common.py").write_text(
            COMMON + (one if version < "2" else COMMON_2)
        )

    def run(self, *words, **variables):
        paths = [str(self.folder), *(p for p in sys.path if p)]
        env = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
        env.update(PYTHONPATH=os.pathsep.join(paths), KERAS_HOME=str(self.folder), **variables)
        command = [self.python, *map(str, words)]
        return subprocess.run(
            command, capture_output=True, text=True, env=env, cwd=self.folder, check=False
        )

    def prints(self, program, *, way=RUN, **variables):
        (self.folder / "program.py").write_text(program)
        done = self.run(*way, "program.py", "an argument", **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def says(self, program, **variables):
        """The last line of what goes wrong."""
        done = self.run("-c", program, **variables)
        assert done.returncode != 0
        return done.stderr.strip().splitlines()[-1]
