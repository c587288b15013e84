"""control_dependencies: variables as they are after updates."""

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
