"""How each mode of a case runs and what it demands."""

import horngate as K
import numpy as np
from cases import inputs
from cases.harness import ErrorCase, ulps

# Of the largest result, and of each one by itself.
TOLERANCES = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 4e-6, "float64": 1e-12}
GRADIENT_TOLERANCE_FLOAT32 = 2e-4
STEP = 1e-5
SAMPLE = 12


class Skipped(Exception):
    """The engine cannot; the text says why."""


def run(item):
    """Runs one test; an exception tells what is wrong."""
    why = item.engine.reason_to_skip(item.name)
    if why:
        raise Skipped(why)
    K.set_floatx("float32")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    K.clear_session()
    np.random.seed(0)
    try:
        globals()["run_" + item.mode](item.case, item.engine, **item.arguments)
    finally:
        K.clear_session()


def expected_dtype(case, dtype, oracle_dtype):
    if case.out:
        return case.out
    if oracle_dtype.kind == "b":
        return "bool"
    if oracle_dtype.kind in "iu":
        return oracle_dtype.name if inputs.is_float(dtype) else dtype
    return dtype if inputs.is_float(dtype) else K.floatx()


def tolerance_of(tol, dtype):
    """A plain number is meant for float32: float64 stays as strict, and halves as lax, as they are."""
    tol = tol.get(dtype) if isinstance(tol, dict) else tol
    if tol is None:
        return TOLERANCES[dtype]
    if tol == 0 or dtype == "float32":
        return tol
    return min(tol, TOLERANCES[dtype]) if dtype == "float64" else max(tol, TOLERANCES[dtype])


def assert_close(got, wanted, dtype, tol, scale=1.0, absolute=0.0):
    assert got.shape == wanted.shape, f"shape {got.shape}, not {wanted.shape}"
    if not inputs.is_float(dtype):
        np.testing.assert_array_equal(got, wanted.astype(dtype))
        return
    if isinstance(tol, ulps):
        assert_ulps(got, wanted, dtype, tol.n * scale, absolute)
        return
    wanted = wanted.astype("float64")
    finite = np.abs(wanted[np.isfinite(wanted)])
    largest = finite.max() if finite.size else 0.0
    tol = tolerance_of(tol, dtype) * scale
    np.testing.assert_allclose(got.astype("float64"), wanted, rtol=tol, atol=tol * largest)


def assert_ulps(got, wanted, dtype, n, absolute=0.0):
    with np.errstate(over="ignore", under="ignore"):
        target = inputs.cast(wanted, dtype)
    special = ~np.isfinite(target)
    np.testing.assert_array_equal(got[special], target[special])
    got, wanted, target = got[~special], wanted[~special], target[~special]
    if dtype == "bfloat16":
        unit = np.spacing(np.abs(target).astype("float32")).astype("float64") * 2**16
    else:
        unit = np.spacing(np.minimum(np.abs(target), np.finfo(dtype).max / 2)).astype("float64")
    error = np.abs(got.astype(wanted.dtype) - wanted).astype("float64")
    error = np.where(error <= absolute, 0, error / unit)
    worst = np.argmax(error) if error.size else None
    assert worst is None or error[worst] <= n, (
        f"{error[worst]:.2f} ulp, more than {n}: got {got[worst]!r} for {wanted[worst]!r}"
    )


def compare_results(case, engine, dtype, outputs, tensors):
    wide = "longdouble" if isinstance(case.tol, ulps) and dtype == "float64" else "float64"
    wanted = case.expected(dtype, wide)
    assert len(outputs) == len(wanted), f"{len(outputs)} results, not {len(wanted)}"
    for tensor, got, want in zip(tensors, outputs, wanted):
        name = expected_dtype(case, dtype, want.dtype)
        assert K.dtype(tensor) == name
        without_ml_dtypes = name == "bfloat16" and got.dtype == np.float32
        assert got.dtype == name or without_ml_dtypes
        assert got.shape == want.shape, f"shape {got.shape}, not {want.shape}"
        if engine.computes:
            slack = engine.absolute_error(case.label, name)
            assert_close(got, want, name, case.tol, engine.tolerance, slack)


