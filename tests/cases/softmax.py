import horngate as K
from cases import oracles
from cases.harness import case, error
from cases.inputs import rand

case(K.softmax, [rand(4, 5)], oracle=oracles.softmax)
case(K.softmax, [rand(2, 3, 4)], axis=1, oracle=oracles.softmax, second=True)
error(K.softmax, [rand(2, 3)], axis=2, text="softmax: axis must be in [-2, 2) for x of shape (2, 3); got axis=2.")
