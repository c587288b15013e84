"""The functions of the Keras backend, and the few names that are not among them."""

import os

from horngate.backend import *
from horngate.backend import __all__ as __all__
from horngate.typing import Function

__version__: str

def export_onnx(function: Function, path: str | os.PathLike[str]) -> None: ...
def set_engine(name: str) -> None: ...
