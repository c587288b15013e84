"""The cases on PyTorch."""

import torch

from horngate._bench.cases import RATE


def threads(count):
    torch.set_num_threads(count)


def _on(function):
    """A case whose arrays become tensors, and whose result an array."""

    def make(*arrays):
        tensors = [torch.from_numpy(a) for a in arrays]

        def run():
            with torch.inference_mode():
                return function(*tensors).numpy()

        return run

    return make


call = _on(lambda x: x + 1)
product = _on(lambda a, b: a @ b)
gelu = _on(lambda x: torch.nn.functional.gelu(x, approximate="tanh"))
softmax = _on(lambda x: torch.softmax(x, -1))


def convolution(x, kernel):
    image = torch.from_numpy(x).permute(0, 3, 1, 2)  # in memory the channels stay last
    w = torch.from_numpy(kernel).permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)

    def run():
        with torch.inference_mode():
            return torch.nn.functional.conv2d(image, w, padding=1).permute(0, 2, 3, 1).numpy()

    return run


def training(x, labels, *weights):
    image, wanted = torch.from_numpy(x), torch.from_numpy(labels)
    w1, b1, w2, b2 = variables = [torch.tensor(w, requires_grad=True) for w in weights]
    optimizer = torch.optim.SGD(variables, lr=RATE)

    def step():
        optimizer.zero_grad()
        scores = torch.relu(image @ w1 + b1) @ w2 + b2
        loss = torch.nn.functional.cross_entropy(scores, wanted)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step
