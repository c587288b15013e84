"""binary_crossentropy: of two-class probabilities, element by element."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import bools, data, normal, rand

for shape in [(4, 5), (3,), (), (0, 2), (2, 3, 4)]:
    case(
        K.binary_crossentropy,
        [rand(*shape, low=0.0), rand(*shape, low=0.1, high=0.9)],
        oracle=oracles.binary_crossentropy,
        second=True,
    )
    case(
        K.binary_crossentropy,
        [rand(*shape, low=0.0), normal(*shape, scale=3.0)],
        from_logits=True,
        oracle=oracles.binary_crossentropy,
        second=True,
    )
case(
    K.binary_crossentropy,
    [bools(67, 31), rand(67, 31, low=0.01, high=0.99)],
    oracle=oracles.binary_crossentropy,
)
case(
    K.binary_crossentropy,
    [rand(3, 1, low=0.0), rand(3, 4, low=0.1, high=0.9)],
    oracle=oracles.binary_crossentropy,
)
case(
    K.binary_crossentropy,
    [data([0.0, 1.0, 0.0, 1.0]), data([0.0, 0.0, 1.0, 1.0])],
    oracle=oracles.binary_crossentropy,
    grad=False,
    tol={"float32": 1e-2},
    label="binary_crossentropy(0 and 1)",
)
case(
    K.binary_crossentropy,
    [data([0.0, 1.0, 0.0, 1.0]), data([1e3, 1e3, -1e3, -1e3])],
    from_logits=True,
    oracle=oracles.binary_crossentropy,
    label="binary_crossentropy(large logits)",
)
case(
    K.binary_crossentropy,
    [bools(4, 5), rand(4, 5, low=0.1, high=0.9)],
    oracle=oracles.binary_crossentropy,
    dtypes=("float16", "bfloat16"),
    tol=0.03,
)
error(
    K.binary_crossentropy,
    [rand(2, 3), rand(2, 4)],
    text="binary_crossentropy: shapes (2, 3) and (2, 4) do not broadcast together.",
)
families.edges(
    K.binary_crossentropy,
    oracles.binary_crossentropy,
    [rand(1009, 11, low=0.0), rand(1009, 11, low=0.1, high=0.9)],
)
