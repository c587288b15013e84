"""std: the square root of the variance."""

import horngate as K
import numpy as np
from cases import axes, families, oracles
from cases.harness import case
from cases.inputs import distinct

axes.reduction(
    K.std,
    np.std,
    "std",
    empty=np.std,
    make=lambda *s: distinct(*s, low=-3.0),
    tol={"float32": 1e-5},
    grad=False,
)
for shape, axis in [((3, 4), None), ((3, 4), 1), ((2, 3, 5), (0, 2))]:
    case(K.std, [distinct(*shape)], axis=axis, oracle=oracles.reduction(np.std), second=True)
families.of_bools(K.std, np.std)
families.of_integers(K.std, np.std)
