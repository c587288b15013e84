"""control_dependencies: variables as they are after updates."""

import warnings

import horngate as K
import numpy as np
from cases.harness import check


@check
def reads_the_new_value():
    total = K.variable(1.0)
    with K.control_dependencies([K.update_add(total, 2.0)]):
        after = total * 10
    assert K.eval(after) == 30
    assert K.get_value(total) == 3


@check
def outside_of_the_block_the_old_value_counts():
    total = K.variable(1.0)
    update = K.update_add(total, 2.0)
    with K.control_dependencies([update]):
        after = K.identity(total)
    before = K.identity(total)
    assert K.function([], [after, before])([]) == [3, 1]


@check
def a_metric_over_batches():
    """The mean of all batches so far, as Keras' metrics compute it."""
    x = K.placeholder((None,))
    total, count = K.variable(0.0), K.variable(0.0)
    updates = [K.update_add(total, K.sum(x)), K.update_add(count, K.cast(K.size(x), "float32"))]
    with K.control_dependencies(updates):
        mean = total / count
    f = K.function([x], [mean])
    seen = []
    for batch in ([1.0, 3.0], [8.0], [2.0, 2.0, 2.0]):
        seen += batch
        np.testing.assert_allclose(f([batch])[0], np.mean(seen), rtol=1e-6)


@check(order=("as made", "turned"), nested=(False, True), listed=(None, "as made", "turned"))
def two_updates_of_one_variable(order, nested, listed):
    """Both are done, whichever comes last in the list; the order of `updates` is the one in which they are."""
    total = K.variable(0.0)
    made = [K.update_add(total, 1.0), K.update_add(total, 10.0)]
    ops = made[::-1] if order == "turned" else made
    if nested:
        with K.control_dependencies([ops[0]]), K.control_dependencies([ops[1]]):
            after = K.identity(total)
    else:
        with K.control_dependencies(ops):
            after = K.identity(total)
    updates = {None: [], "as made": made, "turned": made[::-1]}[listed]
    assert K.function([], [after], updates)([])[0] == 11
    assert K.get_value(total) == 11


@check(listed=(False, True))
def an_update_that_sets_and_one_that_adds(listed):
    """In the order of `updates`, or else in that in which they were made."""
    total = K.variable(3.0)
    sets, adds = K.update(total, 1.0), K.update_add(total, 10.0)
    with K.control_dependencies([adds, sets]):
        after = total * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing reads what was added before
        got = K.function([], [after], [adds, sets] if listed else [])([])[0]
    assert got == (2 if listed else 22) and K.get_value(total) == got / 2


@check
def an_update_behind_what_is_waited_for():
    """Whoever waits for twice the new value waits for the update too."""
    total, other = K.variable(1.0), K.variable(0.0)
    twice = K.update_add(total, 2.0) * 2
    copied = K.update(other, twice)
    with K.control_dependencies([copied]):
        after = K.identity(total)
    assert K.eval(after) == 3 and K.get_value(other) == 6


@check(turned=(False, True), chosen=(True, False))
def read_in_branches_and_loops(turned, chosen):
    total, x = K.variable(0.0), K.placeholder((2,))
    updates = [K.update_add(total, 1.0), K.update_add(total, 10.0)]
    with K.control_dependencies(updates[:: -1 if turned else 1]):
        y = K.switch(K.sum(x) > 0, lambda: total * x, lambda: total * 2 * x)
        z = K.map_fn(lambda e: K.switch(e > 0, lambda: e * total, lambda: total * 3), x)
    feed = np.array([1.0, 2.0]) * (1 if chosen else -1)
    [g] = K.gradients(K.sum(y), [total])
    got = K.function([x], [y, z, g])([feed])
    np.testing.assert_array_equal(got[0], 11 * feed * (1 if chosen else 2))
    np.testing.assert_array_equal(got[1], 11 * feed if chosen else [33, 33])
    assert got[2] == (3 if chosen else -6) and K.get_value(total) == 11


@check
def what_is_waited_for_may_be_made_in_a_step():
    total, x = K.variable(5.0), K.placeholder((2,))
    update = K.update_add(total, 1.0)

    def step(e):
        with K.control_dependencies([update, e * 2]):
            return e * total

    y = K.map_fn(step, x)
    z = K.switch(K.sum(x) > 0, lambda: step(x), lambda: x)
    for got in K.function([x], [y, z])([[1.0, 2.0]]):
        np.testing.assert_array_equal(got, [6, 12])


@check
def an_update_that_is_fed():
    total = K.variable(5.0)
    update = K.update_add(total, 1.0)
    with K.control_dependencies([update]):
        y = total * 2
    assert K.function([update], [y])([10.0])[0] == 20
    assert K.get_value(total) == 5
