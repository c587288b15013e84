"""Element types as K has them, and how precise they are."""

import numpy as np

FLOATS = ("float16", "float32", "float64")
INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

# Half a unit in the last place of 1, the largest number, and the smallest that is normal.
ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
LARGEST = {"float16": 65504.0, "float32": 3.4e38, "float64": 1.7e308}
TINY = {"float16": 2.0**-14, "float32": 2.0**-126, "float64": 2.0**-1022}


def is_float(dtype):
    return dtype in ROUNDOFF


def is_int(dtype):
    return dtype in INTS


def common(a, b):
    """The dtype of two: bool gives way to numbers, whole numbers to floats, narrow ones to wide."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if is_float(a):
        return max(a, b, key=FLOATS.index)
    wide = np.promote_types(a, b).name
    return wide if wide in INTS else "int64"


def common_of(dtypes):
    made = dtypes[0]
    for dtype in dtypes[1:]:
        made = common(made, dtype)
    return made


def held(x, dtype):
    """The array as the evaluator keeps values of that dtype: floats of all widths in float64."""
    if is_float(dtype):
        return x if x.dtype.kind in "fc" and x.dtype.itemsize >= 8 else x.astype("float64")
    return x.astype(dtype, copy=False)
