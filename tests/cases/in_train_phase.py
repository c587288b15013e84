"""in_train_phase: x while training, alt otherwise."""

import horngate as K
import numpy as np
from cases.harness import check, error
from cases.inputs import rand

VALUE = np.array([1.0, -2.0])


def at(phase):
    """What comes out for x * 2 and x in a phase."""
    return VALUE * 2 if phase == 1 else VALUE


@check(phase=(0, 1), callables=(False, True))
def by_the_fed_phase(phase, callables):
    x = K.placeholder((2,))
    y = K.in_train_phase(lambda: x * 2, lambda: x) if callables else K.in_train_phase(x * 2, x)
    assert y._uses_learning_phase
    f = K.function([x, K.learning_phase()], [y])
    for one in (phase, bool(phase), float(phase), np.array(phase)):
        np.testing.assert_array_equal(f([VALUE, one])[0], at(phase))


@check
def testing_when_nothing_is_fed():
    x = K.placeholder((2,))
    np.testing.assert_array_equal(K.function([x], [K.in_train_phase(x * 2, x)])([VALUE])[0], at(0))


@check(phase=(0, 1))
def by_the_fixed_phase(phase):
    K.set_learning_phase(phase)
    x = K.placeholder((2,))
    np.testing.assert_array_equal(
        K.function([x], [K.in_train_phase(x * 2, x)])([VALUE])[0], at(phase)
    )


@check(training=(0, 1, False, True))
def by_the_argument(training):
    x = K.placeholder((2,))
    y = K.in_train_phase(x * 2, x, training=training)
    assert not y._uses_learning_phase
    np.testing.assert_array_equal(K.function([x], [y])([VALUE])[0], at(int(training)))


@check(phase=(0, 1), dtype=("bool", "int32", "float32"))
def by_a_tensor(phase, dtype):
    x, training = K.placeholder((2,)), K.placeholder((), dtype=dtype)
    y = K.in_train_phase(x * 2, x, training=training)
    np.testing.assert_array_equal(K.function([x, training], [y])([VALUE, phase])[0], at(phase))


@check(phase=(0, 1))
def gradient(phase):
    x = K.placeholder((2,))
    [g] = K.gradients(K.in_train_phase(x * 2, x), [x])
    [got] = K.function([x, K.learning_phase()], [g])([VALUE, phase])
    np.testing.assert_array_equal(got, at(phase) / VALUE)


error(
    K.in_train_phase,
    [rand(2, 3), rand(3)],
    text="in_train_phase: x and alt must have equally many dimensions; got shapes (2, 3) and (3,).",
)
