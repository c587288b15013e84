"""random_normal_variable: a variable that starts with random numbers."""

import horngate as K
from cases import draws
from scipy import stats

draws.random_variable(K.random_normal_variable, "random_normal_variable", stats.norm(-2, 3).cdf)
