"""in_train_phase: x while training, alt otherwise."""

import horngate as K
from cases import families

families.phase(K.in_train_phase, "in_train_phase", first=1)
