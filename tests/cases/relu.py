"""relu: x above the threshold, up to max_value; alpha * (x - threshold) below."""

import horngate as K
import numpy as np
from cases import families, oracles
from cases.harness import case, check, ulps
from cases.inputs import away, rand

families.unary(K.relu, oracles.relu, kinks=(0.0,), tol=ulps(0))
families.special(K.relu, oracles.relu, tol=ulps(0))
for alpha in (0.0, 0.1, 1.5):
    for max_value in (None, 1.0, 6):
        for threshold in (0.0, 0.5, -0.5):
            case(
                K.relu,
                [away(4, 5, kinks=(0.0, 0.5, -0.5, 1.0, 6.0), low=-3.0, high=8.0)],
                alpha=alpha,
                max_value=max_value,
                threshold=threshold,
                oracle=oracles.relu,
            )
case(K.relu, [rand(3, 4)], oracle=oracles.relu, dtypes=("int32", "uint8"))


@check
def slope_at_zero_is_zero():
    x = K.variable([-2.0, 0.0, 3.0])
    np.testing.assert_array_equal(K.eval(K.gradients(K.relu(x), x)[0]), [0, 0, 1])


@check(dtype=("uint8", "int8", "uint16", "int32", "uint64"), max_value=(None, 6), threshold=(0, 3))
def integers_do_not_wrap_around(dtype, max_value, threshold):
    """What lies below an unsigned threshold does wrap around, and is left out."""
    x = np.array([0, 2, 3, 5, 9, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    if threshold:
        x = x[x >= (threshold if np.iinfo(dtype).min == 0 else 0)]
    for alpha in (1, 2):
        with np.errstate(over="ignore"):
            below = (x - np.array(threshold, dtype)) * np.array(alpha, dtype)
        above = x if max_value is None else np.minimum(x, np.array(max_value, dtype))
        given = K.constant(x, dtype=dtype)
        y = K.relu(given, alpha=alpha, max_value=max_value, threshold=threshold)
        wanted = np.where(x > threshold, above, below)
        np.testing.assert_array_equal(K.eval(y), wanted)


@check
def slopes_with_a_threshold():
    x, alpha = K.placeholder((6,)), K.placeholder(())
    y = K.relu(x, alpha=alpha, max_value=6.0, threshold=1.0)
    f = K.function([x, alpha], [y, *K.gradients(y, [x, alpha])])
    y, dx, dalpha = f([[-1.0, 0.5, 2.0, 7.0, np.inf, np.nan], 0.25])
    np.testing.assert_array_equal(y, [-0.5, -0.125, 2, 6, 6, np.nan])
    np.testing.assert_array_equal(dx[:5], [0.25, 0.25, 1, 0, 0])
    assert np.isnan(dalpha)
    assert f([[-1.0, 0.5, 2.0, 7.0, np.inf, 1.0], 0.25])[2] == -2.5
