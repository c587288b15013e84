"""random_uniform: numbers of [minval, maxval)."""

import os
import subprocess
import sys

import horngate as K
import numpy as np
from cases import draws
from cases.harness import check, error
from scipy import stats

N = draws.DRAWS


def draw(shape=(N,), **options):
    """A function that draws at each call."""
    return K.function([], [K.random_uniform(shape, **options)])


@check(
    dtype=("float32", "float64", "float16", "bfloat16"),
    bounds=[(0.0, 1.0), (-3.0, 5.0), (10.0, 10.5)],
)
def distribution(dtype, bounds):
    low, high = bounds
    y = K.random_uniform((N,), low, high, dtype=dtype, seed=1)
    assert K.dtype(y) == dtype
    got = K.eval(K.cast(y, "float64"))
    assert got.min() >= low and got.max() < high
    if dtype in ("float32", "float64"):
        assert stats.kstest(got, stats.uniform(low, high - low).cdf).pvalue > 1e-3
    np.testing.assert_allclose(got.mean(), (low + high) / 2, atol=(high - low) * 0.02)


@check
def fine_bits_are_even():
    """The last bits of a float32 are as random as the first."""
    got = draw(seed=4)([])[0]
    parts = np.floor(got.astype("float64") * 2**20).astype("int64") % 16
    assert stats.chisquare(np.bincount(parts, minlength=16)).pvalue > 1e-3


@check(dtype=("int32", "int64", "uint8"))
def whole_numbers(dtype):
    y = K.random_uniform((N,), 2, 9, dtype=dtype, seed=1)
    got = K.eval(y)
    assert got.dtype == dtype and got.min() == 2 and got.max() == 8
    assert stats.chisquare(np.bincount(got)[2:]).pvalue > 1e-3


@check(threads=("1", "2", "3"))
def threads_do_not_matter(threads):
    code = (
        "import horngate as K; print(K.eval(K.random_uniform((100000,), seed=8)).tobytes().hex())"
    )
    environment = dict(os.environ, HORNGATE_NUM_THREADS=threads)
    made = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    got = np.frombuffer(bytes.fromhex(made.stdout), "float32")
    np.testing.assert_array_equal(got, draw((100_000,), seed=8)([])[0])


error(
    K.random_uniform,
    [(2,)],
    minval=3.0,
    maxval=1.0,
    text="random_uniform: minval must not be above maxval; got 3 and 1.",
)

error(
    K.random_uniform,
    [(2,)],
    minval=-60000,
    maxval=60000,
    dtype="float16",
    text="random_uniform: maxval - minval must be a finite number of dtype float16; got -60000 and 60000.",
)
error(
    K.random_uniform,
    [(2,)],
    maxval=np.inf,
    text="random_uniform: maxval - minval must be a finite number of dtype float32; got 0 and inf.",
)
error(
    K.random_uniform,
    [(2,)],
    minval=2**54,
    maxval=2**55,
    dtype="int64",
    text="random_uniform: minval and maxval must be within 2^53 of 0 for integers; got 18014398509481984.",
)


draws.draws(K.random_uniform, "random_uniform")
