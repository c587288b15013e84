"""Random tensors: samples of the same distribution, shape and dtype."""

from draws import Draw, draws

MANY = (300, 200)


@draws("random_normal", "truncated_normal", count=4)
def normal(r):
    mean, stddev = r.choice(0.0, -2.0), r.choice(1.0, 0.3)
    dtype = r.choice(None, "float32", "float64")
    call = lambda K: getattr(K, r.name)(MANY, mean, stddev, dtype=dtype, seed=3)
    return Draw([], call, f"{mean} {stddev} {dtype}", statistics=True, grad=False)


@draws("random_uniform", count=4)
def uniform(r):
    low, high = r.choice((0.0, 1.0), (-3.0, 2.0))
    dtype = r.choice(None, "float32", "float64")
    call = lambda K: K.random_uniform(MANY, low, high, dtype=dtype, seed=3)
    return Draw([], call, f"{low} {high} {dtype}", statistics=True, grad=False)


@draws("random_uniform", count=2)
def uniform_ints(r):
    call = lambda K: K.random_uniform(MANY, -3, 9, dtype="int32", seed=3)
    return Draw([], call, "int32", statistics=True, grad=False)


@draws("random_binomial", count=4)
def binomial(r):
    p = r.choice(0.0, 0.2, 0.5, 1.0)
    dtype = r.choice(None, "float32", "float64")
    call = lambda K: K.random_binomial(MANY, p, dtype=dtype, seed=3)
    return Draw([], call, f"{p} {dtype}", statistics=True, grad=False)


@draws("random_uniform_variable", "random_normal_variable", count=4)
def variables(r):
    a, b = r.choice((0.0, 1.0), (-3.0, 2.0))
    dtype = r.choice(None, "float32", "float64")

    def call(K):
        return K.get_value(getattr(K, r.name)(MANY, a, abs(b), dtype=dtype, seed=3))

    return Draw([], call, f"{a} {b} {dtype}", statistics=True, raw=True)


@draws("dropout", count=8)
def dropout(r):
    level = r.choice(0.0, 0.1, 0.5, 0.9)
    x = r.normal(*MANY)
    call = lambda K, x: K.dropout(x, level, seed=5)
    return Draw([x], call, f"{level}", statistics=True, grad=False)


@draws("dropout", count=6)
def dropout_scale(r):
    """What is kept is scaled exactly: its largest value says how."""
    level = r.choice(0.0, 0.1, 0.5, 0.7)
    x = r.uniform(1, 1, *MANY)
    call = lambda K, x: K.max(K.dropout(x, level, seed=5))
    return Draw([x], call, f"scale at {level}", grad=False)


@draws("dropout", count=6)
def dropout_noise_shape(r):
    """Along an axis of length 1 of the noise all share their fate."""
    axis = r.int(0, 2)
    noise = [20, 30, 40]
    noise[axis] = r.choice(1, 1, None) if axis == 0 else 1
    x = r.uniform(1, 1, 20, 30, 40)

    def call(K, x):
        y = K.dropout(x, 0.4, noise_shape=tuple(noise), seed=5)
        shared = K.all(K.equal(K.max(y, axis=axis), K.min(y, axis=axis)))
        return [shared, K.shape(y)]

    return Draw([x], call, f"noise_shape={noise}", grad=False)
