"""What users do, on an installed wheel: convolutions, products, errors, files. README's program is in test_wheel.py."""

import json
import os
import subprocess
import sys
import tempfile

import horngate as K
import numpy as np

package = os.path.dirname(K.__file__)
assert package.startswith(sys.prefix), package

# Convolutions and products in all sizes, beside sums in float64.
random = np.random.default_rng(0)


def sum_of_products(x, w):
    rows, columns = x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1
    parts = [
        x[:, i : i + rows, j : j + columns] @ w[i, j]
        for i in range(w.shape[0])
        for j in range(w.shape[1])
    ]
    return np.sum(parts, axis=0)


for size, channels in ((1, 4), (3, 8), (5, 8), (5, 64)):
    x, w = random.normal(size=(2, 20, 20, channels)), random.normal(size=(size, size, channels, 16))
    result = K.eval(K.conv2d(K.constant(x), K.constant(w)))
    np.testing.assert_allclose(result, sum_of_products(x, w), rtol=1e-4, atol=2e-3)
for n in (4, 100, 400):
    for dtype, tolerance in (("float32", 1e-3), ("float64", 1e-10)):
        a, b = random.normal(size=(2, n, n))
        result = K.eval(K.dot(K.constant(a, dtype=dtype), K.constant(b, dtype=dtype)))
        np.testing.assert_allclose(result, a @ b, rtol=tolerance, atol=tolerance)

# Errors and exceptions cross our libraries; types keep their names.
for call, wrong, text in (
    (
        lambda: K.conv2d(K.ones((1, 4, 4, 1)), K.ones((2, 2, 1, 1)), padding="full"),
        ValueError,
        "padding",
    ),
    (lambda: K.dot(object(), K.ones((2, 2))), TypeError, "got object."),
    (lambda: K.function([], [])(3), TypeError, "got int."),
    (lambda: K.load("/no/such/file.npz"), Exception, "/no/such/file.npz"),
    (lambda: type("T", (type(K.ones(1)),), {}), TypeError, "is not an acceptable base type"),
):
    try:
        call()
    except wrong as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)

# Slices, hashes, shapes that were assigned, and a chain that is freed without recursion.
t = K.constant(np.arange(24).reshape(2, 3, 4))
np.testing.assert_array_equal(K.eval(t[:, 1:, ::2]), np.arange(24).reshape(2, 3, 4)[:, 1:, ::2])
assert len({t, t, K.ones(2)}) == 2
t._keras_shape = (None, 3, 4)
assert K.int_shape(t) == (2, 3, 4), K.int_shape(t)
for _ in range(200_000):
    t = t + 1
del t

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "w.npz")
    K.save(path, {"w": np.arange(3.0)})
    np.testing.assert_array_equal(K.load(path)["w"], np.arange(3.0))

with open("/proc/self/maps") as f:
    files = {line.split()[-1] for line in f if ".so" in line}
ours = sorted(os.path.basename(f) for f in files if f.startswith(package))
others = sorted(f for f in files if "gomp" in f and not f.startswith(package))
print(
    json.dumps(
        {
            "libraries": ours,
            "openmp": others,
            "version": K.__version__,
            "compilers": [
                n
                for n in ("cc", "gcc", "g++", "c++", "clang")
                if subprocess.call(["/bin/sh", "-c", f"command -v {n}"], stdout=subprocess.DEVNULL)
                == 0
            ],
        }
    )
)
