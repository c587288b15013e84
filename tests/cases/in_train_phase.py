"""in_train_phase: x while training, alt otherwise."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import check

families.phase(K.in_train_phase, "in_train_phase", first=1)


@check(lazy=(False, True), first=(False, True), nested=(False, True))
def what_is_not_taken_has_no_part_in_the_gradient(lazy, first, nested):
    """Its derivative may be infinite: of a deviation that is 0, of a root at 0."""

    def bad(v):
        return K.std(v) + K.sqrt(v[0] - v[0]) + K.sum(K.log(v * 0.0))

    x = K.variable(np.full(3, 0.5))
    good = K.sum(x * x * x)
    inner = K.in_train_phase(good, lambda: bad(x)) if nested else good
    other = (lambda: bad(x)) if lazy else bad(x)
    y = K.in_train_phase(inner, other) if first else K.in_test_phase(other, inner)
    slope = K.gradients(y, [x])[0]
    second = K.gradients(K.sum(slope * slope), [x])[0]
    f = K.function([K.learning_phase()], [slope, second, K.gradients(y + good, [x])[0]])
    got = f([1])
    np.testing.assert_allclose(got[0], np.full(3, 0.75), rtol=1e-6)
    np.testing.assert_allclose(got[1], np.full(3, 2 * 0.75 * 3), rtol=1e-6)
    np.testing.assert_allclose(got[2], np.full(3, 1.5), rtol=1e-6)
    assert np.isnan(f([0])[0]).all()


@check
def a_phase_within_the_other_counts_for_nothing():
    x = K.variable(np.zeros(3))
    never = K.in_train_phase(K.in_test_phase(K.sum(K.sqrt(x)), K.sum(x)), K.sum(x * 2))
    slope = K.gradients(never, [x])[0]
    f = K.function([K.learning_phase()], [slope])
    assert [f([phase])[0].tolist() for phase in (0, 1)] == [[2] * 3, [1] * 3]
