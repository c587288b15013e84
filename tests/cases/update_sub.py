"""update_sub: a change of a variable."""

import horngate as K
from cases import families

families.update(K.update_sub, "decrement", lambda start, change: start - change)
