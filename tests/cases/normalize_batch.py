"""normalize_batch: the old name of batch_normalization."""

import horngate as K
from cases import oracles
from cases.harness import case
from cases.inputs import positive, rand


def oracle(x, mean, var, beta, gamma, epsilon=0.0001):
    return oracles.batch_normalization(x, mean, var, beta, gamma, -1, epsilon)


INPUTS = [rand(5, 3), rand(3), positive(3, high=0.4), rand(3), rand(3)]
case(K.normalize_batch, INPUTS, oracle=oracle, tol={"float32": 1e-5})
case(K.normalize_batch, INPUTS, epsilon=0.5, oracle=oracle, tol={"float32": 1e-5})
