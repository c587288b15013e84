"""l2_normalize: x divided by its Euclidean norm."""

import horngate as K
import numpy as np
from cases import axes, families, oracles
from cases.harness import case, check
from cases.inputs import data, normal

for shape, axis in [
    ((3, 4), None),
    ((3, 4), 1),
    ((3, 4), -2),
    ((2, 3, 5), (0, 2)),
    ((7,), 0),
    ((2, 3, 5), [1]),
]:
    case(K.l2_normalize, [normal(*shape)], axis=axis, oracle=oracles.l2_normalize, second=True)
for shape, axis in [((0, 3), 1), ((1009,), 0), ((67, 131), 1), ((131, 67), 0)]:
    case(K.l2_normalize, [normal(*shape)], axis=axis, oracle=oracles.l2_normalize, grad=False)
case(
    K.l2_normalize,
    [data([[0.0, 0.0], [3.0, 4.0]])],
    axis=1,
    oracle=oracles.l2_normalize,
    grad=False,
)
case(
    K.l2_normalize,
    [data([[1e-7, 0.0], [1e-5, 1e-5]])],
    axis=1,
    oracle=oracles.l2_normalize,
    grad=False,
)
case(
    K.l2_normalize,
    [normal(4, 9)],
    axis=1,
    oracle=oracles.l2_normalize,
    dtypes=("float16", "bfloat16"),
)
case(
    K.l2_normalize,
    [data([[0.0, 0.0], [3.0, 4.0]])],
    axis=1,
    oracle=oracles.l2_normalize,
    dtypes=("float16",),
)
axes.axis_errors(K.l2_normalize, "l2_normalize")


@check
def slope_at_zero_is_finite():
    x = K.variable([[0.0, 0.0], [3.0, 4.0]])
    assert np.all(np.isfinite(K.eval(K.gradients(K.l2_normalize(x, axis=1), x)[0])))


families.edges(K.l2_normalize, oracles.l2_normalize, [normal(1, 1)], [normal(101, 103)], axis=1)
