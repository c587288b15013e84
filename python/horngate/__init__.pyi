"""The functions of the Keras backend, and the few names that are not among them."""

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import overload

import numpy as np

from horngate.backend import *
from horngate.backend import __all__ as __all__
from horngate.typing import ArrayLike, Function, Tensor, Variable

__version__: str

def explain_gradient(loss: Tensor, x: Tensor) -> str: ...
def export_onnx(function: Function, path: str | os.PathLike[str]) -> None: ...
@overload
def load(path: str | os.PathLike[str]) -> dict[str, np.ndarray]: ...
@overload
def load(
    path: str | os.PathLike[str], variables: Sequence[Variable] | Mapping[str, Variable]
) -> None: ...
def plot_function(
    function: Function,
    path: str | os.PathLike[str],
    stage: str = "plan",
    shapes: Sequence[Sequence[int | None]] | None = None,
    training: bool = False,
) -> None: ...
def save(
    path: str | os.PathLike[str],
    arrays: Mapping[str, ArrayLike | Variable] | Sequence[Variable] | ArrayLike | Variable,
) -> None: ...
def set_engine(name: str) -> None: ...
def set_log_handler(handler: logging.Logger | Callable[[str, str], object] | None) -> None: ...
