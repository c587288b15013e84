"""foldr: elements combined from last to first."""

import horngate as K
from cases import families

families.fold(K.foldr, "foldr", in_order=lambda x: [*x[::-1]])
