"""in_test_phase: x while testing, alt otherwise."""

import horngate as K
from cases import families

families.phase(K.in_test_phase, "in_test_phase", first=0)
