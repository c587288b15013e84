"""One wrapper per tensor: the object with the attributes comes back, and nothing leaks."""

import gc
import subprocess
import sys
import time
import weakref

import horngate as K
import numpy as np
import pytest
from horngate import _horngate


def test_the_same_tensor_is_the_same_object():
    x = K.placeholder((2, 2))
    assert K.to_dense(x) is x
    phase = K.learning_phase()
    phase.mark = 1
    assert K.learning_phase() is phase and K.learning_phase().mark == 1


def test_outputs_of_one_node_are_different_objects():
    x = K.placeholder((4, 3))
    y, mean, variance = K.normalize_batch_in_training(x, None, None, [0])
    assert len({id(y), id(mean), id(variance)}) == 3
    mean.mark = "mean"
    del y
    gc.collect()
    assert mean.mark == "mean" and mean.shape == (3,) and variance.shape == (3,)


def test_an_output_keeps_its_inputs():
    """Code that keeps id(x) and holds the output never meets another tensor under that id."""
    cache = {}

    def model(x):
        if id(x) not in cache:
            cache[id(x)] = K.relu(x * 2 + 1)
        return cache[id(x)]

    x1 = K.placeholder((2,))
    model(x1)
    del x1
    gc.collect()
    others = [K.placeholder((3,)) for _ in range(10_000)]
    for x2 in others[-3:]:
        y = model(x2)
        assert y.shape == (3,)
        np.testing.assert_array_equal(K.function([x2], [y])([[1, 2, 3]])[0], [3, 5, 7])


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x + 1,
        lambda x: 2 - x,
        lambda x: x[0],
        lambda x: K.concatenate([x, x]),
        lambda x: K.reshape(x, (K.shape(x)[0], 1)),
        lambda x: K.switch(K.constant(True, dtype="bool"), lambda: x, lambda: x * 2),
        lambda x: K.gradients(K.sum(K.square(x)), x)[0],
        lambda x: K.map_fn(lambda e: e + 1, x),
        lambda x: K.rnn(lambda a, s: (a, [a]), K.reshape(x, (1, 4, 1)), [K.zeros((1, 1))])[0],
    ],
)
def test_every_kind_of_result_keeps_its_inputs(make):
    x = K.placeholder((4,))
    ref = weakref.ref(x)
    y = make(x)
    del x
    gc.collect()
    assert ref() is not None
    del y, make
    gc.collect()


def test_everything_is_freed():
    gc.collect()
    before = _horngate.live_node_count()

    def make():
        x = K.placeholder((None, 8))
        w, b = K.variable(np.zeros((8, 4))), K.variable(np.zeros(4))
        y = K.softmax(K.dot(x, w) + b)
        y._keras_history = (y, x)  # a cycle
        loss = K.mean(K.square(y))
        grads = K.gradients(loss, [w, b])
        f = K.function([x], [loss], updates=[K.update_sub(w, 0.1 * grads[0])])
        f([np.ones((2, 8))])

    make()
    gc.collect()
    assert _horngate.live_node_count() == before


def test_a_function_outlives_its_tensors():
    x = K.placeholder((2,))
    y = x * K.variable([2, 3])
    f = K.function([x], [y])
    del x, y
    gc.collect()
    np.testing.assert_array_equal(f([[1, 1]])[0], [2, 3])


def test_long_chains_are_freed_without_recursion():
    """In a process of its own with a stack of 1 MB."""
    program = """
import resource, threading, gc
import horngate as K
from horngate import _horngate
def chain():
    x = K.placeholder((1,))
    for _ in range(1_000_000):
        x = x + 1.0
    del x
    gc.collect()
    print(_horngate.live_node_count())
threading.stack_size(1 << 20)
t = threading.Thread(target=chain)
t.start()
t.join()
"""
    start = time.time()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 0
    assert time.time() - start < 60


def test_a_wrapper_that_died_comes_back_new():
    x = K.placeholder((2,))
    phase = K.learning_phase()
    y = K.in_train_phase(x, x * 2)
    old = weakref.ref(phase)
    del phase
    gc.collect()
    assert old() is None  # nobody held it; the node lives on in y
    assert K.learning_phase() is K.learning_phase()
    np.testing.assert_array_equal(K.function([x, K.learning_phase()], [y])([[1, 2], 1])[0], [1, 2])
