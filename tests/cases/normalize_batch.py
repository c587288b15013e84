"""normalize_batch: the old name of batch_normalization."""

import horngate as K
from cases import families, oracles
from cases.harness import case, error
from cases.inputs import positive, rand


def oracle(x, mean, var, beta, gamma, epsilon=0.0001):
    return oracles.batch_normalization(x, mean, var, beta, gamma, -1, epsilon)


INPUTS = [rand(5, 3), rand(3), positive(3, high=0.4), rand(3), rand(3)]
case(K.normalize_batch, INPUTS, oracle=oracle, second=True, tol={"float32": 1e-5})
case(K.normalize_batch, INPUTS, epsilon=0.5, oracle=oracle, tol={"float32": 1e-5})
families.edges(
    K.normalize_batch,
    oracle,
    [rand(0, 3), rand(3), positive(3), rand(3), rand(3)],
    [rand(1, 1), rand(1), positive(1), rand(1), rand(1)],
    [rand(211, 67), rand(67), positive(67), rand(67), rand(67)],
    tol={"float32": 1e-5},
)
error(
    K.normalize_batch,
    [rand(2, 3), rand(4), rand(4), rand(4), rand(4)],
    text="batch_normalization: shapes (2, 3) and (4,) do not broadcast together.",
)
