"""asymmetric_temporal_padding: the old form of temporal_padding."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import rand


def oracle(x, left_pad=1, right_pad=1):
    return oracles.temporal_padding(x, (left_pad, right_pad))


case(K.asymmetric_temporal_padding, [rand(2, 4, 3)], oracle=oracle, tol=0, second=True)
case(K.asymmetric_temporal_padding, [rand(2, 4, 3)], left_pad=2, right_pad=0, oracle=oracle, tol=0)
families.edges(
    K.asymmetric_temporal_padding,
    oracle,
    [rand(0, 4, 3)],
    [rand(1, 1, 1)],
    [rand(11, 31, 37)],
    tol=0,
)
error(
    K.asymmetric_temporal_padding,
    [rand(2, 4)],
    text="temporal_padding: x must have 3 dimensions; got shape (2, 4).",
)
