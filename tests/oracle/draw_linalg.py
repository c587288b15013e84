"""Products and normalisation."""

from draws import Draw, draws


@draws("dot", count=12)
def dot(r):
    k = r.int(1, 5)
    xs, ys = r.choice(
        ((3, k), (k, 4)), ((2, 3, k), (k, 4)), ((2, 3, k), (4, k, 2)), ((2, 3, k), (2, 2, k, 3))
    )
    return Draw([r.normal(*xs), r.normal(*ys)], lambda K, x, y: K.dot(x, y), f"{xs} {ys}")


@draws("batch_dot", count=30)
def batch_dot(r):
    b = r.int(1, 4)
    x, y = [b, *r.shape(1, 3)], [b, *r.shape(1, 3)]
    ax, ay = r.int(1, len(x) - 1), r.int(1, len(y) - 1)
    y[ay] = x[ax]
    axes = (ax - len(x) * r.int(0, 1), ay - len(y) * r.int(0, 1))
    if ax == ay and axes[0] == axes[1] and r.flag():
        axes = axes[0]
    return Draw(
        [r.normal(*x), r.normal(*y)],
        lambda K, x, y: K.batch_dot(x, y, axes=axes),
        f"{tuple(x)} {tuple(y)} axes={axes}",
    )


@draws("batch_dot")
def batch_dot_plain(r):
    b, k = r.int(1, 4), r.int(1, 4)
    xs, ys = r.choice(
        ((b, k), (b, k)),
        ((b, 3, k), (b, k)),
        ((b, k), (b, k, 2)),
        ((b, 2, k), (b, k, 3)),
        ((b, 2, 3, k), (b, 2, k, 5)),
    )
    return Draw(
        [r.normal(*xs), r.normal(*ys)], lambda K, x, y: K.batch_dot(x, y), f"{xs} {ys} axes=None"
    )


@draws("l2_normalize")
def l2_normalize(r):
    shape = r.shape(1, 4)
    axis = r.choice(None, r.axis(len(shape)))
    return Draw(
        [r.normal(*shape)], lambda K, x: K.l2_normalize(x, axis=axis), f"{shape} axis={axis}"
    )


@draws("l2_normalize", count=2)
def l2_of_small(r):
    x = r.normal(3, 4, scale=1e-8)
    return Draw([x], lambda K, x: K.l2_normalize(x, axis=-1), "nearly zero", tol=10)


def _statistics(r, axis, rank, high=5):
    shape = list(r.shape(rank, rank, low=2, high=high))
    n = shape[axis]
    return shape, [
        r.normal(*shape),
        r.normal(n),
        r.uniform(0.3, 3, n),
        r.normal(n),
        r.uniform(0.3, 2, n),
    ]


@draws("batch_normalization", count=16)
def batch_normalization(r):
    rank = r.int(2, 5)
    axis = r.choice(-1, 1)
    shape, arrays = _statistics(r, axis, rank, 4)
    epsilon = r.choice(1e-3, 1e-2)
    # theirs needs both for images along axis 1
    both = rank == 4 and axis == 1
    use_beta, use_gamma = r.flag() or both, r.flag() or both

    def call(K, x, mean, var, beta, gamma):
        if axis == 1 and rank != 4:
            # only rank 4 may leave its statistics one-dimensional
            where = [1] * rank
            where[axis] = -1
            mean, var, beta, gamma = (K.reshape(t, where) for t in (mean, var, beta, gamma))
        return K.batch_normalization(
            x,
            mean,
            var,
            beta if use_beta else None,
            gamma if use_gamma else None,
            axis=axis,
            epsilon=epsilon,
        )

    return Draw(
        arrays,
        call,
        f"{tuple(shape)} axis={axis} beta={use_beta} gamma={use_gamma}",
        open="first",
        tol=10,
        their_dtype="float32" if rank == 4 else None,
    )


@draws("batch_normalization", count=2)
def batch_normalization_without_beta(r):
    _, arrays = _statistics(r, 1, 4)
    call = lambda K, x, m, v, b, g: K.batch_normalization(x, m, v, None, g, axis=1)
    return Draw(arrays, call, "images axis=1 beta=False gamma=True", open="first")


@draws("normalize_batch_in_training", count=16)
def normalize_batch_in_training(r):
    rank = r.int(2, 5)
    axis = r.choice(rank - 1, rank - 1, 1)
    axes = [a for a in range(rank) if a != axis]
    shape, (x, _, _, beta, gamma) = _statistics(r, axis, rank, 4)
    epsilon = r.choice(1e-3, 1e-2)
    use_beta, use_gamma = r.flag(), r.flag()

    def call(K, x, gamma, beta):
        gamma, beta = gamma if use_gamma else None, beta if use_beta else None
        made = list(K.normalize_batch_in_training(x, gamma, beta, axes, epsilon))
        return made[:1] if axes == [0, 1, 2] else made

    label = f"{tuple(shape)} over {axes} gamma={use_gamma} beta={use_beta}"
    narrow = "float32" if rank == 4 else None
    return Draw([x, gamma, beta], call, label, open="first", tol=10, their_dtype=narrow)


@draws("normalize_batch_in_training", count=4)
def variance_of_images(r):
    """Their variance is that of a sample, and their fused statistics have no gradient."""
    x, gamma, beta = r.normal(2, 3, 4, 5), r.normal(5), r.normal(5)
    call = lambda K, x, g, b: K.normalize_batch_in_training(x, g, b, [0, 1, 2])[1:]
    return Draw([x, gamma, beta], call, "statistics of images", open="first", their_dtype="float32")
