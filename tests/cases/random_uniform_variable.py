"""random_uniform_variable: a variable that starts with random numbers."""

import horngate as K
from cases import draws
from scipy import stats

draws.random_variable(
    K.random_uniform_variable, "random_uniform_variable", stats.uniform(-2, 5).cdf
)
