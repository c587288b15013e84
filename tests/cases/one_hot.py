"""one_hot: a last axis that is 1 at the index and 0 elsewhere."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import ints, rand

for shape, classes in [
    ((4,), 5),
    ((2, 3), 4),
    ((), 3),
    ((0,), 3),
    ((3,), 1),
    ((3,), 0),
    ((67,), 31),
]:
    # -1 and the number of classes itself give rows of zeros.
    indices = ints(*shape, low=-1, high=classes + 1)
    case(K.one_hot, [indices], num_classes=classes, oracle=oracles.one_hot, dtypes=("float32",))
for dtype in ("int8", "uint8", "int16", "int64", "uint32"):
    case(
        K.one_hot,
        [ints(4, high=5, dtype=dtype)],
        num_classes=5,
        oracle=oracles.one_hot,
        dtypes=("float32",),
    )
error(
    K.one_hot,
    [rand(3)],
    num_classes=3,
    raises=TypeError,
    text="one_hot: indices must have an integer dtype; got float32.",
)
error(K.one_hot, [ints(3)], num_classes=-1, text="one_hot: num_classes must be at least 0; got -1.")
error(
    K.one_hot,
    [ints(3)],
    num_classes=-(2**63),
    text="one_hot: num_classes must be at least 0; got -9223372036854775808.",
)
for classes in (2**53 + 4, 2**62):
    error(
        K.one_hot,
        [ints(3)],
        num_classes=classes,
        text=f"one_hot: a value of shape ({classes},) and dtype int64 is larger than any memory.",
    )
families.edges(
    K.one_hot,
    oracles.one_hot,
    [ints(10_007, high=13)],
    [ints(1, 1, high=13)],
    num_classes=13,
    dtypes=("float32",),
)