def run_value(case, engine, dtype):
    xs, ys = case.build(dtype)
    arrays = case.arrays(dtype)
    function = K.function(xs, ys)
    fed = [a.copy() for a in arrays]
    outputs = function(fed)
    first = [y.copy() for y in outputs]
    again = function(fed)
    for before, after in zip(arrays, fed):
        np.testing.assert_array_equal(after, before, "a call changed its input")
    for one, kept, two in zip(first, outputs, again):
        np.testing.assert_array_equal(kept, one, "the second call changed results of the first")
        np.testing.assert_array_equal(two, one, "the second call gave other results")
    if not case.open:
        assert [K.int_shape(y) for y in ys] == [r.shape for r in case.expected(dtype)]
    compare_results(case, engine, dtype, outputs, ys)


def run_none(case, engine, dtype):
    xs, ys = case.build(dtype, open_dims=True)
    for y, want in zip(ys, case.expected(dtype)):
        shape = K.int_shape(y)
        assert K.ndim(y) == len(shape) == want.ndim, f"int_shape {shape} for {want.shape}"
        fits = all(n is None or n == m for n, m in zip(shape, want.shape))
        assert fits, f"int_shape {shape} for {want.shape}"
    if isinstance(case.none, tuple):
        assert K.int_shape(ys[0]) == case.none
    compare_results(case, engine, dtype, K.function(xs, ys)(case.arrays(dtype)), ys)


def differentiable(case, xs):
    """Positions of the inputs that are differentiated."""
    specs = inputs.leaves(case.inputs)
    return [i for i, x in enumerate(specs) if x.differentiable and inputs.is_float(K.dtype(xs[i]))]


def loss_of(ys, weights, curved=False):
    """Sum of all results, each element times a weight of its own; `curved` adds their squares."""
    terms = []
    for y, w in zip(ys, weights):
        terms.append(K.sum((y + y * y if curved else y) * K.constant(w, dtype=K.dtype(y))))
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def directions(rng, shape):
    """Unit vectors for a sample of elements, then two vectors that move every element."""
    n = int(np.prod(shape))
    sample = np.arange(n)
    if n > SAMPLE:
        middle = rng.choice(np.arange(1, n - 1), SAMPLE - 2, replace=False)
        sample = np.concatenate([[0], middle, [n - 1]])
    for i in sample:
        unit = np.zeros(n)
        unit[i] = 1
        yield unit.reshape(shape)
    yield rng.uniform(-1, 1, shape)
    yield rng.uniform(0.5, 1.5, shape)  # slopes of one sign do not cancel


def slopes(evaluate, arrays, position, rng):
    """(direction, (f(x + h d) - f(x - h d)) / 2h) of a function of all arrays, in float64."""
    x = arrays[position]
    for d in directions(rng, x.shape):
        ends = []
        for sign in (1, -1):
            moved = list(arrays)
            moved[position] = x + sign * STEP * d
            ends.append(evaluate(moved))
        yield d, (ends[0] - ends[1]) / (2 * STEP)


def compare_gradient(got, measured, noise, tol):
    """got . d must be the slope in each direction d."""
    largest = max((abs(s) for d, s in measured[:-2]), default=0.0)
    for d, slope in measured:
        along = float(np.sum(got * d))
        allowed = tol * (largest + np.sum(np.abs(got * d))) + noise
        at = np.argwhere(d)[0] if np.count_nonzero(d) == 1 else "all"
        assert abs(along - slope) <= allowed, (
            f"gradient {along!r}, finite difference {slope!r} at {at} (allowed error {allowed:.2g})"
        )


def weighted_gradients(case, dtype, open_dims, weights):
    """(inputs that are differentiated, their gradients) of the weighted sum of all results."""
    xs, ys = case.build(dtype, open_dims)
    wrt = differentiable(case, xs)
    grads = K.gradients(loss_of(ys, weights), [xs[i] for i in wrt])
    assert all(g is not None for g in grads), "a gradient is None"
    assert [K.dtype(g) for g in grads] == [K.dtype(xs[i]) for i in wrt]
    return wrt, K.function(xs, grads)(case.arrays(dtype))


