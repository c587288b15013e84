"""Types for annotations: tensors, functions, and the kinds of arguments."""

from collections.abc import Callable as _Callable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from typing import Literal as _Literal
from typing import Union as _Union

import numpy as _np

from horngate._horngate import Function, Tensor, Variable

__all__ = [
    "Array",
    "ArrayLike",
    "DType",
    "DataFormat",
    "DimOrdering",
    "Expression",
    "Function",
    "Interpolation",
    "Ints",
    "Padding",
    "Padding1D",
    "PoolMode",
    "Shape",
    "SparseMatrix",
    "StepFunction",
    "Tensor",
    "TensorLike",
    "Variable",
]

Array = _np.ndarray
ArrayLike = _Any  # anything NumPy can convert to an array
TensorLike = _Union[Tensor, ArrayLike]
SparseMatrix = _Any  # of SciPy
Expression = _Union[TensorLike, _Callable[[], TensorLike]]
DType = _Union[str, type, _np.dtype]
Shape = _Union[Tensor, _Sequence[_Union[int, Tensor, None]]]
Ints = _Union[int, _Sequence[int]]
DataFormat = _Literal["channels_last", "channels_first"]
DimOrdering = _Literal["tf", "th"]
Padding = _Literal["valid", "same"]
Padding1D = _Literal["valid", "same", "causal"]
PoolMode = _Literal["max", "avg"]
Interpolation = _Literal["nearest", "bilinear"]
StepFunction = _Callable[[Tensor, list], tuple]
