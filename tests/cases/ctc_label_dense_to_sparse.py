"""ctc_label_dense_to_sparse: label rows as a sparse tensor."""

import horngate as K
import numpy as np
from cases.harness import check


@check(dtype=("int32", "int64", "float32"))
def keeps_what_the_lengths_say(dtype):
    labels = np.arange(1, 13).reshape(3, 4).astype(dtype)
    lengths = np.array([2, 0, 4])
    x, n = K.placeholder((None, None), dtype=dtype), K.placeholder((None,), dtype="int32")
    sparse = K.ctc_label_dense_to_sparse(x, n)
    assert K.is_sparse(sparse) and K.dtype(sparse) == dtype
    [got] = K.function([x, n], [K.to_dense(sparse)])([labels, lengths])
    np.testing.assert_array_equal(got, np.where(np.arange(4) < lengths[:, None], labels, 0))


@check
def of_constants():
    sparse = K.ctc_label_dense_to_sparse(
        K.constant([[1, 2, 0], [3, 0, 0]]), K.constant([2, 1], dtype="int32")
    )
    np.testing.assert_array_equal(K.eval(K.to_dense(sparse)), [[1, 2, 0], [3, 0, 0]])
