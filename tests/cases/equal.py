"""equal: where x == y."""

import horngate as K
import numpy as np
from cases import families
from cases.harness import case
from cases.inputs import bools

families.comparison(K.equal, np.equal, "equal")

case(K.equal, [bools(3, 4), bools(4)], oracle=np.equal, dtypes=("float32",))