def check_first_gradient(case, engine, dtype, open_dims):
    """The gradient by each float input against differences of the function in float64."""
    arrays = case.arrays("float64")
    rng = case.rng("gradient")
    weights = [rng.uniform(0.5, 1.5, r.shape) for r in case.expected("float64")]
    wrt, got = weighted_gradients(case, dtype, open_dims, weights)
    assert [g.shape for g in got] == [arrays[i].shape for i in wrt]
    if not engine.computes:
        return
    function = K.function(*case.build("float64"))

    def loss(values):
        return sum(float(np.sum(y * w)) for y, w in zip(function(values), weights))

    is_exact = dtype == "float64"
    tol = case.grad_tol if is_exact else max(case.grad_tol, GRADIENT_TOLERANCE_FLOAT32)
    noise = (1e-9 if is_exact else 1e-7) * (1 + abs(loss(arrays)))
    for i, g in zip(wrt, got):
        compare_gradient(g.astype("float64"), list(slopes(loss, arrays, i, rng)), noise, tol)
    if not is_exact or open_dims:
        # Differences see a sample only. Here every element must be that of the plain float64 run.
        _, exact = weighted_gradients(case, "float64", False, weights)
        for g, wanted in zip(got, exact):
            largest = np.abs(wanted).max() if wanted.size else 0.0
            np.testing.assert_allclose(g, wanted, rtol=tol, atol=tol * largest + noise)


def run_gradient(case, engine, dtype):
    check_first_gradient(case, engine, dtype, open_dims=False)


def run_gradient_none(case, engine):
    check_first_gradient(case, engine, "float64", open_dims=True)


def run_disconnected(case, engine):
    xs, ys = case.build(case.dtypes[-1])
    wrt = [x for x in xs if inputs.is_float(K.dtype(x))]
    total = K.sum(K.cast(ys[0], "float64"))
    assert K.gradients(total, wrt) == [None] * len(wrt)


def run_second_gradient(case, engine):
    """Gradients of a weighted sum of the gradients, against differences of that sum."""
    arrays = case.arrays("float64")
    rng = case.rng("second")
    weights = [rng.uniform(0.5, 1.5, r.shape) for r in case.expected("float64")]
    xs, ys = case.build("float64")
    wrt = differentiable(case, xs)
    # Squares, because the gradient of a linear function would be a constant.
    grads = K.gradients(loss_of(ys, weights, curved=True), [xs[i] for i in wrt])
    again = [rng.uniform(0.5, 1.5, arrays[i].shape) for i in wrt]
    first = K.function(xs, grads)

    def slope_sum(values):
        return sum(float(np.sum(g * w)) for g, w in zip(first(values), again))

    seconds = K.gradients(loss_of(grads, again), [xs[i] for i in wrt])
    connected = [(i, s) for i, s in zip(wrt, seconds) if s is not None]
    got = dict(zip([i for i, _ in connected], K.function(xs, [s for _, s in connected])(arrays)))
    noise = 1e-8 * (1 + abs(slope_sum(arrays)))
    for i in wrt:
        value = got.get(i, np.zeros(arrays[i].shape))
        assert value.shape == arrays[i].shape
        if engine.computes:
            measured = list(slopes(slope_sum, arrays, i, rng))
            compare_gradient(value, measured, noise, 10 * case.grad_tol)


def run_error(case, engine):
    xs = [K.placeholder(x.shape, dtype=x.dtype_in("float32")) for x in inputs.leaves(case.inputs)]
    expect_error(case, lambda: case.function(*inputs.fill(case.inputs, iter(xs)), **case.options))


def run_run_error(case, engine):
    """The graph can be built; the call fails."""
    if not engine.computes:
        raise Skipped("runs no kernel that could fail")
    specs = inputs.leaves(case.inputs)
    xs = [K.placeholder(x.placeholder_shape(True), dtype=x.dtype_in("float32")) for x in specs]
    y = case.function(*inputs.fill(case.inputs, iter(xs)), **case.options)
    function = K.function(xs, [y])
    rng = np.random.default_rng(0)
    arrays = [x.array(rng, "float32") for x in specs]
    expect_error(case, lambda: function(arrays))


def expect_error(case: ErrorCase, act):
    try:
        act()
    except Exception as e:  # noqa: BLE001 - its type is compared
        assert type(e) is case.raises, f"{type(e).__name__}, not {case.raises.__name__}: {e}"
        assert str(e) == case.text, f"got: {e}\nwanted: {case.text}"
        return
    raise AssertionError(f"nothing was raised; wanted: {case.text}")


def run_check(case, engine, **arguments):
    if not engine.computes and case.needs_numbers:
        raise Skipped("computes no numbers")
    case.function(**arguments)
