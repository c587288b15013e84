"""print_tensor: the same value, and a line for each time it is computed."""

import horngate as K
import numpy as np
from cases.harness import case
from cases.inputs import ints, rand

for shape in [(2, 3), (), (0, 2)]:
    case(K.print_tensor, [rand(*shape)], message="x is", oracle=lambda x, message: x, tol=0)
case(K.print_tensor, [ints(3)], oracle=np.array, dtypes=("float32",))
