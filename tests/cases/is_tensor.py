"""is_tensor, is_variable, is_placeholder, is_sparse, is_keras_tensor: what something is."""

import horngate as K
import numpy as np
import scipy.sparse
from cases.harness import check, error

KINDS = {
    "placeholder": lambda: K.placeholder((2, 2)),
    "sparse placeholder": lambda: K.placeholder((2, 2), sparse=True),
    "variable": lambda: K.zeros((2, 2)),
    "sparse variable": lambda: K.variable(scipy.sparse.eye(2, format="csr")),
    "constant": lambda: K.constant(1.0),
    "result": lambda: K.exp(K.placeholder((2, 2))),
}


@check(needs_numbers=False, kind=KINDS)
def of_tensors(kind):
    x = KINDS[kind]()
    assert K.is_tensor(x)
    assert K.is_variable(x) == ("variable" in kind)
    assert K.is_placeholder(x) == ("placeholder" in kind)
    assert K.is_sparse(x) == ("sparse" in kind)
    assert not K.is_keras_tensor(x)


@check(needs_numbers=False)
def of_anything_else():
    for thing in (1, 1.5, None, "x", [1], np.zeros(2), object(), K):
        assert not K.is_tensor(thing) and not K.is_variable(thing) and not K.is_placeholder(thing)


@check(needs_numbers=False)
def what_a_layer_made():
    x = K.placeholder((2, 2))
    x._keras_history = ("layer", 0, 0)
    assert K.is_keras_tensor(x)


error(
    K.is_keras_tensor,
    [np.zeros(2)],
    label="is_keras_tensor(array)",
    text="is_keras_tensor: x must be a tensor; got ndarray.",
)
