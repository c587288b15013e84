"""clip: what lies outside of an interval becomes the nearer bound."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, ulps
from cases.inputs import away, data, distinct, rand

KINKS = (-0.5, 0.0, 0.5, 1.0)
for low, high in [(-0.5, 1.0), (0.5, 1.0), (None, 0.5), (-0.5, None), (1.0, -0.5), (0, 1)]:
    case(
        K.clip,
        [away(4, 5, kinks=KINKS)],
        min_value=low,
        max_value=high,
        oracle=oracles.clip,
        tol=ulps(0),
    )
for shape in families.EDGES:
    case(
        K.clip,
        [rand(*shape)],
        min_value=-0.5,
        max_value=0.25,
        oracle=oracles.clip,
        grad=False,
        none=False,
    )
case(
    K.clip,
    [rand(3, 4)],
    min_value=2,
    max_value=6,
    oracle=oracles.clip,
    dtypes=("int8", "int32", "uint8"),
)
case(K.clip, [rand(3, 4)], min_value=-np.inf, max_value=0.5, oracle=oracles.clip, grad=False)
case(
    K.clip,
    [data([np.nan, np.inf, -np.inf])],
    min_value=-1.0,
    max_value=1.0,
    oracle=oracles.clip,
    grad=False,
)


def by_tensors(x, low, high):
    return K.clip(x, low, high)


def by_tensors_oracle(x, low, high):
    return np.maximum(np.minimum(x, high), low)


case(
    by_tensors,
    [distinct(3, 4), rand(4, low=-1.5, high=-0.5), rand(3, 1, low=0.5, high=1.5)],
    oracle=by_tensors_oracle,
)
families.edges(
    K.clip, oracles.clip, [rand(*families.LARGE)], [rand(1, 1)], min_value=-0.5, max_value=0.25
)
