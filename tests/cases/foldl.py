"""foldl: elements combined from first to last."""

import horngate as K
from cases import families

families.fold(K.foldl, "foldl", in_order=list)
