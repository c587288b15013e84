"""K functions as Keras 2.0 and 2.1 has them, where they are not those of 2.3."""

from horngate import _config, _elementwise, _nn, _variables


def binary_crossentropy(target, output, from_logits=False):
    """Of probabilities it is that of their logits, clipped; 2.3 adds epsilon inside of the logarithms."""
    if not from_logits:
        epsilon = _config.epsilon()
        output = _elementwise.clip(output, epsilon, 1 - epsilon)
        output = _elementwise.log(output / (1 - output))
    return _nn.binary_crossentropy(target, output, from_logits=True)


def batch_normalization(x, mean, var, beta, gamma, epsilon=1e-3):
    """Has no axis yet."""
    return _nn.batch_normalization(x, mean, var, beta, gamma, -1, epsilon)


def get_variable_shape(x):
    return _variables.int_shape(x)


def functions():
    """By name."""
    return {f.__name__: f for f in (batch_normalization, binary_crossentropy, get_variable_shape)}
