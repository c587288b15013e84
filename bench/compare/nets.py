"""What a net is in every library: its weights, made by the library's own `variable(array)`, and how it is put together."""

import numpy as np
from data import glorot, resnet20_blocks


def chain(x, b):
    for _ in range(100):
        x = x + b
    return x


class Weights:
    def __init__(self, variable):
        self.variable = variable

    def kernel(self, shape, seed):
        return self.variable(glorot(shape, seed))

    def zeros(self, *shape):
        return self.variable(np.zeros(shape, "f"))

    def ones(self, *shape):
        return self.variable(np.ones(shape, "f"))

    def layers(self, *shapes):
        """A kernel and a bias of each layer in turn."""
        pairs = [(self.kernel(s, i), self.zeros(s[-1])) for i, s in enumerate(shapes)]
        return [w for pair in pairs for w in pair]

    def mlp(self):
        return self.layers((784, 512), (512, 512), (512, 10))

    def cnn(self):
        return self.layers((3, 3, 1, 32), (3, 3, 32, 64), (9216, 128), (128, 10))

    def lstm(self):
        """Of the input, the state and both; of the layer behind it."""
        recurrent = [self.kernel((64, 512), 0), self.kernel((128, 512), 1), self.zeros(512)]
        return [*recurrent, self.kernel((128, 10), 2), self.zeros(10)]

    def transformer_block(self, d=256):
        """Four layers, then scale and shift of the two normalisations."""
        layers = self.layers((d, 3 * d), (d, d), (d, 4 * d), (4 * d, d))
        return [*layers, self.ones(d), self.zeros(d), self.ones(d), self.zeros(d)]

    def resnet20(self, layer):
        """layer(kernel, scale, shift) of a convolution and its normalisation. Gives the stem; per block the stride,
        two layers and the kernel of the shortcut or None; and kernel and bias of the head."""
        seeds = iter(range(1, 100))

        def make(*shape):
            return layer(
                self.kernel(shape, next(seeds)), self.ones(shape[-1]), self.zeros(shape[-1])
            )

        stem, blocks = make(3, 3, 3, 16), []
        for stride, before, c in resnet20_blocks():
            first, second, short = make(3, 3, before, c), make(3, 3, c, c), None
            if before != c:
                short = self.kernel((1, 1, before, c), next(seeds))
            blocks.append((stride, first, second, short))
        return stem, blocks, (self.kernel((64, 10), next(seeds)), self.zeros(10))
