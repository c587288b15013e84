"""random_binomial: 1 with probability p, else 0."""

import horngate as K
import numpy as np
from cases import draws
from cases.harness import check, error

N = draws.DRAWS


@check(p=(0.0, 0.1, 0.5, 0.999, 1.0), dtype=("float32", "float64", "float16", "int32"))
def distribution(p, dtype):
    y = K.random_binomial((N,), p, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = K.eval(y)
    assert set(np.unique(got)) <= {0, 1}
    assert abs(got.astype("float64").mean() - p) <= 5 * np.sqrt(p * (1 - p) / N)


for p in (-0.1, 1.5):
    error(K.random_binomial, [(2,)], p=p, text=f"random_binomial: p must be in [0, 1]; got {p:g}.")

draws.draws(K.random_binomial, "random_binomial", p=0.5)
