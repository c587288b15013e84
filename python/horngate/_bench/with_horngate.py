"""The cases on Horngate, its own engine."""

import horngate as K

from horngate._bench.cases import GELU, RATE


def threads(count):
    """Nothing: HORNGATE_NUM_THREADS is set."""


def _unary(function):
    def make(x):
        symbol = K.placeholder(x.shape)
        f = K.function([symbol], [function(symbol)])
        return lambda: f([x])[0]

    return make


call = _unary(lambda x: x + 1)
gelu = _unary(lambda x: 0.5 * x * (1 + K.tanh(GELU * (x + 0.044715 * x * x * x))))
softmax = _unary(K.softmax)


def product(a, b):
    x, y = K.placeholder(a.shape), K.placeholder(b.shape)
    f = K.function([x, y], [K.dot(x, y)])
    return lambda: f([a, b])[0]


def convolution(x, kernel):
    image, w = K.placeholder(x.shape), K.variable(kernel)
    f = K.function([image], [K.conv2d(image, w, padding="same", data_format="channels_last")])
    return lambda: f([x])[0]


def training(x, labels, *weights):
    image, wanted = K.placeholder(x.shape), K.placeholder(labels.shape)
    w1, b1, w2, b2 = variables = [K.variable(w) for w in weights]
    scores = K.dot(K.relu(K.dot(image, w1) + b1), w2) + b2
    loss = K.mean(K.categorical_crossentropy(wanted, scores, from_logits=True))
    steps = zip(variables, K.gradients(loss, variables))
    f = K.function([image, wanted], [loss], [K.update_sub(v, RATE * g) for v, g in steps])
    return lambda: f([x, labels])[0]
