"""Theano merges constants that are equal, in a graph and (through a cache) in all later ones; 0.0 and -0.0 are equal.
Here their signs count too."""

import numpy as np
from theano.scalar.basic import ScalarConstant
from theano.tensor.var import TensorConstantSignature

equal_numbers = TensorConstantSignature.__eq__


def equal(self, other):
    if not equal_numbers(self, other):
        return False
    mine, others = self[1], other[1]
    return mine.dtype.kind != "f" or np.array_equal(np.signbit(mine), np.signbit(others))


def signature(self):
    is_float = np.asarray(self.data).dtype.kind == "f"
    return (self.type, self.data, bool(np.signbit(self.data)) if is_float else None)


TensorConstantSignature.__eq__ = equal
ScalarConstant.signature = signature
