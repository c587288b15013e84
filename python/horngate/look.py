"""Looking inside: why a gradient is None or zero. Not part of the Keras backend."""

from horngate import _horngate as _hg
from horngate._names import wrong

__all__ = ["explain_gradient"]


def explain_gradient(loss, x):
    """Says why the gradient of a loss is None, or zero: the node that cut the way, and a remedy.

    Where it is neither, it says what the gradient flows through.

    Args:
        loss: tensor.
        x: tensor or variable that `K.gradients(loss, x)` differentiates by.

    Returns:
        String that begins with "The gradient is None because", "The gradient is zero everywhere
        because" or "The gradient is not None:".

    Example:
        >>> w = K.variable([1., 2.], name="w")
        >>> print(K.explain_gradient(K.sum(K.stop_gradient(w)), w))  # doctest: +ELLIPSIS
        The gradient is None because stop_gradient has no gradient (node "...", between the loss
        and variable "w"): that is what it is for. Leave it out where the gradient is wanted.
    """
    for name, value in (("loss", loss), ("x", x)):
        if not _hg.is_tensor(value):
            raise wrong(f"explain_gradient: {name}", "a tensor", value)
    return _hg.explain_gradient(loss, x)
