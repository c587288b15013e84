"""not_equal: where x != y."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import bools

families.comparison(K.not_equal, np.not_equal, "not_equal")

case(K.not_equal, [bools(3, 4), bools(4)], oracle=np.not_equal, dtypes=("float32",))
