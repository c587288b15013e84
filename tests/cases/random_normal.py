"""random_normal: normal numbers."""

import horngate as K
import numpy as np
from cases import draws
from cases.harness import check
from scipy import stats

N = draws.DRAWS


@check(
    dtype=("float32", "float64", "float16", "bfloat16"),
    moments=[(0.0, 1.0), (-3.0, 0.5), (100.0, 10.0)],
)
def distribution(dtype, moments):
    mean, stddev = moments
    y = K.random_normal((N,), mean, stddev, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = (K.eval(K.cast(y, "float64")) - mean) / stddev
    if dtype in ("float32", "float64"):
        assert stats.kstest(got, stats.norm.cdf).pvalue > 1e-3
    assert abs(got.mean()) < 0.03 and abs(got.std() - 1) < 0.03
    assert abs(stats.skew(got)) < 0.1 and abs(stats.kurtosis(got)) < 0.2


@check
def the_tails_are_there():
    got = K.eval(K.random_normal((400_000,), seed=2))
    assert np.all(np.isfinite(got))
    for limit in (3.0, 4.0):
        wanted = 2 * stats.norm.sf(limit) * got.size
        assert abs(np.sum(np.abs(got) > limit) - wanted) < 6 * np.sqrt(wanted)


draws.draws(K.random_normal, "random_normal")
