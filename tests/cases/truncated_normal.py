"""truncated_normal: normal numbers within two standard deviations."""

import horngate as K
import numpy as np
from cases import draws
from cases.harness import check
from scipy import stats

N = draws.DRAWS


@check(dtype=("float32", "float64", "float16"), moments=[(0.0, 1.0), (-3.0, 0.5), (100.0, 10.0)])
def distribution(dtype, moments):
    mean, stddev = moments
    y = K.truncated_normal((N,), mean, stddev, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = (K.eval(K.cast(y, "float64")) - mean) / stddev
    assert np.abs(got).max() <= 2.0 + (1e-6 if dtype != "float16" else 0.02)
    if dtype != "float16":
        assert stats.kstest(got, stats.truncnorm(-2, 2).cdf).pvalue > 1e-3
    assert abs(got.mean()) < 0.03 and abs(got.std() - stats.truncnorm(-2, 2).std()) < 0.03


draws.draws(K.truncated_normal, "truncated_normal")
