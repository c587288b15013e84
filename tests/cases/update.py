"""update: a change of a variable."""

import horngate as K
import numpy as np
from cases import families

families.update(K.update, "new_x", lambda start, change: np.asarray(change))
