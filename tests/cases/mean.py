"""mean: along axes; whole numbers give floats."""

import horngate as K
import numpy as np
from cases import axes, families, oracles
from cases.harness import case, check
from cases.inputs import rand

axes.reduction(K.mean, np.mean, "mean", empty=np.mean)
for dtype in ("int8", "int32", "int64", "uint8"):
    case(
        K.mean,
        [rand(3, 4)],
        axis=1,
        oracle=oracles.reduction(np.mean),
        dtypes=(dtype,),
        out="float32",
    )
families.of_bools(K.mean, np.mean)


@check(dtype=("float32", "float64"))
def divides(dtype):
    """A product with the rounded reciprocal of 3 would give 0.20000002."""
    own = K.backend() == "native"  # others' division may be a product, too
    if dtype == "float32" and own:
        assert K.eval(K.mean(K.variable([0.2, 0.1, 0.3]))) == np.float32(0.2)
    # Sums of whole numbers are exact, so that one rounding is left.
    for n in (3, 7, 49, 255):
        rows = np.random.default_rng(n).integers(-999, 999, (65, n)).astype(dtype)
        want = rows.sum(axis=1) / np.array(n, dtype)
        x = K.placeholder((None, n), dtype=dtype)
        known, unknown = K.placeholder((65, n), dtype=dtype), K.placeholder((None, None), dtype=dtype)
        for p in (x, known, unknown):
            [got] = K.function([p], [K.mean(p, axis=1)])([rows])
            np.testing.assert_array_max_ulp(got, want, maxulp=0 if own else 2)
        [got] = K.function([x], [K.mean(x, axis=0)])([rows])
        want = rows.sum(axis=0) / np.array(65, dtype)
        np.testing.assert_array_max_ulp(got, want, maxulp=0 if own else 2)


@check(dtype=("float32", "float64"))
def gradient_divides(dtype):
    x = K.placeholder((None, 49), dtype=dtype)
    [g] = K.function([x], K.gradients(K.mean(x, axis=1), [x]))([np.ones((3, 49))])
    ulps = 0 if K.backend() == "native" else 2
    np.testing.assert_array_max_ulp(g, np.full_like(g, 1) / np.array(49, dtype), maxulp=ulps)
