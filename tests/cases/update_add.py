"""update_add: a change of a variable."""

import horngate as K
from cases import families

families.update(K.update_add, "increment", lambda start, change: start + change)
