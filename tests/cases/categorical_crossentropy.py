"""categorical_crossentropy: of two distributions over classes."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import data, normal, positive, probabilities, rand

for shape, axis in [
    ((4, 5), -1),
    ((2, 3, 4), 1),
    ((2, 3, 4), -1),
    ((5, 2), 0),
    ((1, 2), 1),
    ((6,), 0),
]:
    case(
        K.categorical_crossentropy,
        [probabilities(*shape, axis=axis), positive(*shape)],
        axis=axis,
        oracle=oracles.categorical_crossentropy,
        second=True,
    )
    case(
        K.categorical_crossentropy,
        [probabilities(*shape, axis=axis), normal(*shape, scale=3.0)],
        axis=axis,
        from_logits=True,
        oracle=oracles.categorical_crossentropy,
        second=True,
    )
case(
    K.categorical_crossentropy,
    [probabilities(67, 31), probabilities(67, 31)],
    oracle=oracles.categorical_crossentropy,
)
case(
    K.categorical_crossentropy,
    [probabilities(0, 3), positive(0, 3)],
    oracle=oracles.categorical_crossentropy,
)
# Probabilities of 0 and 1 are clipped by epsilon.
EDGE = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
case(
    K.categorical_crossentropy,
    [data([[1.0, 0.0]] * 3), data(EDGE)],
    oracle=oracles.categorical_crossentropy,
    grad=False,
    label="categorical_crossentropy(0 and 1)",
    tol={"float32": 1e-6},
)
case(
    K.categorical_crossentropy,
    [data([[1.0, 0.0]] * 2), data([[1e3, -1e3], [-1e3, 1e3]])],
    from_logits=True,
    oracle=oracles.categorical_crossentropy,
    label="categorical_crossentropy(large logits)",
)
case(
    K.categorical_crossentropy,
    [probabilities(4, 5), positive(4, 5)],
    oracle=oracles.categorical_crossentropy,
    dtypes=("float16", "bfloat16"),
    tol=0.02,
)
error(
    K.categorical_crossentropy,
    [rand(2, 3), rand(2, 3)],
    axis=2,
    text="categorical_crossentropy: axis must be in [-2, 2) for output of shape (2, 3); got axis=2.",
)
error(
    K.categorical_crossentropy,
    [rand(2, 3), rand(2, 4)],
    text="categorical_crossentropy: shapes (2, 3) and (2, 4) do not broadcast together.",
)
families.edges(
    K.categorical_crossentropy,
    oracles.categorical_crossentropy,
    [probabilities(1009, 11), probabilities(1009, 11)],
)
