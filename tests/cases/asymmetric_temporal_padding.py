"""asymmetric_temporal_padding: the old form of temporal_padding."""

import horngate as K
from cases import oracles
from cases.harness import case
from cases.inputs import rand


def oracle(x, left_pad=1, right_pad=1):
    return oracles.temporal_padding(x, (left_pad, right_pad))


case(K.asymmetric_temporal_padding, [rand(2, 4, 3)], oracle=oracle, tol=0)
case(K.asymmetric_temporal_padding, [rand(2, 4, 3)], left_pad=2, right_pad=0, oracle=oracle, tol=0)
